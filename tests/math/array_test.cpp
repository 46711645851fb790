#include "radir/math/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/array_tables.h"
#include "support/expect_error.h"

namespace radir::math {
namespace {

using testing::expect_error;
using testing::WorstError;

template <typename T>
class ArrayTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ArrayTest, Types);

TYPED_TEST(ArrayTest, FunctionsMatchTheTables) {
  using T = TypeParam;
  testing::verify_array_functions<T>({bessel_ratio<T>, log_bessel_i<T>,
                                      vmf_cosine_variance<T>,
                                      vmf_log_normalizer<T>, vmf_kl<T>});
}

/// `count` numbers from `low` up, evenly in the logarithm, the first one 0.
template <typename T>
std::vector<T> arguments(std::size_t count, double low, double high) {
  std::vector<T> values(count);
  for (std::size_t i = 1; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    values[i] = static_cast<T>(low * std::pow(high / low, share));
  }
  return values;
}

// Any length, written in place, and as many terms as the order asks for: the
// values of one element, up to the errors of both.
TYPED_TEST(ArrayTest, ElementsAreThoseOfTheScalarFunctions) {
  using T = TypeParam;
  WorstError<T> mean("vmf_mean_cosine of arrays", 6);
  WorstError<T> variance("vmf_cosine_variance of arrays", 64);
  for (int m : {2, 3, 10, 47, 60, 74, 80, 98, 110, 222, 382, 10000, 1000000}) {
    const T dimension = static_cast<T>(m);
    for (std::size_t count : {1, 63, 64, 65, 300}) {
      const std::vector<T> kappa = arguments<T>(count, 1e-3, 1e6);
      std::vector<T> means = kappa, variances = kappa;
      const auto length = static_cast<std::int64_t>(count);
      vmf_mean_cosine(dimension, means.data(), length, means.data());
      vmf_cosine_variance(dimension, variances.data(), length,
                          variances.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double k = static_cast<double>(kappa[i]);
        const auto describe = [&] {
          return "m=" + std::to_string(m) + " kappa=" + std::to_string(k);
        };
        mean.add(means[i], vmf_mean_cosine<double>(m, k), describe);
        variance.add(variances[i], vmf_cosine_variance<double>(m, k), describe);
      }
    }
  }
  mean.verify();
  variance.verify();
}

TYPED_TEST(ArrayTest, LogOfTinyArguments) {
  using T = TypeParam;
  const std::vector<T> z = {0,
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::min(),
                            T(1e-25),
                            T(1e-18),
                            T(1e-10)};
  std::vector<T> result(z.size());
  WorstError<T> worst("log_bessel_i of tiny arguments", 8);
  for (T nu : {T(0), T(0.5), T(7), T(40), T(5000)}) {
    log_bessel_i(nu, z.data(), static_cast<std::int64_t>(z.size()),
                 result.data());
    EXPECT_EQ(result[0], log_bessel_i(nu, T(0)));
    for (std::size_t i = 1; i < z.size(); ++i) {
      const double want =
          log_bessel_i(static_cast<double>(nu), static_cast<double>(z[i]));
      const double radius = std::hypot(double(nu), double(z[i]));
      worst.add_scaled(
          result[i], want, std::fmax(std::fabs(want), radius), [&] {
            return "nu=" + std::to_string(nu) + " element " + std::to_string(i);
          });
    }
  }
  worst.verify();
}

TYPED_TEST(ArrayTest, NoElementsIsNoWork) {
  using T = TypeParam;
  EXPECT_NO_THROW(bessel_ratio<T>(T(2), nullptr, 0, nullptr));
  EXPECT_NO_THROW(vmf_kl<T>(T(2), nullptr, nullptr, nullptr, 0, nullptr));
}

TYPED_TEST(ArrayTest, ErrorsNameTheElement) {
  using T = TypeParam;
  std::vector<T> good(100, T(1)), bad(100, T(1)), out(100);
  bad[71] = T(-0.25);
  bad[90] = std::numeric_limits<T>::quiet_NaN();
  expect_error<DomainError>(
      [&] { bessel_ratio(T(1), bad.data(), 100, out.data()); },
      "bessel_ratio: every element of z must be in [0");
  expect_error<DomainError>(
      [&] { log_bessel_i(T(1), bad.data(), 100, out.data()); },
      "but z[71] is -0.25");
  expect_error<DomainError>(
      [&] { vmf_mean_cosine(T(3), bad.data(), 100, out.data()); },
      "vmf_mean_cosine: every element of kappa");
  expect_error<DomainError>(
      [&] { vmf_cosine_variance(T(3), bad.data(), 100, out.data()); },
      "but kappa[71] is -0.25");
  expect_error<DomainError>(
      [&] { vmf_log_normalizer(T(3), bad.data(), 100, out.data()); },
      "but kappa[71] is -0.25");
  bad[71] = 1;
  expect_error<DomainError>(
      [&] { bessel_ratio(T(1), bad.data(), 100, out.data()); },
      "but z[90] is nan");
  bad[90] = std::numeric_limits<T>::infinity();
  const auto kl = [&](T m, const std::vector<T>& q, const std::vector<T>& p,
                      const std::vector<T>& c) {
    vmf_kl(m, q.data(), p.data(), c.data(), 100, out.data());
  };
  expect_error<DomainError>([&] { kl(T(3), bad, good, good); },
                            "kappa_q[90] is inf");
  expect_error<DomainError>([&] { kl(T(3), good, bad, good); },
                            "kappa_p[90] is inf");
  expect_error<DomainError>([&] { kl(T(3), good, good, bad); },
                            "cosine[90] is inf");
  expect_error<DomainError>([&] { kl(T(1), good, good, good); },
                            "but m[0] is 1");
}

}  // namespace
}  // namespace radir::math
