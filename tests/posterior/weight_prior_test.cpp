#include "radir/posterior/weight_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "support/expect_error.h"

namespace radir::posterior {
namespace {

using ::radir::testing::expect_error;

struct Case {
  std::string name;
  network::WeightShape shape;
  Options options;
};

RadialDirectionalOptions radial(Grouping grouping) {
  RadialDirectionalOptions options;
  options.grouping = grouping;
  options.direction_prior = DirectionPrior::Uniform;
  return options;
}

std::vector<Case> cases() {
  const network::WeightShape dense = {1, 5, 3, 1};
  const network::WeightShape convolution = {2, 3, 2, 4};
  GaussianOptions learnt;
  learnt.learn_prior = true;
  learnt.prior_scale = 0.7;
  RadialDirectionalOptions heavy = radial(Grouping::Double);
  heavy.degrees_of_freedom = 3;
  heavy.column_degrees_of_freedom = 7;
  heavy.local_scale = 0.3;
  heavy.global_scale = 2;
  RadialDirectionalOptions no_global = radial(Grouping::Column);
  no_global.global_scale.reset();
  return {{"normal", dense, GaussianOptions{}},
          {"learnt_normal", dense, learnt},
          {"row", dense, radial(Grouping::Row)},
          {"column", dense, radial(Grouping::Column)},
          {"double", dense, radial(Grouping::Double)},
          {"double_of_a_convolution", convolution, radial(Grouping::Double)},
          {"half_t", dense, heavy},
          {"no_global_scale", convolution, no_global},
          {"a_single_row", {1, 1, 4, 1}, radial(Grouping::Column)}};
}

class WeightPriorTest : public ::testing::TestWithParam<Case> {
 protected:
  /// A place where no coordinate is special, and a function of the weights.
  void SetUp() override {
    prior = make_weight_prior<double>(GetParam().shape, GetParam().options);
    coordinates.resize(static_cast<std::size_t>(prior->size()));
    prior->initialize({3, 0, 0}, coordinates.data());
    const std::int64_t scales = prior->scale_count();
    kernels::fill_normal({4, 0, 0}, 0, scales,
                         coordinates.data() + prior->size() - scales);
    weight.resize(static_cast<std::size_t>(GetParam().shape.size()));
    slope.resize(weight.size());
    kernels::fill_normal({5, 0, 0}, 0, GetParam().shape.size(), slope.data());
  }

  /// The negative log density plus slope . weights + |weights|^2.
  double value(std::vector<double>* gradient = nullptr) {
    prior->weights(coordinates.data(), weight.data());
    std::vector<double> outer(weight.size());
    double result = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      result += weight[i] * (slope[i] + weight[i]);
      outer[i] = slope[i] + 2 * weight[i];
    }
    std::vector<double> inner(coordinates.size());
    result += prior->backward(coordinates.data(), outer.data(), inner.data());
    if (gradient != nullptr) *gradient = inner;
    return result;
  }

  std::unique_ptr<WeightPrior<double>> prior;
  std::vector<double> coordinates;
  std::vector<double> weight;
  std::vector<double> slope;
};

TEST_P(WeightPriorTest, GradientIsThatOfTheValue) {
  std::vector<double> gradient;
  value(&gradient);
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    constexpr double kStep = 1e-5;
    const double at = coordinates[i];
    coordinates[i] = at + kStep;
    const double above = value();
    coordinates[i] = at - kStep;
    const double below = value();
    coordinates[i] = at;
    const double difference = (above - below) / (2 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-6 * (1 + std::abs(difference)))
        << "coordinate " << i;
  }
}

TEST_P(WeightPriorTest, CoordinatesBesideTheScalesAreStandardNormal) {
  const auto normals =
      static_cast<std::size_t>(prior->size() - prior->scale_count());
  const std::vector<double> none(weight.size(), 0.0);
  std::vector<double> gradient(coordinates.size());
  prior->weights(coordinates.data(), weight.data());
  prior->backward(coordinates.data(), none.data(), gradient.data());
  for (std::size_t i = 0; i < normals; ++i) {
    EXPECT_NEAR(gradient[i], coordinates[i], 1e-12);
  }
}

TEST_P(WeightPriorTest, FloatAgreesWithDouble) {
  auto in_float =
      make_weight_prior<float>(GetParam().shape, GetParam().options);
  const std::vector<float> x(coordinates.begin(), coordinates.end());
  std::vector<float> w(weight.size());
  in_float->weights(x.data(), w.data());
  prior->weights(coordinates.data(), weight.data());
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(w[i]), weight[i],
                2e-5 * (1 + std::abs(weight[i])));
  }
}

INSTANTIATE_TEST_SUITE_P(Priors, WeightPriorTest, ::testing::ValuesIn(cases()),
                         [](const auto& parameter) {
                           return parameter.param.name;
                         });

TEST(WeightPrior, StartsWithTheWeightsOfTheInitialGain) {
  const network::WeightShape shape = {1, 400, 100, 1};
  for (Grouping grouping :
       {Grouping::Row, Grouping::Column, Grouping::Double}) {
    const auto prior = make_weight_prior<double>(shape, radial(grouping));
    std::vector<double> x(static_cast<std::size_t>(prior->size()));
    std::vector<double> w(static_cast<std::size_t>(shape.size()));
    prior->initialize({1, 0, 0}, x.data());
    prior->weights(x.data(), w.data());
    double squares = 0;
    for (double value : w) squares += value * value;
    EXPECT_NEAR(squares / 400, 2, 0.1) << to_string(grouping);
  }
}

TEST(WeightPrior, RowsHaveTheDirectionOfTheirNormals) {
  const network::WeightShape shape = {1, 1, 2, 1};
  const auto prior = make_weight_prior<double>(shape, radial(Grouping::Row));
  // Two normals, the logarithms of the local and of the shared radius.
  const std::vector<double> x = {3, -4, std::log(2.0), std::log(5.0)};
  std::vector<double> w(2);
  prior->weights(x.data(), w.data());
  EXPECT_NEAR(w[0], 6, 1e-12);
  EXPECT_NEAR(w[1], -8, 1e-12);
}

TEST(WeightPrior, RefusesWhatCannotBeSampled) {
  const network::WeightShape shape = {1, 3, 2, 1};
  expect_error<UnsupportedError>(
      [&] { make_weight_prior<float>(shape, RadialDirectionalOptions{}); },
      "direction_prior=uniform");
  expect_error<UnsupportedError>(
      [&] { make_weight_prior<float>(shape, PointOptions{}); },
      "no prior that can be sampled");
}

}  // namespace
}  // namespace radir::posterior
