#include "radir/math/vmf_sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/cosine_law.h"
#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace {

namespace math = radir::math;
using math::VmfEstimator;
using radir::testing::CosineLaw;
using radir::testing::expect_error;
using radir::testing::Table;
using radir::testing::WorstError;
using Draw = math::VmfCosineDraw<double>;
using Law = math::VmfCosine<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

constexpr std::array<VmfEstimator, 4> kEstimators = {
    VmfEstimator::Rejection, VmfEstimator::ClosedForm0,
    VmfEstimator::ClosedForm1, VmfEstimator::Implicit};

const char* name(VmfEstimator estimator) {
  constexpr const char* kNames[] = {"rejection", "u0", "u1", "implicit"};
  return kNames[static_cast<int>(estimator)];
}

/// kappa from 0 to far beyond m.
const std::vector<double>& concentration_ratios() {
  static const std::vector<double> ratios = {
      0, 1e-6, 1e-3, 0.05, 0.3, 0.7, 1.5, 2.7, 4, 7, 15, 60, 900, 1e5, 1e8};
  return ratios;
}

std::string describe_law(double m, double kappa) {
  return "m=" + std::to_string(m) + " kappa=" + std::to_string(kappa);
}

TEST(VmfSampling, ProposalConstantsAndAcceptanceMatchTheTable) {
  const Table table("vmf_acceptance");
  WorstError<double> peak("VmfCosine peak x0", 2);
  WorstError<double> one_minus("VmfCosine one_minus_peak", 3);
  WorstError<double> s("VmfCosine s", 2);
  WorstError<double> rate("vmf_acceptance_rate", 20);
  WorstError<float> rate_float("vmf_acceptance_rate", 1);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const double m = table.number(i, "m");
    const double kappa = table.number(i, "kappa");
    const double x0 = table.number(i, "x0");
    const Law law = Law::make(m, kappa);
    peak.add(law.peak, x0, describe);
    // 1 - x0^2 = (m-1) x0/kappa, without subtraction.
    one_minus.add(law.one_minus_peak, (m - 1) * x0 / kappa / (1 + x0),
                  describe);
    s.add(1 / law.inverse_s, table.number(i, "s"), describe);
    const double want = table.number(i, "accept_rate");
    rate.add(math::vmf_acceptance_rate(m, kappa), want, describe);
    rate_float.add(math::vmf_acceptance_rate(static_cast<float>(m),
                                             static_cast<float>(kappa)),
                   want, describe);
  }
  peak.verify();
  one_minus.verify();
  s.verify();
  rate.verify();
  rate_float.verify();
}

TEST(VmfSampling, VelocitiesMatchTheTable) {
  const Table table("vmf_implicit");
  WorstError<double> implicit("implicit dw/dkappa, 24 points", 1e-12 / kEps);
  WorstError<double> coarse("implicit dw/dkappa, 16 points", 4e-7 / kEps);
  WorstError<double> series("default dw/dkappa, m < 30", 1e-7 / kEps);
  WorstError<float> series_float("default dw/dkappa, m < 30", 4);
  WorstError<double> closed("default dw/dkappa m^2, m >= 30", 0.5 / kEps);
  WorstError<double> rejection("rejection dw/dkappa", 3);
  WorstError<double> correction("rejection c", 1e-11 / kEps);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const double m = table.number(i, "m");
    const double kappa = table.number(i, "kappa");
    const double w = table.number(i, "omega");
    const Law law = Law::make(m, kappa);
    const Draw draw = Draw::at(w);
    const double want = table.number(i, "domega_dkappa_implicit");
    const auto speed = [&](VmfEstimator e) {
      return draw.sine_squared * law.velocity(e, w);
    };
    implicit.add(speed(VmfEstimator::Implicit), want, describe);
    coarse.add(draw.sine_squared * law.implicit.velocity<16>(w), want,
               describe);
    const double got = draw.sine_squared * law.velocity(w);
    if (m < 30) {
      series.add(got, want, describe);
      const auto law_float = math::VmfCosine<float>::make(m, kappa);
      series_float.add(law_float.velocity(static_cast<float>(w)),
                       want / draw.sine_squared, describe);
    } else {
      closed.add_scaled(got, want, want / (m * m), describe);
    }
    rejection.add(speed(VmfEstimator::Rejection),
                  table.number(i, "domega_dkappa_rejection"), describe);
    const double c = table.number(i, "correction_coeff_rejection");
    correction.add(law.correction(VmfEstimator::Rejection, draw), c, describe);
  }
  implicit.verify();
  coarse.verify();
  series.verify();
  series_float.verify();
  closed.verify();
  rejection.verify();
  correction.verify();
}

/// A function of the cosine and its derivative.
struct TestFunction {
  std::function<double(double)> value, derivative;
};

const std::map<std::string, TestFunction>& test_functions() {
  static const std::map<std::string, TestFunction> all = {
      {"omega", {[](double w) { return w; }, [](double) { return 1.0; }}},
      {"omega^2",
       {[](double w) { return w * w; }, [](double w) { return 2 * w; }}},
      {"exp(1*omega)",
       {[](double w) { return std::exp(w); },
        [](double w) { return std::exp(w); }}},
      {"exp(-3*omega)",
       {[](double w) { return std::exp(-3 * w); },
        [](double w) { return -3 * std::exp(-3 * w); }}},
      {"tanh(3*omega)",
       {[](double w) { return std::tanh(3 * w); },
        [](double w) { return 3 / std::pow(std::cosh(3 * w), 2); }}},
      {"log(1.5-omega)",
       {[](double w) { return std::log(1.5 - w); },
        [](double w) { return -1 / (1.5 - w); }}},
  };
  return all;
}

TEST(VmfSampling, EveryEstimatorIsUnbiased) {
  const Table table("vmf_reparam_gradient");
  for (const VmfEstimator estimator : kEstimators) {
    WorstError<double> worst(std::string("d/dkappa E[f], ") + name(estimator),
                             1e-9 / kEps);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double m = table.number(i, "m");
      const double kappa = table.number(i, "kappa");
      const TestFunction& f = test_functions().at(table.text(i, "f"));
      const Law law = Law::make(m, kappa);
      const double mean = table.number(i, "E_f");
      const double got =
          CosineLaw(m, kappa).expectation([&](double w, double one_minus) {
            const Draw draw = {w, one_minus, one_minus * (1 + w)};
            // A constant in f changes nothing, since E[c] = 0; without it less
            // is lost to rounding.
            return f.derivative(w) * draw.sine_squared *
                       law.velocity(estimator, w) +
                   (f.value(w) - mean) * law.correction(estimator, draw);
          });
      worst.add(got, table.number(i, "dE_dkappa"),
                [&] { return table.describe(i); });
    }
    worst.verify();
  }
}

TEST(VmfSampling, DefaultVelocityNeedsNoCorrection) {
  const Table table("vmf_reparam_gradient");
  WorstError<double> exact("d/dkappa E[f], default, m < 30", 1e-11 / kEps);
  WorstError<double> closed("m^2 bias of d/dkappa E[f], default, m >= 30",
                            0.5 / kEps);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const double m = table.number(i, "m");
    const double kappa = table.number(i, "kappa");
    const TestFunction& f = test_functions().at(table.text(i, "f"));
    const Law law = Law::make(m, kappa);
    const double got =
        CosineLaw(m, kappa).expectation([&](double w, double one_minus) {
          return f.derivative(w) * one_minus * (1 + w) * law.velocity(w);
        });
    const double want = table.number(i, "dE_dkappa");
    if (m < 30) {
      exact.add(got, want, describe);
    } else {
      closed.add_scaled(got, want, std::fabs(want) / (m * m), describe);
    }
  }
  exact.verify();
  closed.verify();
}

TEST(VmfSampling, CorrectionsHaveMeanZero) {
  WorstError<double> worst("E[c], absolute", 16);
  for (const double m : {2.0, 3.0, 7.0, 40.0, 1000.0}) {
    for (const double ratio : {0.0, 0.1, 1.0, 10.0, 300.0}) {
      const double kappa = ratio * m;
      const Law law = Law::make(m, kappa);
      const CosineLaw cosine(m, kappa);
      for (const VmfEstimator estimator : kEstimators) {
        const double mean = cosine.expectation([&](double w, double one_minus) {
          return law.correction(estimator, {w, one_minus, one_minus * (1 + w)});
        });
        worst.add_scaled(mean, 0, 1, [&] {
          return describe_law(m, kappa) + " " + name(estimator);
        });
      }
    }
  }
  worst.verify();
}

TEST(VmfSampling, SeriesAgreesWithQuadrature) {
  WorstError<double> worst("series against quadrature", 1e-7 / kEps);
  WorstError<float> worst_float("series against quadrature", 4);
  for (const double m : {2.0, 3.0, 4.0, 5.0, 8.0, 13.0, 14.5, 20.0, 29.0}) {
    for (const double ratio : concentration_ratios()) {
      const double kappa = ratio * m;
      const Law law = Law::make(m, kappa);
      const auto law_float = math::VmfCosine<float>::make(m, kappa);
      for (int i = -20; i <= 20; ++i) {
        const double w = std::clamp(
            law.series.center + i / (20.0 * law.series.inverse_radius), -1.0,
            1.0);
        const auto describe = [&] {
          return describe_law(m, kappa) + " w=" + std::to_string(w);
        };
        const double want = law.velocity(VmfEstimator::Implicit, w);
        worst.add(law.velocity(w), want, describe);
        worst_float.add(law_float.velocity(static_cast<float>(w)), want,
                        describe);
      }
    }
  }
  worst.verify();
  worst_float.verify();
}

TEST(VmfSampling, VelocityAtTheEndsAndWithoutConcentration) {
  for (const double m : {2.0, 3.0, 6.0, 29.0, 30.0, 500.0}) {
    const Law uniform = Law::make(m, 0.0);
    for (const double w : {-1.0, -0.4, 0.0, 0.9, 1.0}) {
      for (const VmfEstimator estimator : kEstimators) {
        EXPECT_NEAR(uniform.velocity(estimator, w) * (m - 1), 1, 1e-11)
            << name(estimator) << " m=" << m << " w=" << w;
      }
      EXPECT_NEAR(uniform.velocity(w) * (m - 1), 1, 1e-9) << m << " " << w;
    }
    const double kappa = 2 * m;
    const Law law = Law::make(m, kappa);
    const double mean = math::vmf_mean_cosine(m, kappa);
    EXPECT_NEAR(law.velocity(VmfEstimator::Implicit, 1) * (m - 1), 1 - mean,
                1e-14);
    EXPECT_NEAR(law.velocity(VmfEstimator::Implicit, -1) * (m - 1), 1 + mean,
                1e-14);
  }
}

TEST(VmfSampling, ExponentialOfALinearFormThroughTheWholeProduct) {
  // x = w mu + sqrt(1-w^2) xi, f = exp(a.x): expectations over w and over the
  // component of xi along the part of a orthogonal to mu, density proportional
  // to (1 - z^2)^{(m-4)/2} (two points for m = 2).
  const Table table("vmf_exp_linear_gradient");
  WorstError<double> value("E[exp(a.x)]", 1e-12 / kEps);
  WorstError<double> kappa_bar("kappabar of exp(a.x)", 1e-9 / kEps);
  WorstError<double> mu_bar("mubar of exp(a.x)", 1e-11 / kEps);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const double m = table.number(i, "m");
    const double kappa = table.number(i, "kappa");
    const double along = table.number(i, "a_par");
    const double across = table.number(i, "a_perp");
    const Law law = Law::make(m, kappa);
    const CosineLaw cosine(m, kappa);
    const CosineLaw tangent(std::max(m - 1, 2.0), 0.0);
    // E[f], E[f b | w] with b = x.e, e the unit vector along the orthogonal
    // part of a.
    const auto given_cosine = [&](double w, double sine) {
      const auto f = [&](double b) { return std::exp(along * w + across * b); };
      if (m == 2) {
        return std::array<double, 2>{(f(sine) + f(-sine)) / 2,
                                     sine * (f(sine) - f(-sine)) / 2};
      }
      return std::array<double, 2>{
          tangent.expectation([&](double z, double) { return f(sine * z); }),
          tangent.expectation(
              [&](double z, double) { return sine * z * f(sine * z); })};
    };
    const auto expectation = [&](auto function) {
      return cosine.expectation([&](double w, double one_minus) {
        const auto mean = given_cosine(w, std::sqrt(one_minus * (1 + w)));
        return function(w, mean[0], mean[1]);
      });
    };
    value.add(expectation([](double, double f, double) { return f; }),
              table.number(i, "E_exp"), describe);
    kappa_bar.add(expectation([&](double w, double f, double fb) {
                    // u (mu.xbar - w x.xbar) with xbar = f a
                    return law.velocity(VmfEstimator::Implicit, w) *
                           (along * f - w * (along * w * f + across * fb));
                  }),
                  table.number(i, "dE_dkappa"), describe);
    mu_bar.add(expectation([&](double w, double f, double fb) {
                 // (w xbar - (mu.xbar) x).e
                 return w * across * f - along * fb;
               }),
               table.number(i, "dE_dmu_perp"), describe);
  }
  value.verify();
  kappa_bar.verify();
  mu_bar.verify();
}

TEST(VmfSampling, ProposalsKeepSmallGaps) {
  WorstError<float> gap("one_minus of a proposal", 8);
  WorstError<float> sine("sine_squared of a proposal", 8);
  for (const double m : {2.0, 10.0, 1000.0}) {
    for (const double ratio : concentration_ratios()) {
      const double kappa = ratio * m;
      const auto law_float = math::VmfCosine<float>::make(m, kappa);
      const long double s = std::hypot(2 * static_cast<long double>(kappa),
                                       static_cast<long double>(m - 1));
      const long double x0 = 2 * static_cast<long double>(kappa) / (m - 1 + s);
      for (const float t : {-0.9375f, -0.5f, 0.0f, 0.25f, 0.75f}) {
        const auto describe = [&] {
          return describe_law(m, kappa) + " t=" + std::to_string(t);
        };
        const auto got = law_float.propose(t).draw;
        const long double w = (t + x0) / (1 + x0 * t);
        const long double width =
            2 * (m - 1) / (m - 1 + s + 2 * static_cast<long double>(kappa));
        const long double one_minus = width * (1 - t) / (1 + x0 * t);
        gap.add(got.one_minus, static_cast<double>(one_minus), describe);
        sine.add(got.sine_squared, static_cast<double>(one_minus * (1 + w)),
                 describe);
        EXPECT_NEAR(got.cosine, static_cast<double>(w), 4e-7) << describe();
        EXPECT_LE(got.cosine, 1.0f) << describe();
      }
    }
  }
  gap.verify();
  sine.verify();
}

TEST(VmfSampling, BothWaysToProposeAgree) {
  const Law law = Law::make(2, 50.0);
  for (const double normal : {-3.0, -0.5, 0.25, 4.0}) {
    for (const double chi_square : {0.01, 1.0, 30.0}) {
      const double t = normal / std::hypot(normal, std::sqrt(chi_square));
      const auto direct = law.propose(t);
      const auto stable = law.propose(normal, chi_square);
      EXPECT_NEAR(stable.draw.cosine, direct.draw.cosine, 1e-12);
      EXPECT_NEAR(stable.draw.sine_squared, direct.draw.sine_squared, 1e-12);
      EXPECT_NEAR(stable.cost, direct.cost, 1e-9 * (1 + direct.cost));
    }
  }
  // Where 1 + t is far below the rounding of t the stable one keeps its digits.
  const auto tail = Law::make(2, 0.0).propose(-1.0, 1e-20);
  EXPECT_NEAR(tail.draw.sine_squared, 1e-20, 1e-34);
}

/// Kolmogorov's statistic sqrt(n) sup |F_n - F|, over 2000 angles.
double kolmogorov(std::vector<double> samples, double m, double kappa) {
  std::sort(samples.begin(), samples.end());
  const std::vector<double> cdf = radir::testing::cosine_cdf(m, kappa, 2000);
  const auto n = static_cast<double>(samples.size());
  double worst = 0;
  for (std::size_t i = 0; i < cdf.size(); ++i) {
    const double w = std::cos(static_cast<double>(i) * std::acos(-1.0) / 2000);
    const auto count =
        std::upper_bound(samples.begin(), samples.end(), w) - samples.begin();
    worst =
        std::fmax(worst, std::fabs(static_cast<double>(count) / n - cdf[i]));
  }
  return std::sqrt(n) * worst;
}

TEST(VmfSampling, AcceptedProposalsFollowTheLaw) {
  std::mt19937_64 engine(20240607);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  for (const double m : {2.0, 4.0, 25.0, 300.0}) {
    std::gamma_distribution<double> half_chi_square((m - 1) / 2);
    for (const double kappa : {0.5, 5.0, 80.0, 4000.0}) {
      const Law law = Law::make(m, kappa);
      std::vector<double> samples;
      int proposals = 0;
      while (samples.size() < 20000) {
        const double g = normal(engine);
        const auto proposal = law.propose(g, 2 * half_chi_square(engine));
        ++proposals;
        if (law.accepts(proposal, exponential(engine))) {
          samples.push_back(proposal.draw.cosine);
        }
      }
      // P(statistic > 2.7) = 9.3e-7.
      EXPECT_LT(kolmogorov(samples, m, kappa), 2.7) << describe_law(m, kappa);
      const double rate = math::vmf_acceptance_rate(m, kappa);
      const double error = std::sqrt(rate * (1 - rate) / proposals);
      EXPECT_NEAR(20000.0 / proposals, rate, 5 * error)
          << describe_law(m, kappa);
    }
  }
}

template <typename T>
class VmfSamplingInThree : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(VmfSamplingInThree, Types);

TYPED_TEST(VmfSamplingInThree, InvertsTheDistributionFunction) {
  using T = TypeParam;
  WorstError<T> worst("1 - w of vmf_cosine_in_three", 6);
  for (const double kappa : {0.0, 0.0009765625, 0.5, 3.0, 40.0, 300.0}) {
    for (const double uniform :
         {0.0009765625, 0.25, 0.4375, 0.5, 0.5625, 0.75, 0.9990234375}) {
      // U + (1 - U) e^{-2k} = e^{-k (1-w)}, in extended precision.
      const long double k = kappa;
      const long double u = uniform;
      const long double want =
          kappa == 0 ? 2 * (1 - u)
                     : -std::log1p((1 - u) * std::expm1(-2 * k)) / k;
      const auto draw = math::vmf_cosine_in_three(static_cast<T>(uniform),
                                                  static_cast<T>(kappa));
      worst.add(draw.one_minus, static_cast<double>(want), [&] {
        return "kappa=" + std::to_string(kappa) +
               " uniform=" + std::to_string(uniform);
      });
      EXPECT_EQ(draw.cosine, 1 - draw.one_minus);
    }
    EXPECT_NEAR(math::vmf_cosine_in_three(T(0), static_cast<T>(kappa)).cosine,
                -1, 4 * std::numeric_limits<T>::epsilon());
    EXPECT_EQ(math::vmf_cosine_in_three(T(1), static_cast<T>(kappa)).cosine, 1);
  }
  EXPECT_EQ(math::vmf_cosine_in_three(T(0), T(1e6)).cosine, -1);
  worst.verify();
}

TYPED_TEST(VmfSamplingInThree, RejectsArgumentsOutsideTheDomain) {
  using T = TypeParam;
  using radir::DomainError;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const char* need =
      "vmf_cosine_in_three: need 0 <= uniform <= 1 and finite kappa >= 0";
  for (const T bad : {T(-0.5), T(1.5), nan}) {
    expect_error<DomainError>([&] { math::vmf_cosine_in_three(bad, T(1)); },
                              need);
  }
  for (const T bad : {T(-1), nan}) {
    expect_error<DomainError>([&] { math::vmf_cosine_in_three(T(0.5), bad); },
                              need);
    expect_error<DomainError>([&] { math::vmf_acceptance_rate(T(3), bad); },
                              "vmf_acceptance_rate: needs a dimension m >= 2");
    expect_error<DomainError>([&] { math::vmf_acceptance_rate(bad, T(1)); },
                              "vmf_acceptance_rate: needs a dimension m >= 2");
    expect_error<DomainError>(
        [&] { math::VmfCosine<T>::make(3, static_cast<double>(bad)); },
        "VmfCosine::make: needs a dimension m >= 2");
    expect_error<DomainError>(
        [&] { math::VmfCosine<T>::make(static_cast<double>(bad), 3); },
        "VmfCosine::make: needs a dimension m >= 2");
  }
  expect_error<DomainError>([&] { math::VmfCosine<T>::make(1.5, 3); },
                            "m = 1.5, kappa = 3");
}

TEST(VmfSampling, GaussLegendreRulesMatchTheTable) {
  const Table table("gauss_legendre");
  WorstError<double> worst("Gauss-Legendre nodes and weights", 1);
  const auto check = [&](auto rule, int points, std::size_t row) {
    const int i = static_cast<int>(table.number(row, "i"));
    if (static_cast<int>(table.number(row, "n")) != points || i >= points / 2) {
      return;
    }
    const auto describe = [&] { return table.describe(row); };
    worst.add(rule.node(i), table.number(row, "node"), describe);
    worst.add(rule.weight(i), table.number(row, "weight"), describe);
  };
  for (std::size_t row = 0; row < table.size(); ++row) {
    check(math::detail::GaussLegendre<10>(), 10, row);
    check(math::detail::GaussLegendre<16>(), 16, row);
    check(math::detail::GaussLegendre<24>(), 24, row);
  }
  worst.verify();
}

}  // namespace
