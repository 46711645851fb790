#include "radir/math/vmf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace radir::math {
namespace {

using testing::expect_error;
using testing::Table;
using testing::WorstError;

template <typename T>
class VmfTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VmfTest, Types);

TYPED_TEST(VmfTest, MomentsMatchTheTable) {
  using T = TypeParam;
  const Table table("vmf_moments");
  WorstError<T> mean("vmf_mean_cosine", 4);
  WorstError<T> over_kappa("vmf_mean_cosine_over_kappa", 4);
  WorstError<T> one_minus("vmf_one_minus_mean_cosine", 64);
  WorstError<T> variance("vmf_cosine_variance", 64);
  WorstError<T> slope("vmf_cosine_variance_derivative", 64);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const T m = static_cast<T>(table.number(i, "m"));
    const T kappa = static_cast<T>(table.number(i, "kappa"));
    const auto describe = [&] { return table.describe(i); };
    mean.add(vmf_mean_cosine(m, kappa), table.number(i, "E_omega"), describe);
    over_kappa.add(vmf_mean_cosine_over_kappa(m, kappa),
                   table.number(i, "A_over_kappa"), describe);
    one_minus.add(vmf_one_minus_mean_cosine(m, kappa),
                  table.number(i, "one_minus_A"), describe);
    variance.add(vmf_cosine_variance(m, kappa), table.number(i, "Var_omega"),
                 describe);
    slope.add(vmf_cosine_variance_derivative(m, kappa), table.number(i, "d2A"),
              describe);
  }
  mean.verify();
  over_kappa.verify();
  one_minus.verify();
  variance.verify();
  slope.verify();
}

TYPED_TEST(VmfTest, LogNormalizerMatchesTheTable) {
  using T = TypeParam;
  const Table table("vmf_log_normaliser");
  WorstError<T> normalizer("vmf_log_normalizer", 8);
  WorstError<T> partition("vmf_log_partition", 8);
  const double log_2_pi = std::log(2 * 3.14159265358979323846);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double m = table.number(i, "m");
    const double kappa = table.number(i, "kappa");
    const double want = table.number(i, "log_c");
    const double phi = -want - m / 2 * log_2_pi;
    const double radius = std::hypot(m / 2, kappa);
    const auto describe = [&] { return table.describe(i); };
    const T tm = static_cast<T>(m), tk = static_cast<T>(kappa);
    normalizer.add_scaled(vmf_log_normalizer(tm, tk), want,
                          std::max(std::fabs(want), radius), describe);
    partition.add_scaled(vmf_log_partition(tm, tk), phi,
                         std::max(std::fabs(phi), radius), describe);
  }
  normalizer.verify();
  partition.verify();
}

/// Rows with lowest <= m of vmf_kl.csv.
template <typename T>
void verify_kl(double lowest_m, double allowed_eps) {
  const Table table("vmf_kl");
  const std::string where = " m>=" + std::to_string(int(lowest_m));
  WorstError<T> kl("vmf_kl" + where, allowed_eps);
  WorstError<T> kappa_q("d vmf_kl / d kappa_q" + where, allowed_eps);
  WorstError<T> kappa_p("d vmf_kl / d kappa_p" + where, allowed_eps);
  WorstError<T> cosine("d vmf_kl / d cosine" + where, allowed_eps);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const T m = static_cast<T>(table.number(i, "m"));
    if (m < static_cast<T>(lowest_m)) continue;
    const T q = static_cast<T>(table.number(i, "kappa_q"));
    const T p = static_cast<T>(table.number(i, "kappa_p"));
    const T c = static_cast<T>(table.number(i, "cos"));
    const auto describe = [&] { return table.describe(i); };
    const VmfKlGradient<T> gradient = vmf_kl_gradient(m, q, p, c);
    kl.add(vmf_kl(m, q, p, c), table.number(i, "kl"), describe);
    kappa_q.add(gradient.kappa_q, table.number(i, "dkl_dkappa_q"), describe);
    kappa_p.add(gradient.kappa_p, table.number(i, "dkl_dkappa_p"), describe);
    cosine.add(gradient.cosine, table.number(i, "dkl_dcos"), describe);
  }
  kl.verify();
  kappa_q.verify();
  kappa_p.verify();
  cosine.verify();
}

TEST(VmfKlTest, MatchesTheTableInDouble) {
  verify_kl<double>(2, 64);
  verify_kl<double>(150, 8);
}

// Computed in double and rounded once, so half a unit is all there can be.
TEST(VmfKlTest, MatchesTheTableInFloat) { verify_kl<float>(2, 1); }

/// Any value of the ranges, and often their ends.
template <typename T>
class RandomVmf {
 public:
  T dimension() { return static_cast<T>(std::floor(log_uniform(2, 1e7))); }
  T kappa() {
    switch (generator_() % 8) {
      case 0:
        return 0;
      case 1:
        return static_cast<T>(log_uniform(1e-30, 1e-3));
      default:
        return static_cast<T>(log_uniform(1e-3, 1e9));
    }
  }
  /// Equal, nearly equal, or any.
  T kappa_near(T kappa_q) {
    switch (generator_() % 4) {
      case 0:
        return kappa_q;
      case 1:
        return kappa_q * static_cast<T>(1 + 1e-6 * (uniform() - 0.5));
      case 2:
        return kappa_q * static_cast<T>(2 * uniform());
      default:
        return kappa();
    }
  }
  T cosine() {
    return generator_() % 4 == 0 ? T(1) : static_cast<T>(2 * uniform() - 1);
  }

 private:
  double uniform() { return std::uniform_real_distribution<>()(generator_); }
  double log_uniform(double low, double high) {
    return low * std::pow(high / low, uniform());
  }

  std::mt19937_64 generator_{20190517};
};

TYPED_TEST(VmfTest, AMillionPointsAreFiniteAndOfTheRightSign) {
  using T = TypeParam;
  RandomVmf<T> random;
  for (int i = 0; i < 1000000; ++i) {
    const T m = random.dimension();
    const T q = random.kappa();
    const T p = random.kappa_near(q);
    const T c = random.cosine();
    const T kl = vmf_kl(m, q, p, c);
    const VmfKlGradient<T> gradient = vmf_kl_gradient(m, q, p, c);
    const T mean = vmf_mean_cosine(m, q);
    const T variance = vmf_cosine_variance(m, q);
    const bool good = kl >= 0 && std::isfinite(kl) &&
                      std::isfinite(gradient.kappa_q) &&
                      std::isfinite(gradient.kappa_p) && gradient.cosine <= 0 &&
                      std::isfinite(gradient.cosine) && mean >= 0 &&
                      mean <= 1 && variance > 0 && variance <= T(0.5) &&
                      std::isfinite(vmf_log_normalizer(m, q));
    ASSERT_TRUE(good) << "m=" << m << " kappa_q=" << q << " kappa_p=" << p
                      << " cosine=" << c << " kl=" << kl << " mean=" << mean
                      << " variance=" << variance;
    ASSERT_TRUE(kl == 0 || q != p || c != 1);
  }
}

// The derivatives of vmf_kl against differences of it.
TEST(VmfKlTest, GradientIsTheDerivative) {
  for (double m : {2.0, 3.0, 17.0, 150.0, 5000.0}) {
    const double q = 0.7 * m, p = 1.9 * m, c = 0.3, h = 1e-4 * m;
    const VmfKlGradient<double> gradient = vmf_kl_gradient(m, q, p, c);
    const auto slope = [](double up, double down, double step) {
      return (up - down) / (2 * step);
    };
    EXPECT_NEAR(gradient.kappa_q,
                slope(vmf_kl(m, q + h, p, c), vmf_kl(m, q - h, p, c), h),
                1e-6 * std::fabs(gradient.kappa_q));
    EXPECT_NEAR(gradient.kappa_p,
                slope(vmf_kl(m, q, p + h, c), vmf_kl(m, q, p - h, c), h),
                1e-6 * std::fabs(gradient.kappa_p));
    EXPECT_NEAR(
        gradient.cosine,
        slope(vmf_kl(m, q, p, c + 1e-4), vmf_kl(m, q, p, c - 1e-4), 1e-4),
        1e-6 * std::fabs(gradient.cosine));
  }
}

// KL to the uniform distribution is the entropy that is missing.
TYPED_TEST(VmfTest, EntropyAndDivergenceFromUniform) {
  using T = TypeParam;
  WorstError<T> worst("vmf_entropy", 8);
  for (double m : {2.0, 3.0, 10.0, 100.0, 1000.0, 1e6}) {
    for (double share : {0.0, 0.01, 0.5, 3.0, 100.0}) {
      const double kappa = share * m;
      const double want =
          -vmf_log_normalizer(m, 0.0) - vmf_kl(m, kappa, 0.0, 1.0);
      worst.add_scaled(vmf_entropy(static_cast<T>(m), static_cast<T>(kappa)),
                       want, std::max(std::fabs(want), m), [&] {
                         return "m=" + std::to_string(m) +
                                " kappa=" + std::to_string(kappa);
                       });
    }
  }
  worst.verify();
}

TYPED_TEST(VmfTest, ConcentrationPutsTheModeOfTheCosineThere) {
  using T = TypeParam;
  for (double m : {4.0, 13.0, 784.0, 1e5}) {
    for (double tolerance : {1e-4, 1e-2, 0.1, 0.5}) {
      const double kappa = static_cast<double>(vmf_concentration_for_cosine(
          static_cast<T>(m), static_cast<T>(tolerance)));
      // exp(kappa w) (1 - w^2)^{(m-3)/2} has slope 0 at w.
      const double w = 1 - static_cast<double>(static_cast<T>(tolerance));
      EXPECT_NEAR(kappa * (1 - w * w) / ((m - 3) * w), 1,
                  16 * static_cast<double>(std::numeric_limits<T>::epsilon()) /
                      tolerance);
    }
  }
  EXPECT_EQ(vmf_concentration_for_cosine(T(2), T(0.5)),
            vmf_concentration_for_cosine(T(4), T(0.5)));
  EXPECT_EQ(vmf_concentration_for_cosine(T(10), T(1)), T(0));
}

TYPED_TEST(VmfTest, LimitsOfTheDomain) {
  using T = TypeParam;
  const T huge = detail::kMaxBesselArgument<T>;
  EXPECT_EQ(vmf_mean_cosine_over_kappa(T(10), T(0)), T(0.1));
  EXPECT_EQ(vmf_cosine_variance_derivative(T(10), T(0)), T(0));
  EXPECT_EQ(vmf_one_minus_mean_cosine(T(10), T(0)), T(1));
  EXPECT_GT(vmf_one_minus_mean_cosine(T(10), huge), T(0));
  EXPECT_GT(vmf_cosine_variance(T(10), huge), T(0));
  EXPECT_TRUE(std::isfinite(vmf_kl(T(10), huge, T(0), T(-1))));
  EXPECT_TRUE(std::isfinite(vmf_kl(T(10), T(0), huge, T(-1))));
  EXPECT_TRUE(std::isfinite(vmf_entropy(huge, huge)));
}

TYPED_TEST(VmfTest, RejectsWhatIsOutsideTheDomain) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  using Function = T (*)(T, T);
  const std::pair<Function, std::string> functions[] = {
      {vmf_mean_cosine<T>, "vmf_mean_cosine"},
      {vmf_one_minus_mean_cosine<T>, "vmf_one_minus_mean_cosine"},
      {vmf_mean_cosine_over_kappa<T>, "vmf_mean_cosine_over_kappa"},
      {vmf_cosine_variance<T>, "vmf_cosine_variance"},
      {vmf_cosine_variance_derivative<T>, "vmf_cosine_variance_derivative"},
      {vmf_log_partition<T>, "vmf_log_partition"},
      {vmf_log_normalizer<T>, "vmf_log_normalizer"},
      {vmf_entropy<T>, "vmf_entropy"}};
  for (const auto& function : functions) {
    const Function call = function.first;
    const std::string start = function.second + ": needs a dimension m >= 2";
    for (T kappa : {T(-0.25), nan, infinity}) {
      expect_error<DomainError>([&] { call(T(3), kappa); }, start);
    }
    for (T m : {T(1), nan, infinity}) {
      expect_error<DomainError>([&] { call(m, T(3)); }, start);
    }
    expect_error<DomainError>([&] { call(T(3), T(-0.25)); }, "kappa = -0.25");
  }
}

TYPED_TEST(VmfTest, RejectsBadArgumentsOfTheDivergence) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (T bad : {T(-1), nan}) {
    expect_error<DomainError>([&] { vmf_kl(T(3), bad, T(1), T(1)); },
                              "vmf_kl: needs");
    expect_error<DomainError>([&] { vmf_kl(T(3), T(1), bad, T(1)); },
                              "kappa_p = ");
    expect_error<DomainError>([&] { vmf_kl(bad, T(1), T(1), T(1)); },
                              "vmf_kl: needs");
    expect_error<DomainError>([&] { vmf_kl_gradient(T(3), bad, T(1), T(1)); },
                              "vmf_kl_gradient: needs");
    expect_error<DomainError>([&] { vmf_kl_gradient(T(3), T(1), bad, T(1)); },
                              "kappa_p = ");
  }
  for (T cosine : {T(1.5), T(-1.5), nan}) {
    expect_error<DomainError>([&] { vmf_kl(T(3), T(1), T(1), cosine); },
                              "the cosine must be in [-1, 1]");
    expect_error<DomainError>(
        [&] { vmf_kl_gradient(T(3), T(1), T(1), cosine); },
        "the cosine must be in [-1, 1]");
  }
  for (T tolerance : {T(0), T(1.5), nan}) {
    expect_error<DomainError>(
        [&] { vmf_concentration_for_cosine(T(3), tolerance); },
        "the tolerance must be in (0, 1]");
  }
  expect_error<DomainError>([] { vmf_concentration_for_cosine(T(1), T(0.5)); },
                            "the dimension m must be in [2");
}

}  // namespace
}  // namespace radir::math
