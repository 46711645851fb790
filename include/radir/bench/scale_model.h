#pragma once

#include <cstdint>
#include <vector>

// What a training step with several workers takes: what the exchange through
// the store of a job costs, fitted to measurements, and what follows for
// machines with a given network.

namespace radir::bench {

/// One sum over all workers, as workflows::JobShardedSum makes it.
struct Exchange {
  int workers = 1;
  std::int64_t numbers = 0;  ///< floats that are added up
  double seconds = 0;
};

/// What one sum sends through the store. Every worker sends the sum of one
/// subtree; those that join two subtrees take one from the store, level by
/// level, and in the end all workers take the sums of the two halves that are
/// not their own.
struct ExchangeTraffic {
  int levels = 0;       ///< one after the other
  double received = 0;  ///< messages with all numbers that the store receives
  double sent = 0;      ///< and those that it sends
};
/// Throws ArgumentError unless there are 1 to kMostMachines workers.
ExchangeTraffic exchange_traffic(int workers);
constexpr int kMostMachines = 1000000;

/// Round trips to the store that a worker waits for: in a level to send its
/// numbers and to take others, and in a sum to read who has come or gone and to
/// remove the sums of the last one.
constexpr int kRoundTripsPerLevel = 2;
constexpr int kRoundTripsPerSum = 2;

/// levels * level_seconds + bytes of all messages * byte_seconds.
struct ExchangeModel {
  double level_seconds = 0;
  double byte_seconds = 0;
  double worst_error = 0;  ///< relative, of the measurements it was fitted to

  double seconds(int workers, std::int64_t numbers) const;
};

/// Least squares of the relative errors; neither number is negative. Throws
/// ArgumentError unless there are two measurements, each with two workers or
/// more and a positive time.
ExchangeModel fit_exchange(const std::vector<Exchange>& measured);

/// A training step of one worker.
struct StepCost {
  double divided_seconds = 0;   ///< network and likelihood: shared out
  double repeated_seconds = 0;  ///< posterior, KL, optimiser: all do all of it
  std::int64_t numbers = 0;     ///< that are added up
};

/// On one machine with so many cores, a worker having one of them at a time.
double step_seconds_here(const StepCost& cost, const ExchangeModel& exchange,
                         int workers, int cores);

/// Between each worker and the one that has the store.
struct NetworkLink {
  double round_trip_seconds = 50e-6;
  double bytes_per_second = 10e9 / 8;
};

/// A worker on each of so many machines. The bytes of a sum pass the link of
/// the store one after the other, in both directions at once.
struct MachinesStep {
  int machines = 1;
  double compute_seconds = 0;
  double exchange_seconds = 0;

  double seconds() const { return compute_seconds + exchange_seconds; }
};
MachinesStep step_on_machines(const StepCost& cost,
                              const ExchangeModel& exchange,
                              const NetworkLink& link, int machines);

}  // namespace radir::bench
