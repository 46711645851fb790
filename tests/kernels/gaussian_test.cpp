#include "radir/kernels/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/math/radial_kl.h"

namespace radir::kernels {
namespace {

const RandomStream kStream{11, 2, 5};

/// Locations and scales at random.
template <typename T>
struct Weights {
  std::vector<T> loc, log_scale;

  explicit Weights(std::int64_t count)
      : loc(static_cast<std::size_t>(count)), log_scale(loc) {
    fill_normal(RandomStream{1, 0, 0}, 0, count, loc.data());
    fill_normal(RandomStream{1, 1, 0}, 0, count, log_scale.data());
    for (T& x : log_scale) x -= 1;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(loc.size()); }
};

template <typename T>
class Gaussian : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gaussian, Precisions);

TYPED_TEST(Gaussian, SampleAndBackwardFollowTheFormulas) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-15;
  for (std::int64_t count : {1, 7, 16, 1000}) {
    const Weights<T> p(count);
    const auto size = static_cast<std::size_t>(count);
    std::vector<T> noise(size), deviation(size), weight(size), slope(size);
    std::vector<T> loc_gradient(size, 2), log_scale_gradient(size, 3);
    fill_normal(kStream, 0, count, noise.data());
    fill_normal(RandomStream{4, 0, 0}, 0, count, slope.data());
    gaussian_sample(count, p.loc.data(), p.log_scale.data(), kStream,
                    deviation.data(), weight.data());
    gaussian_backward(count, deviation.data(), slope.data(),
                      loc_gradient.data(), log_scale_gradient.data());
    for (std::size_t i = 0; i < size; ++i) {
      const double d = std::exp(static_cast<double>(p.log_scale[i])) *
                       static_cast<double>(noise[i]);
      const double s = static_cast<double>(slope[i]);
      EXPECT_NEAR(weight[i], static_cast<double>(p.loc[i]) + d,
                  tolerance * (5 + std::fabs(d)));
      EXPECT_NEAR(loc_gradient[i], 2 + s, tolerance * 10);
      EXPECT_NEAR(log_scale_gradient[i], 3 + s * d,
                  tolerance * (10 + std::fabs(s * d)));
    }
  }
}

TYPED_TEST(Gaussian, KlIsTheSumOfTheScalarDivergences) {
  using T = TypeParam;
  for (std::int64_t count : {1, 13, 40000}) {
    const Weights<T> p(count);
    double want = 0;
    for (std::size_t i = 0; i < p.loc.size(); ++i) {
      want += math::kl_normal<double>(
          p.loc[i], std::exp(2 * static_cast<double>(p.log_scale[i])), 0,
          std::exp(-0.6));
    }
    EXPECT_NEAR(gaussian_kl(count, p.loc.data(), p.log_scale.data(), -0.3),
                want, want * (sizeof(T) == 4 ? 1e-5 : 1e-13));
  }
}

TEST(GaussianKl, HasKnownValues) {
  const double loc[] = {0.5, -0.25, 1};
  const double log_scale[] = {std::log(0.1), std::log(0.2), std::log(0.3)};
  const double one = 0.3, log_one = std::log(0.2);
  EXPECT_NEAR(gaussian_kl(1, &one, &log_one, 0.0), 1.174437912434100, 1e-14);
  // Around their own mean and spread, the sum of log(s_p / s).
  double centred[3];
  for (int i = 0; i < 3; ++i) centred[i] = loc[i] - 1.25 / 3;
  const double prior_variance = 0.310555555555555555;
  EXPECT_NEAR(gaussian_kl(3, centred, log_scale, std::log(prior_variance) / 2),
              3.361907103660347, 1e-13);
}

TEST(GaussianKl, KeepsItsAccuracyWherePosteriorAndPriorMeet) {
  const double loc = 0;
  for (double gap : {1e-8, 1e-5, 1e-3, 0.1, 0.24, 0.26}) {
    for (double log_scale : {-gap, gap}) {
      // [expm1(d) - d] / 2 by its series.
      const double d = 2 * log_scale;
      double want = 0;
      for (int k = 25; k >= 2; --k) {
        want = want * d + 1 / std::tgamma(k + 1.0);
      }
      want *= d * d / 2;
      EXPECT_NEAR(gaussian_kl(1, &loc, &log_scale, 0.0), want, 1e-14 * want);
    }
  }
}

TEST(GaussianKl, GradientsAreDerivatives) {
  Weights<double> p(19);
  double log_prior_scale = 0.4;
  std::vector<double> loc_gradient(19), log_scale_gradient(19);
  double prior_gradient = 0;
  const double scale = 0.7, h = 1e-5;
  const GaussianKlGradient<double> to{
      scale, loc_gradient.data(), log_scale_gradient.data(), &prior_gradient};
  const auto kl = [&](const GaussianKlGradient<double>* gradient) {
    return gaussian_kl(p.count(), p.loc.data(), p.log_scale.data(),
                       log_prior_scale, gradient);
  };
  kl(&to);
  const auto check = [&](double& x, double got) {
    const double at = x;
    x = at + h;
    const double up = kl(nullptr);
    x = at - h;
    const double down = kl(nullptr);
    x = at;
    EXPECT_NEAR(got, scale * (up - down) / (2 * h), 1e-6);
  };
  for (std::size_t i = 0; i < 19; ++i) {
    check(p.loc[i], loc_gradient[i]);
    check(p.log_scale[i], log_scale_gradient[i]);
  }
  check(log_prior_scale, prior_gradient);
  // Added, with the prior's left out.
  const GaussianKlGradient<double> again{scale, loc_gradient.data(),
                                         log_scale_gradient.data(), nullptr};
  const double before = loc_gradient[3];
  kl(&again);
  EXPECT_EQ(loc_gradient[3], 2 * before);
}

TYPED_TEST(Gaussian, IsTheSameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const Weights<T> p(150001);
  const auto run = [&](ThreadPool* pool) {
    const auto size = p.loc.size();
    std::vector<T> deviation(size), weight(size), loc(size), log_scale(size);
    double of_prior = 0;
    gaussian_sample(p.count(), p.loc.data(), p.log_scale.data(), kStream,
                    deviation.data(), weight.data(), pool);
    gaussian_backward(p.count(), deviation.data(), weight.data(), loc.data(),
                      log_scale.data(), pool);
    const GaussianKlGradient<T> to{0.5, loc.data(), log_scale.data(),
                                   &of_prior};
    const double kl = gaussian_kl(p.count(), p.loc.data(), p.log_scale.data(),
                                  -1.0, &to, pool);
    std::vector<T> all = weight;
    all.insert(all.end(), loc.begin(), loc.end());
    all.insert(all.end(), log_scale.begin(), log_scale.end());
    return std::make_tuple(all, kl, of_prior);
  };
  const auto alone = run(nullptr);
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(run(&pool), alone);
  }
}

TEST(GaussianErrors, NameWhatIsWrong) {
  std::vector<float> x(4);
  const auto expect_error = [](const auto& call, const std::string& part) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown; expected: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << error.what();
    }
  };
  float* none = nullptr;
  expect_error(
      [&] {
        gaussian_sample(-1, x.data(), x.data(), kStream, x.data(), x.data());
      },
      "gaussian_sample: count must not be negative, but is -1");
  expect_error(
      [&] { gaussian_sample(4, x.data(), none, kStream, x.data(), x.data()); },
      "gaussian_sample: an array is null");
  expect_error(
      [&] { gaussian_backward(4, x.data(), x.data(), none, x.data()); },
      "gaussian_backward: an array is null");
  const GaussianKlGradient<float> incomplete{1, x.data(), nullptr, nullptr};
  expect_error([&] { gaussian_kl(4, x.data(), x.data(), 0.0, &incomplete); },
               "gaussian_kl: an array is null");
  expect_error(
      [&] {
        gaussian_kl(4, x.data(), x.data(),
                    std::numeric_limits<double>::infinity());
      },
      "log_prior_scale must be finite");
}

}  // namespace
}  // namespace radir::kernels
