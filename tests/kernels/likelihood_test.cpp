#include "radir/kernels/likelihood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "kernels/each_isa.h"
#include "radir/core/error.h"
#include "radir/math/predictive.h"
#include "support/expect_error.h"
#include "support/worst_error.h"

namespace radir::testing {
namespace {

using kernels::categorical_loss;
using kernels::gamma_precision_loss;
using kernels::GammaPrecisionLoss;
using kernels::LikelihoodData;
using kernels::noise_mixture_loss;
using kernels::NoiseOutput;
using kernels::predicted_noise_loss;
using kernels::two_normals_loss;
using kernels::TwoNormalsLoss;

constexpr std::int64_t kStride = 48;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Random outputs [output][kStride] and targets, exact in float.
struct Problem {
  Problem(std::int64_t num_outputs, std::int64_t num_batch)
      : outputs(at(num_outputs * kStride)),
        targets(at(num_outputs * num_batch)),
        width(num_outputs),
        batch(num_batch) {
    std::mt19937 engine(11);
    std::normal_distribution<double> normal;
    for (double& x : outputs) x = static_cast<float>(2 * normal(engine));
    for (double& x : targets) x = static_cast<float>(normal(engine));
    for (std::int64_t n = 0; n < batch; ++n) labels.push_back(n * 7 % width);
  }

  template <typename T>
  LikelihoodData<T> data(const std::vector<T>& y, std::vector<T>& gradient,
                         Isa isa) const {
    LikelihoodData<T> result;
    result.outputs = y.data();
    result.num_outputs = width;
    result.batch = batch;
    result.stride = kStride;
    result.gradient = gradient.data();
    result.isa = isa;
    return result;
  }

  std::vector<double> outputs;
  std::vector<double> targets;
  std::vector<std::int64_t> labels;
  std::int64_t width;
  std::int64_t batch;
};

/// A loss of one datum's outputs, in double.
using DatumLoss =
    std::function<double(std::int64_t datum, const std::vector<double>&)>;

/// Central difference of fourth order: error some 1e-11 at this step.
double derivative(const DatumLoss& loss, std::int64_t datum,
                  std::vector<double> outputs, std::size_t i) {
  constexpr double kStep = 1e-3;
  const double x = outputs[i];
  const auto value = [&](double offset) {
    outputs[i] = x + offset;
    return loss(datum, outputs);
  };
  return (8 * (value(kStep) - value(-kStep)) -
          (value(2 * kStep) - value(-2 * kStep))) /
         (12 * kStep);
}

/// Compares a kernel's loss and gradient, on every instruction set, with the
/// sum of `loss` over the data and with its derivative; `scale` is what the
/// gradient is multiplied by. Gradients are allowed the error of the
/// differences in double.
template <typename T, typename Kernel>
void expect_loss(const Problem& problem, const DatumLoss& loss,
                 const Kernel& kernel) {
  constexpr double kScale = 2.5;
  const double gradient_eps = std::is_same_v<T, double> ? 1e6 : 16;
  WorstError<T> losses("loss", 16);
  WorstError<T> gradients("gradient", gradient_eps);
  const std::vector<T> y(problem.outputs.begin(), problem.outputs.end());
  const std::vector<T> targets(problem.targets.begin(), problem.targets.end());
  for_each_isa([&](Isa isa) {
    std::vector<T> gradient(y.size(), T(99));
    LikelihoodData<T> data = problem.data(y, gradient, isa);
    data.scale = kScale;
    const double got = kernel(data, targets);
    double want = 0;
    for (std::int64_t n = 0; n < kStride; ++n) {
      std::vector<double> outputs;
      for (std::int64_t i = 0; i < problem.width; ++i) {
        outputs.push_back(problem.outputs[at(i * kStride + n)]);
      }
      const bool exists = n < problem.batch;
      if (exists) want += loss(n, outputs);
      for (std::int64_t i = 0; i < problem.width; ++i) {
        const T g = gradient[at(i * kStride + n)];
        if (!exists) {
          EXPECT_EQ(g, 0) << "output " << i << ", past the batch: " << n;
          continue;
        }
        const double d = derivative(loss, n, outputs, at(i));
        gradients.add_scaled(
            g, kScale * d, kScale * std::max(1.0, std::fabs(d)),
            [&] { return std::to_string(i) + ", " + std::to_string(n); });
      }
    }
    losses.add(static_cast<T>(got), want,
               [&] { return std::string(to_string(isa)); });
    data.gradient = nullptr;
    EXPECT_EQ(kernel(data, targets), got) << "without a gradient";
  });
  losses.verify();
  gradients.verify();
}

template <typename T>
void expect_categorical(std::int64_t batch) {
  const Problem problem(10, batch);
  expect_loss<T>(
      problem,
      [&](std::int64_t n, const std::vector<double>& y) {
        double sum = 0;
        for (double x : y) sum += std::exp(x);
        return std::log(sum) - y[at(problem.labels[at(n)])];
      },
      [&](const LikelihoodData<T>& data, const std::vector<T>&) {
        return categorical_loss(data, problem.labels.data());
      });
}

TEST(CategoricalLoss, IsTheCrossEntropyOfSoftmax) {
  for (std::int64_t batch : {1, 16, 37}) {
    expect_categorical<double>(batch);
    expect_categorical<float>(batch);
  }
}

TEST(CategoricalLoss, LargeLogitsDoNotOverflow) {
  for_each_isa([](Isa isa) {
    std::vector<float> outputs(2 * 16);
    outputs[0] = 1000;
    outputs[16] = -1000;
    LikelihoodData<float> data;
    data.outputs = outputs.data();
    data.num_outputs = 2;
    data.batch = 1;
    data.stride = 16;
    data.isa = isa;
    const std::int64_t labels[] = {1};
    EXPECT_EQ(categorical_loss(data, labels), 2000);
  });
}

TEST(CategoricalLoss, RefusesALabelThatIsNoOutput) {
  const std::vector<float> outputs(3 * 16);
  LikelihoodData<float> data;
  data.outputs = outputs.data();
  data.num_outputs = 3;
  data.batch = 2;
  data.stride = 16;
  const std::int64_t labels[] = {2, 3};
  expect_error<ArgumentError>([&] { categorical_loss(data, labels); },
                              "between 0 and 2, but labels[1] is 3");
}

constexpr double kShape = 7.25;
constexpr double kRate = 1.5;

template <typename T>
void expect_gamma_precision() {
  const Problem problem(2, 37);
  expect_loss<T>(
      problem,
      [&](std::int64_t n, const std::vector<double>& y) {
        double sum = 0;
        for (std::int64_t i = 0; i < problem.width; ++i) {
          sum -= math::expected_log_likelihood(
              problem.targets[at(n * problem.width + i)], y[at(i)], kShape,
              kRate);
        }
        return sum;
      },
      [&](const LikelihoodData<T>& data, const std::vector<T>& targets) {
        return gamma_precision_loss(data, targets.data(), kShape, kRate).loss;
      });
}

TEST(GammaPrecisionLoss, IsTheExpectedNegativeLogLikelihood) {
  expect_gamma_precision<double>();
  expect_gamma_precision<float>();
}

TEST(GammaPrecisionLoss, GivesTheDerivativesByShapeAndRate) {
  const Problem problem(2, 37);
  std::vector<double> gradient(problem.outputs.size());
  for_each_isa([&](Isa isa) {
    const auto data = problem.data(problem.outputs, gradient, isa);
    const auto at_point = [&](double shape, double rate) {
      return gamma_precision_loss(data, problem.targets.data(), shape, rate);
    };
    const GammaPrecisionLoss loss = at_point(kShape, kRate);
    constexpr double kStep = 1e-5;
    const double by_shape = (at_point(kShape + kStep, kRate).loss -
                             at_point(kShape - kStep, kRate).loss) /
                            (2 * kStep);
    const double by_rate = (at_point(kShape, kRate + kStep).loss -
                            at_point(kShape, kRate - kStep).loss) /
                           (2 * kStep);
    EXPECT_NEAR(loss.shape_gradient, by_shape, 1e-6 * std::fabs(by_shape));
    EXPECT_NEAR(loss.rate_gradient, by_rate, 1e-6 * std::fabs(by_rate));
  });
}

TEST(GammaPrecisionLoss, RefusesParametersOutsideTheDomain) {
  const LikelihoodData<float> data;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [shape, rate] :
       {std::pair(0.0, 1.0), std::pair(1.0, -1.0), std::pair(infinity, 1.0),
        std::pair(1.0, infinity)}) {
    expect_error<DomainError>(
        [&, a = shape, b = rate] {
          gamma_precision_loss<float>(data, nullptr, a, b);
        },
        "shape and rate must be positive and finite");
  }
}

constexpr kernels::TwoNormals kTwoNormals = {1.1, 3.5, 0.15};

template <typename T>
void expect_two_normals() {
  const Problem problem(2, 37);
  expect_loss<T>(
      problem,
      [&](std::int64_t n, const std::vector<double>& y) {
        double sum = 0;
        for (std::int64_t i = 0; i < 2; ++i) {
          const double residual = problem.targets[at(n * 2 + i)] - y[at(i)];
          const auto density = [&](double scale) {
            const double z = residual / scale;
            return std::exp(-z * z / 2) /
                   (scale * std::sqrt(2 * std::acos(-1.0)));
          };
          sum -= std::log((1 - kTwoNormals.share) * density(kTwoNormals.scale) +
                          kTwoNormals.share *
                              density(kTwoNormals.ratio * kTwoNormals.scale));
        }
        return sum;
      },
      [&](const LikelihoodData<T>& data, const std::vector<T>& targets) {
        return two_normals_loss(data, targets.data(), kTwoNormals).loss;
      });
}

TEST(TwoNormalsLoss, IsTheNegativeLogDensity) {
  expect_two_normals<double>();
  expect_two_normals<float>();
}

TEST(TwoNormalsLoss, GivesTheDerivativesByTheNoise) {
  const Problem problem(2, 37);
  std::vector<double> gradient(problem.outputs.size());
  for_each_isa([&](Isa isa) {
    const auto data = problem.data(problem.outputs, gradient, isa);
    // By log scale, log ratio and logit of the share.
    const auto at_point = [&](double a, double b, double c) {
      const double odds =
          kTwoNormals.share / (1 - kTwoNormals.share) * std::exp(c);
      return two_normals_loss(
          data, problem.targets.data(),
          {kTwoNormals.scale * std::exp(a), kTwoNormals.ratio * std::exp(b),
           odds / (1 + odds)});
    };
    constexpr double kStep = 1e-5;
    const auto slope = [&](double a, double b, double c) {
      return (at_point(a, b, c).loss - at_point(-a, -b, -c).loss) / (2 * kStep);
    };
    const TwoNormalsLoss loss = at_point(0, 0, 0);
    const auto expect_equal = [](double found, double expected) {
      EXPECT_NEAR(found, expected, 1e-6 * (1 + std::fabs(expected)));
    };
    expect_equal(loss.log_scale_gradient, slope(kStep, 0, 0));
    expect_equal(loss.log_ratio_gradient, slope(0, kStep, 0));
    expect_equal(loss.logit_share_gradient, slope(0, 0, kStep));
  });
}

TEST(TwoNormalsLoss, RefusesParametersOutsideTheDomain) {
  const LikelihoodData<float> data;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const kernels::TwoNormals& noise :
       {kernels::TwoNormals{0, 2, 0.1}, kernels::TwoNormals{1, infinity, 0.1},
        kernels::TwoNormals{1, 2, 0}, kernels::TwoNormals{1, 2, 1}}) {
    expect_error<DomainError>(
        [&] { two_normals_loss<float>(data, nullptr, noise); },
        "positive and finite and the share between 0 and 1");
  }
}

template <typename T>
void expect_predicted_noise(NoiseOutput noise) {
  Problem problem(4, 37);
  // Inside the bounds of a log variance.
  for (double& x : problem.outputs) x = std::clamp(x, -4.0, 4.0);
  expect_loss<T>(
      problem,
      [&](std::int64_t n, const std::vector<double>& y) {
        double sum = 0;
        for (std::int64_t i = 0; i < 2; ++i) {
          const double raw = y[at(2 + i)];
          const double sigma = noise == NoiseOutput::LogVariance
                                   ? std::exp(raw / 2)
                                   : std::log1p(std::exp(raw));
          const double z = (problem.targets[at(n * 2 + i)] - y[at(i)]) / sigma;
          sum +=
              std::log(2 * std::acos(-1.0)) / 2 + std::log(sigma) + z * z / 2;
        }
        return sum;
      },
      [&](const LikelihoodData<T>& data, const std::vector<T>& targets) {
        return predicted_noise_loss(data, targets.data(), noise);
      });
}

TEST(PredictedNoiseLoss, IsTheNegativeLogDensity) {
  for (NoiseOutput noise :
       {NoiseOutput::LogVariance, NoiseOutput::SoftplusScale}) {
    expect_predicted_noise<double>(noise);
    expect_predicted_noise<float>(noise);
  }
}

/// A batch of one example, the outputs a vector apart.
template <typename T>
struct OneExample {
  static constexpr std::int64_t kStride = 16;

  explicit OneExample(const std::vector<T>& values, Isa isa = active_isa())
      : outputs(values.size() * kStride), gradient(outputs.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      outputs[i * kStride] = values[i];
    }
    data.outputs = outputs.data();
    data.num_outputs = static_cast<std::int64_t>(values.size());
    data.batch = 1;
    data.stride = kStride;
    data.gradient = gradient.data();
    data.isa = isa;
  }
  OneExample(const OneExample&) = delete;

  double slope(std::size_t output) const {
    return static_cast<double>(gradient[output * kStride]);
  }

  std::vector<T> outputs;
  std::vector<T> gradient;
  LikelihoodData<T> data;
  T target = 0;
};

/// Loss and derivatives of one residual and one output for its log variance.
struct OneNoise {
  double loss, by_mean, by_noise;
};

template <typename T>
OneNoise one_noise(T residual, T log_variance, Isa isa) {
  const OneExample<T> one({residual, log_variance}, isa);
  const double loss =
      predicted_noise_loss(one.data, &one.target, NoiseOutput::LogVariance);
  return {loss, one.slope(0), one.slope(1)};
}

template <typename T>
void expect_bounded_noise(Isa isa) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T low = T(kernels::kMinLogVariance), high = T(kernels::kMaxLogVariance);
  for (T residual : {T(1e-7), T(0.5), T(100)}) {
    for (T bound : {low, high}) {
      const OneNoise at_bound = one_noise<T>(residual, bound, isa);
      for (T output : {2 * bound, bound * T(1e6), bound * infinity}) {
        const OneNoise outside = one_noise<T>(residual, output, isa);
        EXPECT_EQ(outside.loss, at_bound.loss) << output;
        EXPECT_EQ(outside.by_mean, at_bound.by_mean) << output;
        // A step goes against the derivative: back inside, or nowhere.
        const bool back =
            bound == low ? at_bound.by_noise < 0 : at_bound.by_noise > 0;
        EXPECT_EQ(outside.by_noise, back ? at_bound.by_noise : 0) << output;
      }
    }
  }
  EXPECT_TRUE(std::isnan(
      one_noise<T>(T(1), std::numeric_limits<T>::quiet_NaN(), isa).loss));
}

TEST(PredictedNoiseLoss, LogVariancesAreBounded) {
  for_each_isa([](Isa isa) {
    expect_bounded_noise<double>(isa);
    expect_bounded_noise<float>(isa);
  });
}

TEST(PredictedNoiseLoss, RefusesAnOddNumberOfOutputs) {
  LikelihoodData<double> data;
  data.num_outputs = 3;
  expect_error<ArgumentError>(
      [&] {
        predicted_noise_loss<double>(data, nullptr, NoiseOutput::LogVariance);
      },
      "must be even, but is 3");
}

template <typename T>
void expect_noise_mixture(std::int64_t parts, double least) {
  const std::int64_t targets = 2;
  Problem problem(3 * parts * targets, 37);
  for (double& x : problem.outputs) x = std::clamp(x, -3.0, 3.0);
  expect_loss<T>(
      problem,
      [&](std::int64_t n, const std::vector<double>& y) {
        double sum = 0;
        for (std::int64_t i = 0; i < targets; ++i) {
          double density = 0, total = 0;
          for (std::int64_t k = 0; k < parts; ++k) {
            const auto output = [&](std::int64_t what) {
              return y[at((what * parts + k) * targets + i)];
            };
            const double sigma = std::exp(std::max(output(1), least) / 2);
            const double z =
                (problem.targets[at(n * targets + i)] - output(0)) / sigma;
            density += std::exp(output(2) - z * z / 2) / sigma;
            total += std::exp(output(2));
          }
          sum += std::log(2 * std::acos(-1.0)) / 2 - std::log(density / total);
        }
        return sum;
      },
      [&](const LikelihoodData<T>& data, const std::vector<T>& values) {
        return noise_mixture_loss(data, values.data(), {parts, least});
      });
}

TEST(NoiseMixtureLoss, IsTheNegativeLogDensity) {
  for (std::int64_t parts : {1, 2, 3, 8}) {
    expect_noise_mixture<double>(parts, kernels::kMinLogVariance);
    expect_noise_mixture<float>(parts, kernels::kMinLogVariance);
  }
}

// Far from every part the density underflows, its logarithm does not.
TEST(NoiseMixtureLoss, IsFiniteFarFromEveryPart) {
  for_each_isa([](Isa isa) {
    const OneExample<float> one({-100, 300, -6, -6, 500, -500}, isa);
    const double loss = noise_mixture_loss(one.data, &one.target, {2});
    EXPECT_NEAR(loss,
                0.5 * (std::log(2 * std::acos(-1.0)) - 6 + 1e4 * std::exp(6.0)),
                1e-5 * loss);
    for (float slope : one.gradient) EXPECT_TRUE(std::isfinite(slope));
  });
}

// Below the bound a log variance counts as the bound, and its derivative leads
// back or nowhere.
TEST(NoiseMixtureLoss, TheLeastVarianceIsABound) {
  const double least = std::log(0.25);
  for (double raw : {-30.0, -2.0}) {
    const OneExample<double> one({0.1, raw, 0});
    const double loss = noise_mixture_loss(one.data, &one.target, {1, least});
    EXPECT_NEAR(loss, 0.5 * (std::log(2 * std::acos(-1.0)) + least + 0.04),
                1e-12);
    EXPECT_EQ(one.slope(1), 0);
  }
}

TEST(NoiseMixtureLoss, RefusesOutputsThatDoNotFit) {
  LikelihoodData<double> data;
  data.num_outputs = 8;
  for (std::int64_t parts : {0, 2, 9}) {
    expect_error<ArgumentError>(
        [&] { noise_mixture_loss<double>(data, nullptr, {parts}); },
        "three outputs for each, but has " + std::to_string(parts) + " parts");
  }
}

}  // namespace
}  // namespace radir::testing
