#include "radir/posterior/weight_posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "support/expect_error.h"

namespace radir::posterior {
namespace {

using network::WeightShape;

const WeightShape kDense{1, 40, 60, 1};
const WeightShape kConvolution{2, 6, 5, 9};

/// A posterior with arrays of its own, started from seed 7.
struct Fixture {
  Fixture(const WeightShape& shape, const Options& options)
      : posterior(shape, options) {
    for (const ParameterBlock& block : posterior.parameter_blocks()) {
      values.emplace_back(static_cast<std::size_t>(block.size));
      gradients.emplace_back(static_cast<std::size_t>(block.size), 0.0);
    }
    for (auto& array : values) {
      inputs.push_back(array.data());
      mutable_inputs.push_back(array.data());
    }
    for (auto& array : gradients) outputs.push_back(array.data());
    posterior.initialize({7, 0, 0}, mutable_inputs);
  }

  WeightPosterior<double> posterior;
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> gradients;
  Arrays<const double> inputs;
  Arrays<double> mutable_inputs;
  Arrays<double> outputs;
};

Options with(Grouping grouping) {
  Options options;
  options.grouping = grouping;
  return options;
}

std::vector<Options> families() {
  Options gaussian;
  gaussian.family = Family::Gaussian;
  Options agnostic = with(Grouping::Double);
  agnostic.learn_prior = true;
  Options mean_direction = with(Grouping::Row);
  mean_direction.direction_prior = DirectionPrior::MeanDirection;
  mean_direction.concentration_per_group = true;
  Options uniform = with(Grouping::Column);
  uniform.direction_prior = DirectionPrior::Uniform;
  uniform.learn_prior = true;
  uniform.global_scale.reset();
  return {gaussian, agnostic, mean_direction, uniform};
}

TEST(WeightPosterior, StartsWithWeightsOfTheGivenGain) {
  for (const WeightShape& shape : {kDense, kConvolution}) {
    for (Options options : families()) {
      options.initial_gain = 1.5;
      options.direction_gap = 1e-4;
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

TEST(WeightPosterior, KlGradientIsItsFiniteDifferenceInEveryParameter) {
  for (const Options& options : families()) {
    Fixture fixture(kConvolution, options);
    // Off the start, where some gradients vanish.
    for (std::size_t b = 0; b < fixture.values.size(); ++b) {
      const ParameterBlock& block = fixture.posterior.parameter_blocks()[b];
      for (std::size_t i = 0; i < fixture.values[b].size(); ++i) {
        if (block.trainable) {
          fixture.values[b][i] += 0.1 * std::sin(3.0 * static_cast<double>(i));
        }
      }
    }
    EXPECT_GE(fixture.posterior.kl(fixture.inputs), 0);
    fixture.posterior.kl_backward(fixture.inputs, 2.0, fixture.outputs);
    for (std::size_t b = 0; b < fixture.values.size(); ++b) {
      const ParameterBlock& block = fixture.posterior.parameter_blocks()[b];
      for (std::size_t i = 0; i < fixture.values[b].size();
           i += 1 + fixture.values[b].size() / 5) {
        if (!block.trainable) {
          EXPECT_EQ(fixture.gradients[b][i], 0) << block.name;
          continue;
        }
        double& x = fixture.values[b][i];
        const double h = 1e-5;
        const double x0 = x;
        x = x0 + h;
        const double above = fixture.posterior.kl(fixture.inputs);
        x = x0 - h;
        const double below = fixture.posterior.kl(fixture.inputs);
        x = x0;
        const double difference = 2.0 * (above - below) / (2 * h);
        EXPECT_NEAR(fixture.gradients[b][i], difference,
                    1e-5 * std::max(1.0, std::fabs(difference)))
            << options.learn_prior << " " << block.name << "[" << i << "]";
      }
    }
  }
}

TEST(WeightPosterior, DrawsHaveTheMomentsItClaims) {
  for (const Options& options : families()) {
    Options wide = options;
    wide.direction_gap = 0.3;
    wide.initial_noise = 0.5;
    Fixture fixture({1, 3, 4, 1}, wide);
    std::vector<double> mean(12), variance(12), draw(12);
    fixture.posterior.moments(fixture.inputs, mean.data(), variance.data());
    std::vector<double> sum(12, 0), squares(12, 0);
    constexpr int kDraws = 40000;
    for (int s = 0; s < kDraws; ++s) {
      fixture.posterior.sample(
          fixture.inputs, {3, 0, static_cast<std::uint64_t>(s)}, draw.data());
      for (std::size_t i = 0; i < 12; ++i) {
        sum[i] += draw[i] / kDraws;
        squares[i] += draw[i] * draw[i] / kDraws;
      }
    }
    for (std::size_t i = 0; i < 12; ++i) {
      const double deviation = std::sqrt(variance[i]);
      EXPECT_NEAR(sum[i], mean[i], 5 * deviation / std::sqrt(kDraws))
          << fixture.posterior.describe();
      EXPECT_NEAR((squares[i] - sum[i] * sum[i]) / variance[i], 1, 0.15)
          << fixture.posterior.describe();
    }
  }
}

TEST(WeightPosterior, AGroupOfLengthOneTakesTheOtherGroupingAndSaysSo) {
  const WeightPosterior<float> output({1, 1, 50, 1}, with(Grouping::Double));
  EXPECT_EQ(output.options().grouping, Grouping::Row);
  EXPECT_NE(
      output.describe().find("asked for double, but columns have length 1"),
      std::string::npos)
      << output.describe();
  const WeightPosterior<float> input({1, 50, 1, 1}, with(Grouping::Row));
  EXPECT_EQ(input.options().grouping, Grouping::Column);
  const WeightPosterior<float> scalar({1, 1, 1, 1}, with(Grouping::Row));
  EXPECT_EQ(scalar.options().family, Family::Gaussian);
  EXPECT_NE(scalar.describe().find("rows and columns have length 1"),
            std::string::npos)
      << scalar.describe();
}

TEST(WeightPosterior, RefusesImpossibleShapesAndOptions) {
  EXPECT_THROW(WeightPosterior<float>({1, 0, 5, 1}, Options()), ArgumentError);
  Options options;
  options.local_scale = -1;
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
  options = Options();
  options.direction_gap = 1.5;
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
  options = Options();
  options.prior_concentration = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
  options = Options();
  options.initial_gain = 0;
  EXPECT_THROW(WeightPosterior<float>(kDense, options), ArgumentError);
}

/// Parameters as after some training: nothing at its starting value.
void disturb(Fixture& fixture) {
  for (std::size_t b = 0; b < fixture.values.size(); ++b) {
    const ParameterBlock& block = fixture.posterior.parameter_blocks()[b];
    std::vector<double> noise(static_cast<std::size_t>(block.size));
    kernels::fill_normal({11, static_cast<std::uint32_t>(b), 0}, 0, block.size,
                         noise.data());
    for (std::size_t i = 0; i < noise.size(); ++i) {
      fixture.values[b][i] += (block.weight_shaped() ? 0.03 : 0.5) * noise[i];
    }
  }
}

const KeptUnits kKept{{0, 3, 4, 17, 39}, {1, 2, 30, 31, 32, 59}};

TEST(WeightPosterior, RestrictionKeepsTheMeans) {
  const WeightShape convolution{1, 6, 5, 9};
  const KeptUnits channels{{1, 5}, {0, 2, 3}};
  for (const auto& [shape, kept] :
       {std::pair{kDense, kKept}, std::pair{convolution, channels}}) {
    for (const Options& options : families()) {
      Fixture whole(shape, options);
      disturb(whole);
      const WeightShape part_shape{
          1, static_cast<std::int64_t>(kept.rows.size()),
          static_cast<std::int64_t>(kept.columns.size()), shape.kernel};
      Fixture part(part_shape, options);
      whole.posterior.restrict_to(kept, whole.inputs, part.posterior,
                                  part.mutable_inputs);

      const auto size = static_cast<std::size_t>(shape.size());
      std::vector<double> mean(size);
      whole.posterior.moments(whole.inputs, mean.data(), nullptr);
      std::vector<double> part_mean(
          static_cast<std::size_t>(part_shape.size()));
      part.posterior.moments(part.inputs, part_mean.data(), nullptr);
      std::size_t i = 0;
      for (std::int64_t row : kept.rows) {
        for (std::int64_t column : kept.columns) {
          for (std::int64_t k = 0; k < shape.kernel; ++k, ++i) {
            const auto from = static_cast<std::size_t>(
                (row * shape.in + column) * shape.kernel + k);
            EXPECT_NEAR(part_mean[i], mean[from], 1e-12 * std::abs(mean[from]))
                << part.posterior.describe();
          }
        }
      }
    }
  }
}

TEST(WeightPosterior, RestrictionKeepsTheVariances) {
  Options options = with(Grouping::Row);
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
  // the restricted law is narrower.
  EXPECT_LT(part_sum, sum);
  EXPECT_GT(part_sum, 0.75 * sum);
}

TEST(WeightPosterior, ScoresAreLogModesOfRadii) {
  Fixture fixture(kDense, with(Grouping::Double));
  disturb(fixture);
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
  Options options;
  options.family = Family::Gaussian;
  Fixture fixture({1, 2, 2, 1}, options);
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
