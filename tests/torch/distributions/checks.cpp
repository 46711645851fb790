#include "torch/distributions/checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace radir::testing {
namespace {

using Tensors = std::vector<torch::Tensor>;
using Function = std::function<torch::Tensor(const Tensors&)>;

torch::Tensor flat_doubles(const torch::Tensor& x) {
  return x.detach().to(torch::kDouble).contiguous().flatten();
}

double weighted_sum(const Function& function, const Tensors& inputs) {
  const torch::Tensor y = flat_doubles(function(inputs));
  double sum = 0;
  for (int64_t i = 0; i < y.numel(); ++i) {
    sum += std::cos(1.0 + static_cast<double>(i)) * y.data_ptr<double>()[i];
  }
  return sum;
}

/// Derivative with respect to one element by central differences with one step
/// of Richardson's extrapolation.
double numerical_derivative(const Function& function, Tensors inputs,
                            std::size_t input, int64_t element) {
  const auto shifted = [&](double shift) {
    Tensors moved = inputs;
    moved[input] = inputs[input].contiguous().clone();
    moved[input].data_ptr<double>()[element] += shift;
    return weighted_sum(function, moved);
  };
  const double x = inputs[input].contiguous().data_ptr<double>()[element];
  const double h = 1e-3 * std::max(std::fabs(x), 1e-4);
  const double wide = (shifted(h) - shifted(-h)) / (2 * h);
  const double narrow = (shifted(h / 2) - shifted(-h / 2)) / h;
  return (4 * narrow - wide) / 3;
}

}  // namespace

torch::Tensor number(double x) { return torch::tensor(x, torch::kDouble); }

void expect_close(const torch::Tensor& got, const torch::Tensor& want,
                  double relative, double absolute, const std::string& what) {
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  const torch::Tensor a = flat_doubles(got), b = flat_doubles(want);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    if (x == y) continue;  // infinities agree
    EXPECT_LE(std::fabs(x - y), relative * std::fabs(y) + absolute)
        << what << ": got " << x << ", want " << y << " at element " << i;
  }
}

void expect_uniform(const torch::Tensor& values, const std::string& what) {
  const torch::Tensor u = std::get<0>(flat_doubles(values).sort());
  const double n = static_cast<double>(u.numel());
  double distance = 0;
  for (int64_t i = 0; i < u.numel(); ++i) {
    const double x = u.data_ptr<double>()[i];
    ASSERT_TRUE(x >= 0 && x <= 1) << what << ": probability " << x;
    const double rank = static_cast<double>(i);
    distance = std::max({distance, x - rank / n, (rank + 1) / n - x});
  }
  EXPECT_GT(n, 100) << what;
  EXPECT_LT(distance * std::sqrt(n), kKolmogorovLimit) << what;
}

void expect_mean(const torch::Tensor& values, const torch::Tensor& want,
                 const std::string& what) {
  const torch::Tensor x = values.detach().to(torch::kDouble);
  const torch::Tensor mean = x.mean(0).contiguous();
  const torch::Tensor error =
      (x.std(0) / std::sqrt(static_cast<double>(x.size(0)))).contiguous();
  const torch::Tensor target = want.detach().to(torch::kDouble).contiguous();
  ASSERT_EQ(mean.sizes(), target.sizes()) << what;
  for (int64_t i = 0; i < mean.numel(); ++i) {
    const double got = mean.data_ptr<double>()[i];
    const double expected = target.data_ptr<double>()[i];
    const double standard_error = error.data_ptr<double>()[i];
    // Draws that do not vary leave rounding alone.
    const double allowed =
        kStandardErrors * standard_error + 1e-12 * std::fabs(expected) + 1e-12;
    EXPECT_LE(std::fabs(got - expected), allowed)
        << what << ": mean " << got << ", expected " << expected
        << ", standard error " << standard_error << " at element " << i;
  }
}

void expect_gradients(const Function& function, const Tensors& inputs,
                      const std::string& what) {
  Tensors leaves;
  for (const torch::Tensor& x : inputs) {
    leaves.push_back(x.detach().clone().requires_grad_(true));
  }
  const torch::Tensor y = function(leaves).flatten();
  const torch::Tensor weights =
      torch::cos(1 + torch::arange(y.numel(), torch::kDouble));
  const Tensors gradients = torch::autograd::grad(
      {(weights * y).sum()}, leaves, /*grad_outputs=*/{},
      /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const torch::Tensor gradient =
        gradients[k].defined()
            ? flat_doubles(gradients[k])
            : torch::zeros(inputs[k].numel(), torch::kDouble);
    for (int64_t i = 0; i < inputs[k].numel(); ++i) {
      const double want = numerical_derivative(function, inputs, k, i);
      const double got = gradient.data_ptr<double>()[i];
      EXPECT_NEAR(got, want, 1e-6 * std::max(1.0, std::fabs(want)))
          << what << ": input " << k << ", element " << i;
    }
  }
}

}  // namespace radir::testing
