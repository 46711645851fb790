#include "radir/posterior/weight_posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "posterior/posterior_arrays.h"
#include "radir/core/error.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "support/expect_error.h"

namespace radir::posterior {
namespace {

using network::WeightShape;

const WeightShape kDense{1, 40, 60, 1};
const WeightShape kConvolution{2, 6, 5, 9};

using Fixture = PosteriorArrays<double>;

RadialDirectionalOptions with(Grouping grouping) {
  RadialDirectionalOptions options;
  options.grouping = grouping;
  return options;
}

std::vector<Options> with_gain(double gain) {
  std::vector<Options> result;
  for (Grouping grouping :
       {Grouping::Row, Grouping::Column, Grouping::Double}) {
    RadialDirectionalOptions options = with(grouping);
    options.direction_gap = 1e-4;
    options.initial_gain = gain;
    result.emplace_back(options);
  }
  GaussianOptions gaussian;
  gaussian.initial_gain = gain;
  PointOptions point;
  point.initial_gain = gain;
  GroupLassoOptions lasso;
  lasso.initial_gain = gain;
  result.insert(result.end(), {gaussian, point, lasso});
  return result;
}

TEST(WeightPosterior, StartsWithWeightsOfTheGivenGain) {
  for (const WeightShape& shape : {kDense, kConvolution}) {
    for (const Options& options : with_gain(1.5)) {
      Fixture fixture(shape, options);
      const auto size = static_cast<std::size_t>(shape.size());
      std::vector<double> mean(size), variance(size);
      fixture.posterior.moments(fixture.inputs, mean.data(), variance.data());
      double square = 0;
      for (std::size_t i = 0; i < size; ++i) {
        square += (mean[i] * mean[i] + variance[i]) / static_cast<double>(size);
      }
      const double wanted = 1.5 / static_cast<double>(shape.row_length());
      // 2,400 or 540 weights: a relative standard error of at most 10 %.
      EXPECT_NEAR(square / wanted, 1, 0.25) << fixture.posterior.describe();
    }
  }
}

TEST(WeightPosterior, AGroupOfLengthOneTakesTheOtherGroupingAndSaysSo) {
  const WeightPosterior<float> output({1, 1, 50, 1}, with(Grouping::Double));
  EXPECT_EQ(output.options().get<RadialDirectionalOptions>().grouping,
            Grouping::Row);
  EXPECT_NE(
      output.describe().find("asked for double, but columns have length 1"),
      std::string::npos)
      << output.describe();
  const WeightPosterior<float> input({1, 50, 1, 1}, with(Grouping::Row));
  EXPECT_EQ(input.options().get<RadialDirectionalOptions>().grouping,
            Grouping::Column);
  const WeightPosterior<float> scalar({1, 1, 1, 1}, with(Grouping::Row));
  EXPECT_NE(scalar.options().get_if<GaussianOptions>(), nullptr);
  EXPECT_NE(scalar.describe().find("rows and columns have length 1"),
            std::string::npos)
      << scalar.describe();
}

TEST(WeightPosterior, RefusesImpossibleShapesAndOptions) {
  EXPECT_THROW(WeightPosterior<float>({1, 0, 5, 1}, Options()), ArgumentError);
  RadialDirectionalOptions options;
  options.local_scale = -1;
  testing::expect_error<ArgumentError>(
      [&] { WeightPosterior<float>(kDense, options); },
      "radial-directional posterior: local_scale must be > 0, but is -1");
  options = {};
  options.direction_gap = 1.5;
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
  options = {};
  options.prior_concentration = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
  options = {};
  options.initial_gain = 0;
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
}

const KeptUnits kKept{{0, 3, 4, 17, 39}, {1, 2, 30, 31, 32, 59}};

TEST(WeightPosterior, RestrictionKeepsTheVariances) {
  RadialDirectionalOptions options = with(Grouping::Row);
  options.concentration_per_group = true;
  options.direction_gap = 0.02;
  Fixture whole(kDense, options);
  Fixture part({1, 5, 6, 1}, options);
  whole.posterior.restrict_to(kKept, whole.inputs, part.posterior,
                              part.mutable_inputs);
  std::vector<double> variance(2400), part_variance(30);
  whole.posterior.moments(whole.inputs, nullptr, variance.data());
  part.posterior.moments(part.inputs, nullptr, part_variance.data());
  double sum = 0, part_sum = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    sum += variance[static_cast<std::size_t>(kKept.rows[i / 6] * 60 +
                                             kKept.columns[i % 6])];
    part_sum += part_variance[i];
  }
  // Across the direction they are equal; along it, one dimension in six here,
  // the restricted distribution is narrower.
  EXPECT_LT(part_sum, sum);
  EXPECT_GT(part_sum, 0.75 * sum);
}

TEST(WeightPosterior, ScoresAreLogModesOfRadii) {
  Fixture fixture(kDense, with(Grouping::Double));
  fixture.disturb();
  const UnitScores scores = fixture.posterior.unit_scores(fixture.inputs);
  ASSERT_EQ(scores.rows.size(), 40u);
  ASSERT_EQ(scores.columns.size(), 60u);
  // Blocks of the row side: direction, concentration, four local factor
  // arrays, four global ones.
  const auto value = [&](std::size_t block, std::size_t i) {
    return fixture.values[block][i];
  };
  const double by_hand =
      (value(2, 5) + value(4, 5) + value(6, 0) + value(8, 0)) / 2 -
      (std::exp(value(3, 5)) + std::exp(value(5, 5)) + std::exp(value(7, 0)) +
       std::exp(value(9, 0))) /
          4;
  EXPECT_NEAR(scores.rows[5], by_hand, 1e-12);

  Fixture row(kDense, with(Grouping::Row));
  EXPECT_TRUE(row.posterior.unit_scores(row.inputs).columns.empty());
}

TEST(WeightPosterior, GaussianScoresAreLogsOfRootMeanSquares) {
  Fixture fixture({1, 2, 2, 1}, GaussianOptions{});
  fixture.values[0] = {3, 4, 0, 1};
  const UnitScores scores = fixture.posterior.unit_scores(fixture.inputs);
  EXPECT_NEAR(scores.rows[0], std::log(std::sqrt(12.5)), 1e-14);
  EXPECT_NEAR(scores.columns[0], std::log(std::sqrt(4.5)), 1e-14);
}

TEST(WeightPosterior, RefusesAnImpossibleRestriction) {
  Fixture whole(kDense, with(Grouping::Double));
  Fixture other_shape({1, 5, 7, 1}, with(Grouping::Double));
  testing::expect_error<ArgumentError>(
      [&] {
        whole.posterior.restrict_to(kKept, whole.inputs, other_shape.posterior,
                                    other_shape.mutable_inputs);
      },
      "the target has 5 rows and 7 columns, but 5 and 6 are kept");
  Fixture other_grouping({1, 5, 6, 1}, with(Grouping::Row));
  testing::expect_error<ArgumentError>(
      [&] {
        whole.posterior.restrict_to(kKept, whole.inputs,
                                    other_grouping.posterior,
                                    other_grouping.mutable_inputs);
      },
      "row grouping");
  Fixture grouped(kConvolution, with(Grouping::Double));
  testing::expect_error<ArgumentError>(
      [&] {
        grouped.posterior.restrict_to({{0, 1}, {0, 1}}, grouped.inputs,
                                      grouped.posterior,
                                      grouped.mutable_inputs);
      },
      "a weight of 2 groups");
}

}  // namespace
}  // namespace radir::posterior
