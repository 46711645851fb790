#include <cmath>
#include <nlohmann/json.hpp>

#include "c_api/support.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::json;

/// A weight of 4 outputs and 3 inputs with parameters of its own.
class OwnWeight {
 public:
  explicit OwnWeight(const char* family, const char* options = nullptr) {
    const radir_weight_shape shape = {1, 4, 3, 1};
    expect_status(
        radir_weight_create(family, options, RADIR_FLOAT64, &shape, &weight),
        RADIR_OK);
    const Json json = Json::parse(text_of([&](auto... buffer) {
      return radir_weight_describe(weight, buffer...);
    }));
    for (const Json& block : json["blocks"]) {
      parameters.emplace_back(block["size"].get<std::size_t>());
      gradients.push_back(parameters.back());
    }
    const radir_random_stream start = {7, 0, 1u << 31};
    expect_status(
        radir_weight_initialize(weight, &start, pointers(parameters).data()),
        RADIR_OK);
  }
  ~OwnWeight() { expect_status(radir_weight_free(weight), RADIR_OK); }
  OwnWeight(const OwnWeight&) = delete;
  OwnWeight& operator=(const OwnWeight&) = delete;

  static std::vector<void*> pointers(std::vector<std::vector<double>>& arrays) {
    std::vector<void*> result;
    for (auto& array : arrays) result.push_back(array.data());
    return result;
  }
  std::vector<void*> from() { return pointers(parameters); }
  std::vector<void*> to() { return pointers(gradients); }

  /// The sum of squares of the draw of a step.
  double loss(std::uint64_t step, std::int64_t* draw = nullptr) {
    const radir_random_stream stream = {7, step, 0};
    expect_status(
        radir_weight_draw(weight, from().data(), &stream, values.data(), draw),
        RADIR_OK);
    double sum = 0;
    for (double value : values) sum += value * value;
    return sum;
  }

  radir_weight weight = nullptr;
  std::vector<std::vector<double>> parameters;
  std::vector<std::vector<double>> gradients;
  std::vector<double> values = std::vector<double>(12);
};

/// The derivative of a function by one parameter, by differences.
template <typename Function>
double difference(double& parameter, const Function& function) {
  constexpr double kStep = 1e-6;
  const double kept = parameter;
  parameter = kept + kStep;
  const double above = function();
  parameter = kept - kStep;
  const double below = function();
  parameter = kept;
  return (above - below) / (2 * kStep);
}

class CWeight : public ::testing::TestWithParam<const char*> {};

TEST_P(CWeight, GradientsOfDrawsAreThoseOfDifferences) {
  OwnWeight own(GetParam());
  std::int64_t draw = 0;
  own.loss(3, &draw);
  std::vector<double> gradient, values = own.values;
  for (double value : values) gradient.push_back(2 * value);
  own.loss(4);  // another draw in between
  const radir_random_stream stream = {7, 3, 0};
  expect_status(
      radir_weight_backward(own.weight, own.from().data(), &stream, draw,
                            values.data(), gradient.data(), own.to().data()),
      RADIR_OK);
  // Scales and means follow the draw exactly; of concentrations the gradient is
  // right on average alone, and directions have a length that does not count.
  auto& first = own.parameters.back();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double expected = difference(first[i], [&] { return own.loss(3); });
    EXPECT_NEAR(own.gradients.back()[i], expected,
                1e-5 * (1 + std::abs(expected)));
  }
}

TEST_P(CWeight, GradientsOfTheKlAreThoseOfDifferences) {
  OwnWeight own(GetParam());
  const auto kl = [&] {
    double value = 0;
    expect_status(radir_weight_kl(own.weight, own.from().data(), &value),
                  RADIR_OK);
    return value;
  };
  EXPECT_GT(kl(), 0);
  expect_status(radir_weight_kl_backward(own.weight, own.from().data(), 2,
                                         own.to().data()),
                RADIR_OK);
  for (std::size_t b = 0; b < own.parameters.size(); ++b) {
    for (std::size_t i = 0; i < own.parameters[b].size(); ++i) {
      const double expected = 2 * difference(own.parameters[b][i], kl);
      EXPECT_NEAR(own.gradients[b][i], expected,
                  1e-4 * (1 + std::abs(expected)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CWeight,
                         ::testing::Values("radial-directional", "gaussian"));

TEST(CWeightObject, MomentsPointsAndUnwantedGradients) {
  OwnWeight own("gaussian", "prior_scale=0.5");
  std::vector<double> mean(12), variance(12), point(12);
  expect_status(radir_weight_moments(own.weight, own.from().data(), mean.data(),
                                     variance.data()),
                RADIR_OK);
  expect_status(radir_weight_point(own.weight, own.from().data(), RADIR_MEAN,
                                   point.data()),
                RADIR_OK);
  EXPECT_EQ(mean, point);
  for (double value : variance) EXPECT_GT(value, 0);
  std::vector<void*> none(own.parameters.size(), nullptr);
  expect_status(
      radir_weight_kl_backward(own.weight, own.from().data(), 1, none.data()),
      RADIR_OK);
  radir_weight bias = nullptr;
  expect_status(radir_weight_create_bias(own.weight, 1, &bias), RADIR_OK);
  const Json json = Json::parse(text_of(
      [&](auto... buffer) { return radir_weight_describe(bias, buffer...); }));
  EXPECT_EQ(json["blocks"][0]["size"], 4);
  expect_status(radir_weight_free(bias), RADIR_OK);
}

TEST(CWeightObject, RefusesWhatMakesNoSense) {
  radir_weight weight = nullptr;
  const radir_weight_shape shape = {1, 4, 3, 1}, empty = {1, 0, 3, 1};
  const auto create = [&](const char* family, const char* options,
                          radir_type type, const radir_weight_shape* sizes) {
    return radir_weight_create(family, options, type, sizes, &weight);
  };
  expect_status(create("magic", nullptr, RADIR_FLOAT64, &shape),
                RADIR_UNSUPPORTED, "magic");
  expect_status(create("gaussian", "size=1", RADIR_FLOAT64, &shape),
                RADIR_ARGUMENT_ERROR, "size");
  expect_status(create("gaussian", nullptr, RADIR_FLOAT64, &empty),
                RADIR_ARGUMENT_ERROR, "positive");
  const std::int64_t huge = std::int64_t{1} << 40;  // their product is 0
  for (const radir_weight_shape& sizes :
       {radir_weight_shape{1, huge, huge, 1},
        radir_weight_shape{huge, 1, 1, huge}}) {
    expect_status(create("gaussian", nullptr, RADIR_FLOAT64, &sizes),
                  RADIR_ARGUMENT_ERROR, "more numbers than any memory");
  }
  expect_status(create("gaussian", nullptr, 9, &shape), RADIR_ARGUMENT_ERROR,
                "type 9");
  expect_status(create("gaussian", nullptr, RADIR_FLOAT64, nullptr),
                RADIR_ARGUMENT_ERROR, "null");
  OwnWeight own("gaussian");
  double kl = 0;
  expect_status(radir_weight_kl(own.weight, nullptr, &kl), RADIR_ARGUMENT_ERROR,
                "null");
  const radir_random_stream late = {7, std::uint64_t{1} << 48, 0};
  expect_status(radir_weight_draw(own.weight, own.from().data(), &late,
                                  own.values.data(), nullptr),
                RADIR_ARGUMENT_ERROR, "2^48");
}

}  // namespace
}  // namespace radir::c_api
