#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace radir {

/// Base of everything this library throws. The command line turns each kind
/// into an exit code of its own.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A shape, dtype, device, option or flag that cannot be used.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A value outside the mathematical domain of a function.
class DomainError : public Error {
 public:
  using Error::Error;
};

/// No convergence, or a loss that is not finite.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// A file that is missing, corrupt, or of the wrong version.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A combination that exists but is not supported, such as a KL divergence
/// with no closed form.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// Joins the parts of a message and throws it; kept out of line so that the
/// check itself costs one branch.
template <typename Exception, typename... Parts>
[[noreturn]] __attribute__((noinline, cold)) void throw_error(
    const Parts&... parts) {
  std::ostringstream text;
  text.precision(9);
  (text << ... << parts);
  throw Exception(text.str());
}

}  // namespace detail
}  // namespace radir

/// Throws `Type` with the parts joined into one message when `condition` does
/// not hold. A message says where, what was found, what was needed and what to
/// do.
#define RADIR_CHECK(condition, Type, ...)                       \
  do {                                                          \
    if (!(condition)) {                                         \
      ::radir::detail::throw_error<::radir::Type>(__VA_ARGS__); \
    }                                                           \
  } while (false)

/// For invariants that no input can break: a failure is a bug of ours.
#define RADIR_ASSERT(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::radir::detail::throw_error<::radir::Error>(                        \
          "internal error at ", __FILE__, ":", __LINE__, ": ", #condition, \
          " does not hold; please report this");                           \
    }                                                                      \
  } while (false)
