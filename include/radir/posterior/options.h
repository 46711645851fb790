#pragma once

#include <any>
#include <type_traits>
#include <utility>

namespace radir::posterior {

class Family;

/// How a weight tensor is distributed, before and after seeing data: the
/// options of one family, whichever it is.
///
///   Options options = GaussianOptions{};
///   options.get<GaussianOptions>().prior_scale = 0.5;
///
/// A family's options are a struct F with two functions beside it, which are
/// found through its namespace: `describe(SettingsVisitor&, F&)` lists its
/// fields (radir/core/settings.h), `const Family& family_of(const F&)` names
/// its family (family.h).
class Options {
 public:
  /// The radial-directional family with its default options.
  Options();

  template <typename F, typename = std::enable_if_t<
                            !std::is_same_v<std::decay_t<F>, Options>>>
  // A family's options are options: the conversion is meant.
  Options(F&& options)  // NOLINT(google-explicit-constructor)
      : family_(&family_of(options)), value_(std::forward<F>(options)) {}

  const Family& family() const { return *family_; }
  bool same_family(const Options& other) const {
    return family_ == other.family_;
  }

  /// The options of family F. Throws ArgumentError when these are another's.
  template <typename F>
  F& get() {
    F* const options = get_if<F>();
    if (options == nullptr) report_other_family(family_of(F{}));
    return *options;
  }
  template <typename F>
  const F& get() const {
    const F* const options = get_if<F>();
    if (options == nullptr) report_other_family(family_of(F{}));
    return *options;
  }

  /// Null when these are the options of another family.
  template <typename F>
  F* get_if() {
    return std::any_cast<F>(&value_);
  }
  template <typename F>
  const F* get_if() const {
    return std::any_cast<F>(&value_);
  }

 private:
  [[noreturn]] void report_other_family(const Family& wanted) const;

  const Family* family_;
  std::any value_;
};

/// Throws ArgumentError that names the first option that makes no sense.
void check(const Options& options);

}  // namespace radir::posterior
