#pragma once

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

// How the tests of this layer judge tensors.

namespace radir::testing {

/// Largest p-value-free distance: D sqrt(n) of the Kolmogorov-Smirnov test
/// exceeds 2.7 with probability 1e-6.
inline constexpr double kKolmogorovLimit = 2.7;

/// Monte Carlo means may be off by this many standard errors.
inline constexpr double kStandardErrors = 5;

/// A scalar in double.
torch::Tensor number(double x);

/// |got - want| <= relative * |want| + absolute for every element; shapes must
/// agree.
void expect_close(const torch::Tensor& got, const torch::Tensor& want,
                  double relative, double absolute, const std::string& what);

/// `values`, probabilities P(X <= x_i) of independent draws, are uniform.
void expect_uniform(const torch::Tensor& values, const std::string& what);

/// The mean of `values` over the first dimension agrees with `want` to
/// kStandardErrors of that mean.
void expect_mean(const torch::Tensor& values, const torch::Tensor& want,
                 const std::string& what);

/// Gradients of sum(weights * function(inputs)) agree with central differences
/// to 1e-6 (the weights are arbitrary constants, so that no sign is lost).
/// Inputs are double.
void expect_gradients(
    const std::function<torch::Tensor(const std::vector<torch::Tensor>&)>&
        function,
    const std::vector<torch::Tensor>& inputs, const std::string& what);

}  // namespace radir::testing
