#include "radir/bench/sbc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "radir/core/error.h"
#include "radir/kernels/philox.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using testing::expect_error;

/// A mean with a standard normal prior, and one observation of noise 1: the
/// posterior is normal around half of it with variance 1/2. The draws have
/// `width` times its standard deviation and are off by `shift` of them.
SbcSimulation normal_mean(std::int64_t index, double width, double shift,
                          int draws = 99) {
  kernels::PhiloxEngine random({5, 1, 0}, static_cast<std::uint32_t>(index));
  const double truth = random.normal();
  const double observed = truth + random.normal();
  SbcSimulation result;
  result.truth = {truth};
  result.draws.resize(1);
  for (int d = 0; d < draws; ++d) {
    result.draws[0].push_back(
        observed / 2 + std::sqrt(0.5) * (shift + width * random.normal()));
  }
  return result;
}

SbcQuantity ranks(double width, double shift, ThreadPool* pool = nullptr) {
  return simulation_based_calibration(
             {"mean"}, 1000, 10,
             [&](std::int64_t i) { return normal_mean(i, width, shift); }, pool)
      .front();
}

TEST(Sbc, AnExactPosteriorHasUniformRanks) {
  const SbcQuantity exact = ranks(1, 0);
  EXPECT_EQ(exact.name, "mean");
  EXPECT_EQ(std::accumulate(exact.histogram.begin(), exact.histogram.end(),
                            std::int64_t{0}),
            1000);
  EXPECT_GT(exact.p_value, 0.01);
  EXPECT_NEAR(exact.mean_rank, 0.5, 4 * std::sqrt(1.0 / 12 / 1000));
  EXPECT_NEAR(exact.spread, 1, 0.06);
  ThreadPool pool(3);
  EXPECT_EQ(ranks(1, 0, &pool).histogram, exact.histogram);
}

TEST(Sbc, FindsPosteriorsThatAreWrong) {
  const SbcQuantity narrow = ranks(0.6, 0);
  EXPECT_LT(narrow.p_value, 1e-6);
  EXPECT_GT(narrow.spread, 1.15);
  const SbcQuantity wide = ranks(1.6, 0);
  EXPECT_LT(wide.p_value, 1e-6);
  EXPECT_LT(wide.spread, 0.9);
  const SbcQuantity shifted = ranks(1, 0.5);
  EXPECT_LT(shifted.p_value, 1e-6);
  EXPECT_LT(shifted.mean_rank, 0.4);
}

TEST(Sbc, TailOfChiSquare) {
  // Tables of the 95 % and 99.9 % quantiles.
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-14);
  EXPECT_NEAR(chi_square_tail(5.991464547107979, 2), 0.05, 1e-14);
  EXPECT_NEAR(chi_square_tail(16.918977604620448, 9), 0.05, 1e-14);
  EXPECT_NEAR(chi_square_tail(18.307038053275146, 10), 0.05, 1e-14);
  EXPECT_NEAR(chi_square_tail(27.877164871256568, 9), 0.001, 1e-14);
  EXPECT_EQ(chi_square_tail(0, 4), 1);
  EXPECT_GE(chi_square_tail(1e4, 9), 0);
  expect_error<DomainError>([] { chi_square_tail(-1, 3); }, "value >= 0");
}

TEST(Sbc, RejectsWhatCannotBeCounted) {
  const auto run = [](std::int64_t simulations, std::int64_t bins, int draws) {
    simulation_based_calibration(
        {"mean"}, simulations, bins,
        [&](std::int64_t i) { return normal_mean(i, 1, 0, draws); });
  };
  expect_error<ArgumentError>([&] { run(49, 10, 99); },
                              "5 simulations per bin");
  expect_error<ArgumentError>([&] { run(50, 1, 99); }, "2 to 1000 bins");
  expect_error<ArgumentError>([&] { run(50, 10, 100); },
                              "must be a multiple of the 10 bins");
  const auto nothing = [](std::int64_t) { return SbcSimulation(); };
  expect_error<ArgumentError>(
      [&] { simulation_based_calibration({"a"}, 50, 10, nothing); },
      "must have 1 quantities");
  expect_error<ArgumentError>(
      [&] { simulation_based_calibration({}, 50, 10, nothing); },
      "there is no quantity");
}

}  // namespace
}  // namespace radir::bench
