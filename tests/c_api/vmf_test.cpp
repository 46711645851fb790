#include "radir/math/vmf.h"

#include <cmath>
#include <limits>

#include "c_api/support.h"

namespace radir::c_api {
namespace {

TEST(CVmf, FunctionsOnArrays) {
  const std::vector<double> kappa = {0, 0.5, 3, 200};
  const std::vector<double> other = {1, 1, 1, 1};
  const std::vector<double> cosine = {1, 0.5, 0, -1};
  std::vector<double> mean(4), variance(4), log_c(4), entropy(4), kl(4);
  expect_status(radir_vmf_mean_cosine(5, kappa.data(), 4, mean.data()),
                RADIR_OK);
  expect_status(radir_vmf_cosine_variance(5, kappa.data(), 4, variance.data()),
                RADIR_OK);
  expect_status(radir_vmf_log_normalizer(5, kappa.data(), 4, log_c.data()),
                RADIR_OK);
  expect_status(radir_vmf_entropy(5, kappa.data(), 4, entropy.data()),
                RADIR_OK);
  expect_status(
      radir_vmf_kl(5, kappa.data(), other.data(), cosine.data(), 4, kl.data()),
      RADIR_OK);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mean[i], math::vmf_mean_cosine(5.0, kappa[i]), 1e-14);
    EXPECT_NEAR(variance[i], math::vmf_cosine_variance(5.0, kappa[i]), 1e-14);
    EXPECT_NEAR(log_c[i], math::vmf_log_normalizer(5.0, kappa[i]), 1e-12);
    EXPECT_NEAR(entropy[i], math::vmf_entropy(5.0, kappa[i]), 1e-12);
    EXPECT_NEAR(kl[i], math::vmf_kl(5.0, kappa[i], other[i], cosine[i]), 1e-12);
  }
  const double z = 2;
  double ratio = 0, log_i = 0;
  expect_status(radir_bessel_ratio(1, &z, 1, &ratio), RADIR_OK);
  EXPECT_NEAR(ratio, std::cyl_bessel_i(1, 2) / std::cyl_bessel_i(0, 2), 1e-12);
  expect_status(radir_log_bessel_i(0, &z, 1, &log_i), RADIR_OK);
  EXPECT_NEAR(log_i, std::log(std::cyl_bessel_i(0, 2)), 1e-12);
}

TEST(CVmf, ErrorsInsteadOfNonsense) {
  const double bad = -1, nan = std::numeric_limits<double>::quiet_NaN();
  double result = 0;
  expect_status(radir_vmf_entropy(5, &bad, 1, &result), RADIR_DOMAIN_ERROR);
  expect_status(radir_vmf_mean_cosine(5, &nan, 1, &result), RADIR_DOMAIN_ERROR,
                "kappa[0]");
  expect_status(radir_vmf_mean_cosine(1, &result, 1, &result),
                RADIR_DOMAIN_ERROR);
  expect_status(radir_vmf_mean_cosine(5, nullptr, 1, &result),
                RADIR_ARGUMENT_ERROR, "null");
  expect_status(radir_vmf_mean_cosine(5, nullptr, 0, nullptr), RADIR_OK);
  expect_status(radir_vmf_mean_cosine(5, &bad, -3, &result),
                RADIR_ARGUMENT_ERROR, "-3");
}

TEST(CVmf, SamplesAroundTheMeanDirection) {
  constexpr std::int64_t kCount = 2000;
  const double direction[] = {0, 0.6, 0.8};
  const radir_random_stream stream = {5, 0, 0};
  std::vector<double> vectors(3 * kCount), again(3 * kCount);
  expect_status(
      radir_vmf_sample(&stream, 3, direction, 10, kCount, vectors.data()),
      RADIR_OK);
  double mean = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double* x = vectors.data() + 3 * i;
    EXPECT_NEAR(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1, 1e-12);
    mean += (0.6 * x[1] + 0.8 * x[2]) / kCount;
  }
  EXPECT_NEAR(mean, math::vmf_mean_cosine(3.0, 10.0), 0.01);
  radir_vmf_sample(&stream, 3, direction, 10, kCount, again.data());
  EXPECT_EQ(vectors, again);
  const double longer[] = {0, 1, 1};
  expect_status(radir_vmf_sample(&stream, 3, longer, 10, 1, again.data()),
                RADIR_DOMAIN_ERROR, "length 1");
  expect_status(radir_vmf_sample(&stream, 1, direction, 10, 1, again.data()),
                RADIR_ARGUMENT_ERROR, "two dimensions");
}

}  // namespace
}  // namespace radir::c_api
