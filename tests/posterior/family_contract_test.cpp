#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "posterior/posterior_arrays.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/dropout.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/matrix_gaussian.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "support/laplace_family.h"

// What every family of posteriors must do, run over all that are registered,
// with their default options and with some others.

namespace radir::posterior {
namespace {

using network::WeightShape;

const WeightShape kDense{1, 4, 5, 1};
const WeightShape kConvolution{2, 3, 4, 6};

struct Case {
  std::string name;
  Options options;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> other_options() {
  RadialDirectionalOptions row;
  row.grouping = Grouping::Row;
  row.direction_prior = DirectionPrior::MeanDirection;
  row.concentration_per_group = true;
  RadialDirectionalOptions column;
  column.grouping = Grouping::Column;
  column.direction_prior = DirectionPrior::Uniform;
  column.learn_prior = true;
  column.global_scale.reset();
  RadialDirectionalOptions learnt;
  learnt.learn_prior = true;
  learnt.direction_prior = DirectionPrior::MeanDirection;
  GaussianOptions gaussian;
  gaussian.learn_prior = true;
  gaussian.noise = GaussianOptions::Noise::Activations;
  PointOptions penalised;
  penalised.prior_scale = 0.7;
  GroupLassoOptions rows;
  rows.grouping = Grouping::Row;
  MatrixGaussianOptions independent;
  independent.pseudo_data = 0;
  independent.learn_prior = false;
  MatrixGaussianOptions noisy;
  noisy.pseudo_data = 2;
  noisy.pseudo_noise = 0.1;
  DropoutOptions dropout;
  dropout.rate = 0.4;
  dropout.prior_scale = 0.5;
  GroupNormalJeffreysOptions jeffreys;
  jeffreys.weights.grouping = Grouping::Row;
  jeffreys.initial_gate_noise = 0.5;
  GroupHorseshoeOptions horseshoe;
  horseshoe.weights.grouping = Grouping::Row;
  horseshoe.global_scale = 0.1;
  HardConcreteOptions gates;
  gates.weights.grouping = Grouping::Row;
  gates.price = 2;
  GeneralizedDropoutOptions soft;
  soft.temperature = 0.7;
  soft.beta_a = 0.5;
  StructuredPruningOptions noisy_gates;
  noisy_gates.initial_gate_noise = 0.9;
  return {{"normal-jeffreys-rows", jeffreys},
          {"horseshoe-rows", horseshoe},
          {"hard-concrete-rows", gates},
          {"generalized-dropout-soft", soft},
          {"structured-pruning-noisy", noisy_gates},
          {"rows", row},
          {"columns", column},
          {"learnt", learnt},
          {"gaussian-activations", gaussian},
          {"penalised", penalised},
          {"row-lasso", rows},
          {"dropout-penalised", dropout},
          {"matrix-gaussian-independent", independent},
          {"matrix-gaussian-noisy", noisy}};
}

std::vector<Case> cases() {
  register_family(family_of(testing::LaplaceOptions{}));
  std::vector<Case> result = other_options();
  for (const Family* family : families()) {
    result.push_back({family->name(), family->default_options()});
  }
  return result;
}

class FamilyContract : public ::testing::TestWithParam<Case> {
 protected:
  const Options& options() const { return GetParam().options; }
  PosteriorArrays<double> disturbed(const WeightShape& shape) const {
    PosteriorArrays<double> arrays(shape, options());
    arrays.disturb();
    arrays.posterior.after_step(0, arrays.mutable_inputs);
    return arrays;
  }
};

/// Whether all gradients are zero: the penalty is left to after_step().
bool has_no_gradient(const PosteriorArrays<double>& arrays) {
  for (const auto& block : arrays.gradients) {
    for (double value : block) {
      if (value != 0) return false;
    }
  }
  return true;
}

INSTANTIATE_TEST_SUITE_P(All, FamilyContract, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& one) {
                           std::string name = one.param.name;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

TEST_P(FamilyContract, SaysWhatItIs) {
  const Family& family = options().family();
  EXPECT_EQ(&find_family(family.name()), &family);
  EXPECT_NE(std::string(family.description()), "");
  EXPECT_TRUE(family.default_options().same_family(options()));
  const WeightPosterior<float> posterior(kDense, options());
  EXPECT_NE(posterior.describe(), "");
  std::set<std::string> names;
  std::int64_t count = 0;
  for (const ParameterBlock& block : posterior.parameter_blocks()) {
    EXPECT_TRUE(names.insert(block.name).second) << block.name;
    count += block.size;
  }
  EXPECT_EQ(posterior.parameter_count(), count);
}

/// Sees the values of all settings as text, or sets them from it.
class TextVisitor final : public SettingsVisitor {
 public:
  explicit TextVisitor(std::vector<std::string>& values, bool write = false)
      : values_(values), write_(write) {}

  void number(const Setting&, double& value) override { exchange(value); }
  void integer(const Setting&, std::int64_t& value) override {
    exchange(value);
  }
  void seed(const Setting&, std::uint64_t& value) override { exchange(value); }
  void flag(const Setting&, bool& value) override { exchange(value); }
  void text(const Setting&, std::string& value) override { exchange(value); }
  void integers(const Setting&, std::vector<std::int64_t>& value) override {
    for (std::int64_t& number : value) exchange(number);
  }
  void optional_number(const Setting&, std::optional<double>& value) override {
    exchange_optional(value);
  }
  void optional_integer(const Setting&,
                        std::optional<std::int64_t>& value) override {
    exchange_optional(value);
  }
  void choice_index(const Setting&, const std::vector<const char*>&,
                    std::size_t& index) override {
    exchange(index);
  }

 private:
  template <typename V>
  void exchange_optional(std::optional<V>& value) {
    V number = value.value_or(-1);
    exchange(number);
    value = number == -1 ? std::nullopt : std::optional(number);
  }

  template <typename V>
  void exchange(V& value) {
    if (write_) {
      std::istringstream(values_.at(next_++)) >> value;
    } else {
      std::ostringstream text;
      text.precision(17);
      text << value;
      values_.push_back(text.str());
    }
  }

  std::vector<std::string>& values_;
  bool write_;
  std::size_t next_ = 0;
};

TEST_P(FamilyContract, SettingsHoldEverything) {
  const Family& family = options().family();
  Options original = options();
  std::vector<std::string> values;
  TextVisitor reader(values);
  family.visit_settings(reader, original);
  ASSERT_FALSE(values.empty());
  Options copy = family.default_options();
  TextVisitor writer(values, true);
  family.visit_settings(writer, copy);
  check(copy);
  EXPECT_EQ(WeightPosterior<float>(kDense, copy).describe(),
            WeightPosterior<float>(kDense, options()).describe());
  // Started alike, they draw alike: nothing that matters is left out.
  PosteriorArrays<double> a(kConvolution, options());
  PosteriorArrays<double> b(kConvolution, copy);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.draw(3), b.draw(3));
  EXPECT_EQ(a.posterior.kl(a.inputs), b.posterior.kl(b.inputs));
}

TEST_P(FamilyContract, TheSameSeedGivesTheSameBits) {
  PosteriorArrays<float> a(kConvolution, options());
  PosteriorArrays<float> b(kConvolution, options());
  EXPECT_EQ(a.values, b.values);
  ThreadPool pool(3);
  const std::vector<float> draw = a.draw(5);
  EXPECT_EQ(draw, b.draw(5, &pool));
  if (a.posterior.noise() == Noise::None) {
    EXPECT_EQ(draw, a.draw(6));
  } else {
    EXPECT_NE(draw, a.draw(6));
  }
}

TEST_P(FamilyContract, KlIsNotNegativeAndHasItsGradient) {
  PosteriorArrays<double> arrays = disturbed(kConvolution);
  const auto kl = [&] { return arrays.posterior.kl(arrays.inputs); };
  EXPECT_GE(kl(), 0);
  arrays.posterior.kl_backward(arrays.inputs, 2.0, arrays.outputs);
  if (arrays.posterior.has_after_step() && has_no_gradient(arrays)) {
    return;  // the penalty is applied there
  }
  arrays.expect_gradient([&] { return 2 * kl(); });
}

TEST_P(FamilyContract, StepsAfterwardsReduceThePenalty) {
  PosteriorArrays<double> arrays = disturbed(kConvolution);
  const auto values = arrays.values;
  const double before = arrays.posterior.kl(arrays.inputs);
  arrays.posterior.kl_backward(arrays.inputs, 1, arrays.outputs);
  arrays.posterior.after_step(1e-3, arrays.mutable_inputs);
  if (arrays.posterior.has_after_step() && has_no_gradient(arrays)) {
    EXPECT_LT(arrays.posterior.kl(arrays.inputs), before);
    arrays.posterior.after_step(1e3, arrays.mutable_inputs);
    EXPECT_EQ(arrays.posterior.kl(arrays.inputs), 0);
  } else {
    EXPECT_EQ(arrays.values, values);
  }
}

TEST_P(FamilyContract, StepsAfterwardsLeaveNothingThatHasNoDivergence) {
  for (double far : {-100.0, 100.0}) {
    PosteriorArrays<double> arrays = disturbed(kConvolution);
    if (!arrays.posterior.has_after_step()) return;
    for (std::size_t b = 0; b < arrays.values.size(); ++b) {
      const ParameterBlock& block = arrays.posterior.parameter_blocks()[b];
      if (!block.weight_shaped()) arrays.values[b][0] = far;
    }
    arrays.posterior.after_step(1e-3, arrays.mutable_inputs);
    EXPECT_TRUE(std::isfinite(arrays.posterior.kl(arrays.inputs)));
    for (double weight : arrays.draw(2)) EXPECT_TRUE(std::isfinite(weight));
  }
}

TEST_P(FamilyContract, DrawsHaveTheirGradient) {
  PosteriorArrays<double> arrays = disturbed(kDense);
  const auto size = static_cast<std::size_t>(kDense.size());
  std::vector<double> by_weight(size);
  kernels::fill_normal({5, 0, 0}, 0, kDense.size(), by_weight.data());
  const auto loss = [&] {
    const std::vector<double> weight = arrays.draw(9);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += by_weight[i] * weight[i];
    return sum;
  };
  loss();
  const std::vector<double> weight = arrays.draw(9);
  arrays.posterior.backward(arrays.inputs, weight.data(), by_weight.data(),
                            arrays.outputs, 0);
  // The gradients by a direction and its concentration follow the distribution,
  // not the one draw; their averages are tested with the kernels.
  arrays.expect_gradient(loss, {"direction", "concentration"});
}

TEST_P(FamilyContract, DrawsHaveTheMomentsItClaims) {
  PosteriorArrays<double> arrays = disturbed(kDense);
  // The moments have the noise of pseudo-data to first order.
  for (std::size_t b = 0; b < arrays.values.size(); ++b) {
    const std::string& name = arrays.posterior.parameter_blocks()[b].name;
    if (name.find("noise_log_odds") == std::string::npos) continue;
    arrays.values[b][0] -= 9;
  }
  const auto size = static_cast<std::size_t>(kDense.size());
  std::vector<double> mean(size), variance(size);
  arrays.posterior.moments(arrays.inputs, mean.data(), variance.data());
  if (arrays.posterior.noise() == Noise::None) {
    EXPECT_EQ(arrays.draw(0), mean);
    EXPECT_EQ(variance, std::vector<double>(size, 0.0));
    return;
  }
  constexpr int kDraws = 20000;
  std::vector<double> first(size), second(size), fourth(size);
  for (int s = 0; s < kDraws; ++s) {
    const auto draw = arrays.draw(static_cast<std::uint64_t>(s));
    for (std::size_t i = 0; i < size; ++i) {
      const double square = (draw[i] - mean[i]) * (draw[i] - mean[i]);
      first[i] += draw[i] / kDraws;
      second[i] += square / kDraws;
      fourth[i] += square * square / kDraws;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NEAR(first[i], mean[i], 5 * std::sqrt(variance[i] / kDraws));
    const double error =
        std::sqrt((fourth[i] - second[i] * second[i]) / kDraws);
    EXPECT_NEAR(second[i], variance[i], 5 * error);
  }
}

TEST_P(FamilyContract, MomentsHaveTheirGradientWhereTheNoiseIsNotInWeights) {
  PosteriorArrays<double> arrays = disturbed(kDense);
  const auto size = static_cast<std::size_t>(kDense.size());
  std::vector<double> by_mean(size), by_variance(size);
  kernels::fill_normal({5, 0, 0}, 0, kDense.size(), by_mean.data());
  kernels::fill_normal({5, 1, 0}, 0, kDense.size(), by_variance.data());
  if (arrays.posterior.noise() == Noise::Inputs) {
    by_variance.assign(size, 0);  // a step needs the mean alone
  } else if (arrays.posterior.noise() != Noise::Activations) {
    return;
  }
  const auto step_moments = [&](std::vector<double>& mean,
                                std::vector<double>& variance) {
    arrays.posterior.step_moments(arrays.inputs, {3, 0, 9}, mean.data(),
                                  variance.data());
  };
  std::vector<double> mean(size), variance(size);
  step_moments(mean, variance);
  arrays.posterior.moments_backward(arrays.inputs, by_mean.data(),
                                    by_variance.data(), arrays.outputs);
  arrays.expect_gradient([&] {
    step_moments(mean, variance);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += by_mean[i] * mean[i] + by_variance[i] * variance[i];
    }
    return sum;
  });
}

TEST_P(FamilyContract, APartHasItsPartOfTheMean) {
  const WeightShape shape{1, 6, 5, 4};
  const KeptUnits kept{{1, 2, 5}, {0, 3}};
  PosteriorArrays<double> all = disturbed(shape);
  PosteriorArrays<double> part({1, 3, 2, 4}, options());
  all.posterior.restrict_to(kept, all.inputs, part.posterior,
                            part.mutable_inputs);
  std::vector<double> mean(120), part_mean(24);
  all.posterior.moments(all.inputs, mean.data(), nullptr);
  part.posterior.moments(part.inputs, part_mean.data(), nullptr);
  std::size_t i = 0;
  for (std::int64_t row : kept.rows) {
    for (std::int64_t column : kept.columns) {
      for (std::int64_t k = 0; k < 4; ++k, ++i) {
        const double wanted =
            mean[static_cast<std::size_t>((row * 5 + column) * 4 + k)];
        EXPECT_NEAR(part_mean[i], wanted, 1e-12 * std::abs(wanted));
      }
    }
  }
}

TEST_P(FamilyContract, ScoresEachUnitOrNone) {
  PosteriorArrays<double> arrays = disturbed(kConvolution);
  const UnitScores scores = arrays.posterior.unit_scores(arrays.inputs);
  EXPECT_FALSE(scores.rows.empty() && scores.columns.empty());
  if (!scores.rows.empty()) {
    EXPECT_EQ(scores.rows.size(), 6u);
  }
  if (!scores.columns.empty()) {
    EXPECT_EQ(scores.columns.size(), 8u);
  }
  for (const auto& side : {scores.rows, scores.columns}) {
    for (double score : side) EXPECT_TRUE(std::isfinite(score));
  }
}

TEST_P(FamilyContract, FloatAgreesWithDouble) {
  PosteriorArrays<double> wide = disturbed(kConvolution);
  PosteriorArrays<float> narrow(kConvolution, options());
  for (std::size_t b = 0; b < wide.values.size(); ++b) {
    narrow.values[b].assign(wide.values[b].begin(), wide.values[b].end());
    wide.values[b].assign(narrow.values[b].begin(), narrow.values[b].end());
  }
  narrow.bind();
  wide.bind();
  const double kl = wide.posterior.kl(wide.inputs);
  EXPECT_NEAR(narrow.posterior.kl(narrow.inputs), kl, 1e-4 * std::max(1.0, kl));
  const auto size = static_cast<std::size_t>(kConvolution.size());
  std::vector<double> mean(size), variance(size);
  std::vector<float> narrow_mean(size), narrow_variance(size);
  wide.posterior.moments(wide.inputs, mean.data(), variance.data());
  narrow.posterior.moments(narrow.inputs, narrow_mean.data(),
                           narrow_variance.data());
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NEAR(static_cast<double>(narrow_mean[i]), mean[i],
                1e-4 * std::abs(mean[i]) + 1e-6);
    EXPECT_NEAR(static_cast<double>(narrow_variance[i]), variance[i],
                1e-3 * variance[i] + 1e-6);
  }
}

// What the removal of constant units relies on.
TEST_P(FamilyContract, TheBiasBesideItHasItsMeansFirst) {
  const Options bias = options().family().bias_options(options(), 0.5);
  PosteriorArrays<double> arrays({1, 7, 1, 1}, bias);
  arrays.disturb();
  std::vector<double> mean(7);
  arrays.posterior.moments(arrays.inputs, mean.data(), nullptr);
  EXPECT_EQ(arrays.values[0], mean);
  // Noise in activations needs the moments of both.
  EXPECT_EQ(
      arrays.posterior.noise() == Noise::Activations,
      WeightPosterior<double>(kDense, options()).noise() == Noise::Activations);
}

}  // namespace
}  // namespace radir::posterior
