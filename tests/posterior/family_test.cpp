#include "radir/posterior/family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "posterior/posterior_arrays.h"
#include "radir/core/error.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "support/expect_error.h"
#include "support/laplace_family.h"

namespace radir::posterior {
namespace {

using testing::expect_error;
using testing::LaplaceOptions;

TEST(Options, HoldTheOptionsOfOneFamily) {
  EXPECT_NE(Options().get_if<RadialDirectionalOptions>(), nullptr);
  Options options = GaussianOptions{};
  options.get<GaussianOptions>().prior_scale = 0.25;
  const Options copy = options;
  EXPECT_EQ(copy.get<GaussianOptions>().prior_scale, 0.25);
  EXPECT_STREQ(copy.family().name(), "gaussian");
  EXPECT_TRUE(copy.same_family(options));
  EXPECT_FALSE(copy.same_family(Options()));
  EXPECT_EQ(copy.get_if<PointOptions>(), nullptr);
  expect_error<ArgumentError>(
      [&] { copy.get<PointOptions>(); },
      "these are options of the family gaussian, not of point");
}

TEST(Options, NameTheFirstThatMakesNoSense) {
  GroupLassoOptions options;
  options.strength = -1;
  expect_error<ArgumentError>([&] { check(options); },
                              "group-lasso posterior: strength must be >= 0");
}

TEST(Options, ThatDoNotFitEachOtherAreExplained) {
  RadialDirectionalOptions options;
  options.learn_prior = true;
  expect_error<ArgumentError>(
      [&] { check(options); },
      "learn_prior does not fit direction_prior location-agnostic: that prior "
      "follows the mean direction of the posterior, so nothing limits the "
      "concentration and it grows without end; choose");
  options.direction_prior = DirectionPrior::MeanDirection;
  check(options);
  options.prior_concentration = 0;
  expect_error<ArgumentError>([&] { check(options); },
                              "cannot start at prior_concentration 0");
  options.direction_prior = DirectionPrior::Uniform;
  check(options);
}

TEST(Families, AreFoundByName) {
  EXPECT_EQ(&find_family("point"), &family_of(PointOptions{}));
  expect_error<UnsupportedError>(
      [] { find_family("gausian"); },
      "there is no posterior family \"gausian\"; those known are "
      "radial-directional, gaussian, point, group-lasso");
}

TEST(Families, AcceptMore) {
  const Family& laplace = family_of(LaplaceOptions{});
  register_family(laplace);
  register_family(laplace);  // once more changes nothing
  const auto known = families();
  EXPECT_EQ(std::count(known.begin(), known.end(), &laplace), 1);
  EXPECT_EQ(&find_family("laplace"), &laplace);
}

TEST(Families, SayWhereTheyCannotDrawNoise) {
  PosteriorArrays<double> arrays({1, 2, 2, 1}, LaplaceOptions{});
  const std::vector<double> gradient(4);
  expect_error<UnsupportedError>(
      [&] {
        arrays.posterior.moments_backward(arrays.inputs, gradient.data(),
                                          gradient.data(), arrays.outputs);
      },
      "the family laplace draws no noise in activations");
}

TEST(LaplaceFamily, KlIsItsIntegral) {
  for (double loc : {0.0, 0.3, -2.0}) {
    const double scale = 0.4, prior_scale = 0.9;
    const auto integrand = [&](double w) {
      const double log_q = -std::log(2 * scale) - std::abs(w - loc) / scale;
      const double log_p =
          -std::log(2 * prior_scale) - std::abs(w) / prior_scale;
      return std::exp(log_q) * (log_q - log_p);
    };
    // The trapezium rule with the two kinks, 0 and loc, on its grid.
    constexpr double kWidth = 1e-3;
    double sum = 0;
    for (int i = -30000; i <= 30000; ++i) sum += integrand(i * kWidth) * kWidth;
    EXPECT_NEAR(testing::laplace_kl(loc, scale, prior_scale), sum, 1e-5);
  }
}

TEST(GroupLasso, PenaltyAndStepAreThoseOfTheFormulas) {
  GroupLassoOptions options;
  options.grouping = Grouping::Row;
  options.strength = 1 / std::sqrt(2.0);  // 1 per norm of two weights
  PosteriorArrays<double> arrays({1, 2, 2, 1}, options);
  arrays.values[0] = {3, 4, 0.3, -0.4};
  EXPECT_NEAR(arrays.posterior.kl(arrays.inputs), 5.5, 1e-14);
  arrays.posterior.after_step(1, arrays.mutable_inputs);
  EXPECT_NEAR(arrays.values[0][0], 2.4, 1e-14);
  EXPECT_NEAR(arrays.values[0][1], 3.2, 1e-14);
  EXPECT_EQ(arrays.values[0][2], 0);
  EXPECT_EQ(arrays.values[0][3], 0);
}

TEST(GroupLasso, ColumnsOfGroupedConvolutionsAreTheirOwn) {
  GroupLassoOptions options;
  options.grouping = Grouping::Column;
  PosteriorArrays<double> arrays({2, 1, 2, 1}, options);
  arrays.values[0] = {1, -2, 3, -4};
  EXPECT_NEAR(arrays.posterior.kl(arrays.inputs), 10, 1e-14);
}

}  // namespace
}  // namespace radir::posterior
