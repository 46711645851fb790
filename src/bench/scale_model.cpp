#include "radir/bench/scale_model.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::bench {

namespace {

double bytes_of(std::int64_t numbers) {
  return static_cast<double>(numbers) * sizeof(float);
}

/// Through the store in both directions.
double bytes_of(int workers, std::int64_t numbers) {
  const ExchangeTraffic traffic = exchange_traffic(workers);
  return (traffic.received + traffic.sent) * bytes_of(numbers);
}

}  // namespace

ExchangeTraffic exchange_traffic(int workers) {
  RADIR_CHECK(workers > 0 && workers <= kMostMachines, ArgumentError,
              "bench scale: the number of machines must be from 1 to ",
              kMostMachines, ", but is ", workers);
  ExchangeTraffic traffic;
  if (workers == 1) return traffic;
  while ((1 << traffic.levels) < workers) ++traffic.levels;
  traffic.received = workers;
  // Into the two halves, and of both to all but their own workers.
  traffic.sent = (workers - 2) + (2 * workers - 2);
  return traffic;
}

double ExchangeModel::seconds(int workers, std::int64_t numbers) const {
  return exchange_traffic(workers).levels * level_seconds +
         bytes_of(workers, numbers) * byte_seconds;
}

ExchangeModel fit_exchange(const std::vector<Exchange>& measured) {
  RADIR_CHECK(measured.size() >= 2, ArgumentError,
              "scale model: an exchange is fitted to at least two ",
              "measurements, but there are ", measured.size());
  // Of the normal equations: every measurement is divided by its time.
  double ll = 0;
  double lb = 0;
  double bb = 0;
  double l1 = 0;
  double b1 = 0;
  for (const Exchange& exchange : measured) {
    RADIR_CHECK(exchange.workers >= 2 && exchange.seconds > 0, ArgumentError,
                "scale model: an exchange has at least two workers and takes ",
                "a positive time, but got ", exchange.workers, " and ",
                exchange.seconds);
    const double l =
        exchange_traffic(exchange.workers).levels / exchange.seconds;
    const double b =
        bytes_of(exchange.workers, exchange.numbers) / exchange.seconds;
    ll += l * l;
    lb += l * b;
    bb += b * b;
    l1 += l;
    b1 += b;
  }
  ExchangeModel model;
  const double determinant = ll * bb - lb * lb;
  if (determinant > 1e-12 * ll * bb) {
    model.level_seconds = (l1 * bb - b1 * lb) / determinant;
    model.byte_seconds = (b1 * ll - l1 * lb) / determinant;
  }
  // On the boundary where the optimum is outside.
  if (model.byte_seconds <= 0) model = {l1 / ll, 0, 0};
  if (model.level_seconds < 0) model = {0, b1 / bb, 0};
  for (const Exchange& exchange : measured) {
    const double fitted = model.seconds(exchange.workers, exchange.numbers);
    model.worst_error =
        std::max(model.worst_error, std::fabs(fitted / exchange.seconds - 1));
  }
  return model;
}

double step_seconds_here(const StepCost& cost, const ExchangeModel& exchange,
                         int workers, int cores) {
  const double turns = std::max(1.0, static_cast<double>(workers) / cores);
  return turns * (cost.repeated_seconds + cost.divided_seconds / workers) +
         exchange.seconds(workers, cost.numbers);
}

MachinesStep step_on_machines(const StepCost& cost,
                              const ExchangeModel& exchange,
                              const NetworkLink& link, int machines) {
  const ExchangeTraffic traffic = exchange_traffic(machines);
  const int round_trips =
      machines == 1 ? 0
                    : traffic.levels * kRoundTripsPerLevel + kRoundTripsPerSum;
  MachinesStep result;
  result.machines = machines;
  result.compute_seconds =
      cost.repeated_seconds + cost.divided_seconds / machines;
  result.exchange_seconds = exchange.seconds(machines, cost.numbers) +
                            round_trips * link.round_trip_seconds +
                            std::max(traffic.received, traffic.sent) *
                                bytes_of(cost.numbers) / link.bytes_per_second;
  return result;
}

}  // namespace radir::bench
