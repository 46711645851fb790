#include "radir/posterior/matrix_gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "posterior/posterior_arrays.h"
#include "radir/core/error.h"
#include "radir/network/weight_shape.h"
#include "support/expect_error.h"

namespace radir::posterior {
namespace {

using ::radir::testing::expect_error;

// Three outputs, two inputs, prior variance 1.
TEST(MatrixGaussian, HasTheDivergenceOfIndependentNormals) {
  MatrixGaussianOptions options;
  options.pseudo_data = 0;
  options.learn_prior = false;
  options.prior_gain = 2;
  PosteriorArrays<double> arrays({1, 3, 2, 1}, options);
  arrays.values[0] = {0.1, 0.4, -0.2, 0, 0.3, -0.5};
  arrays.values[1] = {std::log(0.2), 0, std::log(2)};
  arrays.values[2] = {std::log(0.5), 0};
  arrays.bind();
  EXPECT_NEAR(arrays.posterior.kl(arrays.inputs), 4.337023005428146, 1e-14);
}

// One output, column variances (.25, 1), the pseudo-datum W (1, 2)' = .7.
TEST(MatrixGaussian, PassesThroughThePseudoData) {
  MatrixGaussianOptions options;
  options.pseudo_data = 1;
  PosteriorArrays<double> arrays({1, 1, 2, 1}, options);
  arrays.values[0] = {0.1, -0.3};
  arrays.values[1] = {0};
  arrays.values[2] = {std::log(0.5), 0};
  arrays.values[3] = {1, 2};
  arrays.values[4] = {0.7};
  arrays.values[5] = arrays.values[6] = {-40};  // no noise
  arrays.bind();
  std::vector<double> mean(2), variance(2);
  arrays.posterior.moments(arrays.inputs, mean.data(), variance.data());
  EXPECT_NEAR(mean[0], 0.170588235294118, 3e-6);
  EXPECT_NEAR(mean[0] / 2 + mean[1], 0.35, 3e-6);
  EXPECT_NEAR(variance[0], 0.235294117647059, 3e-6);
  for (std::uint64_t s = 0; s < 5; ++s) {
    const std::vector<double> draw = arrays.draw(s);
    EXPECT_NEAR(draw[0] + 2 * draw[1], 0.7, 2e-5);
  }
}

/// The expectation of sum_i w_i^2 / 2 + a_i w_i over draws, from the moments.
double expected_loss(PosteriorArrays<double>& arrays) {
  const auto size = static_cast<std::size_t>(arrays.posterior.shape().size());
  std::vector<double> mean(size), variance(size);
  arrays.posterior.moments(arrays.inputs, mean.data(), variance.data());
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += (mean[i] * mean[i] + variance[i]) / 2 +
           static_cast<double>(i % 3) * mean[i];
  }
  return sum;
}

TEST(MatrixGaussian, TheMeanOfTheGradientIsThatOfTheExpectedLoss) {
  MatrixGaussianOptions options;
  options.pseudo_data = 2;
  options.pseudo_noise = 1e-3;
  PosteriorArrays<double> arrays({1, 3, 5, 1}, options);
  arrays.disturb();
  constexpr int kDraws = 40000;
  std::vector<std::vector<double>> mean, squares;
  for (const auto& block : arrays.values) {
    mean.emplace_back(block.size());
    squares.emplace_back(block.size());
  }
  for (int s = 0; s < kDraws; ++s) {
    for (auto& gradient : arrays.gradients) {
      std::fill(gradient.begin(), gradient.end(), 0.0);
    }
    const auto weight = arrays.draw(static_cast<std::uint64_t>(s));
    std::vector<double> by_weight(weight.size());
    for (std::size_t i = 0; i < weight.size(); ++i) {
      by_weight[i] = weight[i] + static_cast<double>(i % 3);
    }
    arrays.posterior.backward(arrays.inputs, weight.data(), by_weight.data(),
                              arrays.outputs);
    for (std::size_t b = 0; b < mean.size(); ++b) {
      for (std::size_t i = 0; i < mean[b].size(); ++i) {
        const double value = arrays.gradients[b][i];
        mean[b][i] += value / kDraws;
        squares[b][i] += value * value / kDraws;
      }
    }
  }
  for (std::size_t b = 0; b < mean.size(); ++b) {
    for (std::size_t i = 0; i < mean[b].size(); ++i) {
      constexpr double kStep = 1e-5;
      const double x = arrays.values[b][i];
      arrays.values[b][i] = x + kStep;
      const double above = expected_loss(arrays);
      arrays.values[b][i] = x - kStep;
      const double slope = (above - expected_loss(arrays)) / (2 * kStep);
      arrays.values[b][i] = x;
      const double error =
          std::sqrt((squares[b][i] - mean[b][i] * mean[b][i]) / kDraws);
      // The moments have the pseudo-data's noise to first order: what is left
      // is of the order of its variance.
      EXPECT_NEAR(mean[b][i], slope, 5 * error + 5e-3 * std::abs(slope) + 1e-3)
          << arrays.posterior.parameter_blocks()[b].name << "[" << i << "]";
    }
  }
}

TEST(MatrixGaussian, RejectsDependentPseudoDataAndImpossibleOptions) {
  MatrixGaussianOptions options;
  options.pseudo_noise = 1;
  expect_error<ArgumentError>(
      [&] {
        WeightPosterior<float>({1, 2, 2, 1}, options);
      },
      "pseudo_noise");
  options = {};
  options.pseudo_data = -1;
  expect_error<ArgumentError>(
      [&] {
        WeightPosterior<float>({1, 2, 2, 1}, options);
      },
      "pseudo_data");
  options.pseudo_data = 2;
  PosteriorArrays<double> arrays({1, 2, 3, 1}, options);
  std::fill(arrays.values[3].begin(), arrays.values[3].end(), 0.0);
  expect_error<NumericalError>([&] { arrays.draw(0); },
                               "pseudo-data: number 1 of 2");
}

}  // namespace
}  // namespace radir::posterior
