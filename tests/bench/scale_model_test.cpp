#include "radir/bench/scale_model.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using ::radir::testing::expect_error;

TEST(ScaleModel, CountsWhatTheWorkersExchange) {
  EXPECT_EQ(exchange_traffic(1).levels, 0);
  EXPECT_EQ(exchange_traffic(1).received, 0);
  EXPECT_EQ(exchange_traffic(2).levels, 1);
  EXPECT_EQ(exchange_traffic(2).received, 2);
  EXPECT_EQ(exchange_traffic(2).sent, 2);
  // Four workers: two sums into the halves; the two that made a half take the
  // other one, the other two take both.
  EXPECT_EQ(exchange_traffic(4).received, 4);
  EXPECT_EQ(exchange_traffic(4).sent, 2 + 2 + 4);
  EXPECT_EQ(exchange_traffic(8).levels, 3);
  EXPECT_EQ(exchange_traffic(100).levels, 7);
  EXPECT_EQ(exchange_traffic(kMostMachines).levels, 20);
}

TEST(ScaleModel, RefusesImpossibleNumbersOfMachines) {
  for (const int machines : {0, kMostMachines + 1, 2000000000}) {
    expect_error<ArgumentError>([&] { exchange_traffic(machines); },
                                "machines must be from 1 to 1000000, but is " +
                                    std::to_string(machines));
  }
}

TEST(ScaleModel, FindsTheNumbersThatMadeTheMeasurements) {
  const ExchangeModel truth{200e-6, 0.5e-9, 0};
  std::vector<Exchange> measured;
  for (const int workers : {2, 4, 8}) {
    for (const std::int64_t numbers : {1, 1000, 400000}) {
      measured.push_back({workers, numbers, truth.seconds(workers, numbers)});
    }
  }
  const ExchangeModel fitted = fit_exchange(measured);
  EXPECT_NEAR(fitted.level_seconds, truth.level_seconds, 1e-12);
  EXPECT_NEAR(fitted.byte_seconds, truth.byte_seconds, 1e-18);
  EXPECT_NEAR(fitted.worst_error, 0, 1e-9);
  measured.front().seconds *= 2;
  EXPECT_GT(fit_exchange(measured).worst_error, 0.2);
}

TEST(ScaleModel, TimesAreNotNegative) {
  // Larger sums that are faster: only levels are left.
  const ExchangeModel levels = fit_exchange({{2, 1000, 2e-3}, {2, 10, 3e-3}});
  EXPECT_EQ(levels.byte_seconds, 0);
  EXPECT_GT(levels.level_seconds, 2e-3);
  EXPECT_LT(levels.level_seconds, 3e-3);
  // Ten times the bytes in twenty times the time: only bytes.
  const ExchangeModel bytes =
      fit_exchange({{2, 1000, 1e-3}, {2, 10000, 20e-3}});
  EXPECT_EQ(bytes.level_seconds, 0);
  EXPECT_GT(bytes.byte_seconds, 0);
  // Equal sums tell nothing about bytes.
  EXPECT_EQ(fit_exchange({{2, 1000, 1e-3}, {2, 1000, 1e-3}}).level_seconds,
            1e-3);
}

TEST(ScaleModel, WorkersOnOneMachineShareItsCores) {
  const StepCost cost{8, 1, 1000};
  const ExchangeModel exchange{0.5, 0, 0};
  EXPECT_EQ(step_seconds_here(cost, exchange, 1, 2), 9);
  EXPECT_EQ(step_seconds_here(cost, exchange, 2, 2), 1 + 4 + 0.5);
  // Each core has two workers, each of which repeats a second.
  EXPECT_EQ(step_seconds_here(cost, exchange, 4, 2), 2 * (1 + 2) + 2 * 0.5);
}

TEST(ScaleModel, MachinesWaitForTheLinkOfTheStore) {
  const StepCost cost{8, 1, 1000};
  const NetworkLink link{0.25, 4000};
  const MachinesStep one = step_on_machines(cost, {}, link, 1);
  EXPECT_EQ(one.seconds(), 9);
  const MachinesStep two = step_on_machines(cost, {}, link, 2);
  EXPECT_EQ(two.compute_seconds, 1 + 4);
  // Four round trips, and two messages of a second each.
  EXPECT_EQ(two.exchange_seconds, 4 * 0.25 + 2);
  const MachinesStep slow = step_on_machines(cost, {0.125, 0, 0}, link, 2);
  EXPECT_EQ(slow.exchange_seconds, two.exchange_seconds + 0.125);
}

TEST(ScaleModel, RefusesMeasurementsOfNothing) {
  expect_error<ArgumentError>(
      [] {
        fit_exchange({{2, 1, 1}});
      },
      "at least two measurements, but there are 1");
  expect_error<ArgumentError>(
      [] {
        fit_exchange({{2, 1, 1}, {1, 1, 1}});
      },
      "at least two workers and takes a positive time");
  expect_error<ArgumentError>(
      [] {
        fit_exchange({{2, 1, 1}, {2, 1, 0}});
      },
      "but got 2 and 0");
}

}  // namespace
}  // namespace radir::bench
