#include "likelihood/compressed_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace radir::likelihood {
namespace {

using Accuracy = CompressedMixture::Accuracy;

/// Draws whose locations reach `spread` scales from 0 and whose scales differ
/// by a factor of exp(2 of_scale).
PredictiveMixture mixture(double spread, double of_scale, double degrees,
                          int count = 200) {
  std::vector<MixtureComponent> components;
  for (int i = 0; i < count; ++i) {
    const double t = std::sin(7.0 * i * i + i);
    const double s = std::sin(3.0 * i * i + 2 * i);
    components.push_back(
        {5 + 2 * spread * t * t * t, 2 * std::exp(of_scale * s), degrees});
  }
  return PredictiveMixture(std::move(components));
}

std::optional<CompressedMixture> compressed(const PredictiveMixture& mixture,
                                            Accuracy accuracy) {
  const auto columns = columns_of(mixture);
  return columns ? CompressedMixture::of(*columns, accuracy) : std::nullopt;
}

TEST(CompressedMixture, IsTheMixture) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double spread : {0.0, 0.01, 0.1, 0.5, 1.0, 1.4}) {
    for (double of_scale : {0.0, 0.01, 0.1}) {
      for (double degrees : {infinity, 1e4, 40.0}) {
        const PredictiveMixture p = mixture(spread, of_scale, degrees);
        const auto fine = compressed(p, Accuracy::Fine);
        const auto rough = compressed(p, Accuracy::Rough);
        ASSERT_TRUE(rough) << spread << " " << of_scale;
        if (!fine) continue;  // many points in both directions
        for (double x : {-3.0, 0.0, 3.0, 4.9, 7.0, 9.0, 12.0}) {
          EXPECT_NEAR(fine->cdf(x), p.cdf(x), 1e-8) << spread << " " << x;
          EXPECT_NEAR(rough->cdf(x), p.cdf(x), 1e-5) << spread << " " << x;
          EXPECT_NEAR(fine->density(x), std::exp(p.log_density(x)), 1e-8);
          for (double width : {1e-6, 0.5, 3.0}) {
            EXPECT_NEAR(fine->interval_density(x, width),
                        std::exp(p.log_interval_density(x, width)), 1e-8)
                << spread << " " << x << " " << width;
          }
        }
        EXPECT_NEAR(fine->mean(), p.mean(), 1e-14 * std::abs(p.mean()));
        EXPECT_NEAR(fine->standard_deviation(), p.standard_deviation(), 1e-7);
        for (double q : {0.025, 0.1, 0.5, 0.75, 0.975}) {
          EXPECT_NEAR(fine->quantile(QuantileLevel(q)), p.quantile(q), 2e-7);
        }
      }
    }
  }
}

// All pairs, of which the other takes 64 partners for each draw.
TEST(CompressedMixture, HasItsCrps) {
  for (double spread : {0.1, 1.0, 2.0}) {
    for (int count : {64, 200}) {
      const PredictiveMixture p = mixture(spread, 0.05, 1e4, count);
      const auto rough = compressed(p, Accuracy::Rough);
      if (!rough) continue;
      for (double x : {0.0, 5.0, 7.0}) {
        EXPECT_NEAR(rough->crps(x), p.crps(x), count == 64 ? 2e-5 : 5e-3);
      }
    }
  }
}

TEST(CompressedMixture, RefusesWhatItCannotHold) {
  EXPECT_FALSE(compressed(mixture(3, 0, 1e4), Accuracy::Rough));
  EXPECT_FALSE(compressed(mixture(0.1, 2, 1e4), Accuracy::Rough));
  EXPECT_FALSE(compressed(mixture(1, 0, 1e4, 9), Accuracy::Fine));
  EXPECT_FALSE(compressed(PredictiveMixture({{0, 1, 5}, {0, 1, 6}, {0, 1, 7}}),
                          Accuracy::Rough));
}

}  // namespace
}  // namespace radir::likelihood
