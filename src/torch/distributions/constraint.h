#pragma once

#include <torch/types.h>

#include <limits>

namespace radir::distributions::detail {

/// What every element of a tensor must satisfy. `text` completes "must be ...",
/// `advice` the message after the value found.
struct Constraint {
  const char* text;
  bool (*holds)(double value);
  const char* advice = "";
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline constexpr Constraint kFinite{
    "finite", [](double x) { return x > -kInfinity && x < kInfinity; }};
inline constexpr Constraint kPositive{
    "finite and > 0", [](double x) { return x > 0 && x < kInfinity; }};
inline constexpr Constraint kNonNegative{
    "finite and >= 0", [](double x) { return x >= 0 && x < kInfinity; }};
inline constexpr Constraint kProbability{
    "> 0 and < 1", [](double x) { return x > 0 && x < 1; }};
inline constexpr Constraint kPositiveParameter{
    kPositive.text, kPositive.holds,
    "; if it is a raw parameter, pass it through softplus first"};
inline constexpr Constraint kNonNegativeParameter{
    kNonNegative.text, kNonNegative.holds,
    "; if it is a raw parameter, pass it through softplus first"};

/// Throws ArgumentError unless `tensor` is defined, dense, float or double, and
/// UnsupportedError unless it is on the CPU. `where` opens the message.
void check_tensor(const char* where, const char* name,
                  const torch::Tensor& tensor);

/// Throws ArgumentError unless both tensors have one dtype.
void check_same_dtype(const char* where, const char* name,
                      const torch::Tensor& tensor, torch::Dtype expected);

/// Throws DomainError naming the first element that breaks the constraint.
void check_elements(const char* where, const char* name,
                    const torch::Tensor& tensor, const Constraint& constraint);

/// Throws DomainError naming the first row along the last dimension whose
/// Euclidean norm is not 1.
void check_unit_rows(const char* where, const char* name,
                     const torch::Tensor& tensor);

/// The shape two shapes broadcast to; throws ArgumentError if they do not.
std::vector<std::int64_t> broadcast_shape(const char* where,
                                          torch::IntArrayRef a,
                                          torch::IntArrayRef b);

}  // namespace radir::distributions::detail
