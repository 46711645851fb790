#include "radir/kernels/math_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/each_isa.h"
#include "kernels/math_array_isa.h"
#include "radir/math/article.h"
#include "radir/math/vmf.h"
#include "support/array_tables.h"
#include "support/expect_error.h"

namespace radir::kernels {
namespace {

using testing::ArrayFunctions;
using testing::expect_error;
using testing::for_each_isa;
using testing::WorstError;

template <typename T>
class MathArrayTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MathArrayTest, Types);

Isa isa_under_test;

template <typename T>
const MathArrayFunctions<T>& functions() {
  return math_array_table_of(isa_under_test).functions<T>();
}

TYPED_TEST(MathArrayTest, EveryInstructionSetMatchesTheTables) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    isa_under_test = isa;
    ArrayFunctions<T> all;
    all.bessel_ratio = [](T nu, const T* z, std::int64_t count, T* out) {
      functions<T>().ratio(nu - 1, z, count, out);
    };
    all.log_bessel_i = [](T nu, const T* z, std::int64_t count, T* out) {
      functions<T>().log_bessel(nu, z, count, out);
    };
    all.vmf_cosine_variance = [](T m, const T* k, std::int64_t count, T* out) {
      functions<T>().cosine_variance(m / 2 - 1, k, count, out);
    };
    all.vmf_log_normalizer = [](T m, const T* k, std::int64_t count, T* out) {
      functions<T>().log_normalizer(m / 2 - 1, k, count, out);
    };
    all.vmf_kl = [](T m, const T* q, const T* p, const T* cosine,
                    std::int64_t count, T* out) {
      functions<T>().vmf_kl(static_cast<double>(m) / 2 - 1, q, p, cosine, count,
                            out);
    };
    testing::verify_array_functions<T>(all);
  });
}

TYPED_TEST(MathArrayTest, PublicFunctionsPassTheirOrderOn) {
  using T = TypeParam;
  const std::vector<T> kappa = {T(0.5), T(7), T(300)};
  const std::vector<T> cosine = {T(1), T(0.25), T(-1)};
  const std::vector<T> prior = {T(2), T(7), T(10)};
  const auto count = static_cast<std::int64_t>(kappa.size());
  std::vector<T> ratio(3), log_i(3), mean(3), variance(3), log_c(3), kl(3),
      average(3);
  dispatched_bessel_ratio(T(5), kappa.data(), count, ratio.data());
  dispatched_log_bessel_i(T(5), kappa.data(), count, log_i.data());
  dispatched_vmf_mean_cosine(T(10), kappa.data(), count, mean.data());
  dispatched_vmf_cosine_variance(T(10), kappa.data(), count, variance.data());
  dispatched_vmf_log_normalizer(T(10), kappa.data(), count, log_c.data());
  dispatched_vmf_kl(T(10), kappa.data(), prior.data(), cosine.data(), count,
                    kl.data());
  article::dispatched_ratio_average_theorem5(T(5), kappa.data(), count,
                                             average.data());
  WorstError<T> worst("public array functions", 32);
  for (std::size_t i = 0; i < kappa.size(); ++i) {
    const double k = static_cast<double>(kappa[i]);
    const auto describe = [&] { return "kappa=" + std::to_string(k); };
    worst.add(ratio[i], math::bessel_ratio(5.0, k), describe);
    worst.add(log_i[i], math::log_bessel_i(5.0, k), describe);
    worst.add(mean[i], math::vmf_mean_cosine(10.0, k), describe);
    worst.add(variance[i], math::vmf_cosine_variance(10.0, k), describe);
    worst.add(log_c[i], math::vmf_log_normalizer(10.0, k), describe);
    worst.add(kl[i],
              math::vmf_kl(10.0, k, static_cast<double>(prior[i]),
                           static_cast<double>(cosine[i])),
              describe);
    worst.add(average[i], math::article::ratio_average_theorem5(5.0, k),
              describe);
  }
  worst.verify();
}

// A million divergences: none negative, none NaN or infinite.
TYPED_TEST(MathArrayTest, DivergencesOfAMillionPairsAreFiniteAndNotNegative) {
  using T = TypeParam;
  const std::int64_t count = 10000;
  std::vector<T> kappa_q(count), kappa_p(count), cosine(count), kl(count);
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (int call = 0; call < 100; ++call) {
    const T m = static_cast<T>(std::floor(2 * std::pow(5e6, uniform())));
    for (std::size_t i = 0; i < kappa_q.size(); ++i) {
      kappa_q[i] = static_cast<T>(1e-3 * std::pow(1e12, uniform()));
      kappa_p[i] = i % 3 == 0 ? static_cast<T>(1e-3 * std::pow(1e12, uniform()))
                              : kappa_q[i] * static_cast<T>(2 * uniform());
      if (i % 7 == 0) kappa_p[i] = kappa_q[i];
      if (i % 11 == 0) kappa_q[i] = 0;
      cosine[i] = i % 2 == 0 ? T(1) : static_cast<T>(2 * uniform() - 1);
    }
    dispatched_vmf_kl(m, kappa_q.data(), kappa_p.data(), cosine.data(), count,
                      kl.data());
    for (std::size_t i = 0; i < kl.size(); ++i) {
      ASSERT_TRUE(kl[i] >= 0 && std::isfinite(kl[i]))
          << "m=" << m << " kappa_q=" << kappa_q[i] << " kappa_p=" << kappa_p[i]
          << " cosine=" << cosine[i] << " kl=" << kl[i];
    }
  }
}

TYPED_TEST(MathArrayTest, ErrorsNameTheElement) {
  using T = TypeParam;
  std::vector<T> good(100, T(1)), bad(100, T(1)), out(100);
  bad[71] = T(-0.25);
  expect_error<DomainError>(
      [&] { dispatched_bessel_ratio(T(1), bad.data(), 100, out.data()); },
      "bessel_ratio: every element of z must be in [0");
  expect_error<DomainError>(
      [&] { dispatched_bessel_ratio(T(0.25), good.data(), 100, out.data()); },
      "every element of nu must be in [0.5");
  expect_error<DomainError>(
      [&] { dispatched_log_bessel_i(T(1), bad.data(), 100, out.data()); },
      "but z[71] is -0.25");
  expect_error<DomainError>(
      [&] { dispatched_vmf_mean_cosine(T(3), bad.data(), 100, out.data()); },
      "vmf_mean_cosine: every element of kappa");
  expect_error<DomainError>(
      [&] {
        dispatched_vmf_cosine_variance(T(3), bad.data(), 100, out.data());
      },
      "but kappa[71] is -0.25");
  expect_error<DomainError>(
      [&] { dispatched_vmf_log_normalizer(T(3), bad.data(), 100, out.data()); },
      "but kappa[71] is -0.25");
  expect_error<DomainError>(
      [&] {
        dispatched_vmf_kl(T(3), good.data(), bad.data(), good.data(), 100,
                          out.data());
      },
      "kappa_p[71] is -0.25");
  expect_error<DomainError>(
      [&] {
        article::dispatched_ratio_average_theorem5(T(1), bad.data(), 100,
                                                   out.data());
      },
      "ratio_average_theorem5: every element of z");
}

}  // namespace
}  // namespace radir::kernels
