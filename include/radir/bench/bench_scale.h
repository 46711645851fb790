#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/bench/scale_model.h"

namespace radir::bench {

struct BenchScaleOptions {
  /// Of "lenet5" and "uci" (13-50-1).
  std::vector<std::string> networks = {"lenet5", "uci"};
  std::vector<int> workers = {1, 2, 4, 8};
  std::int64_t batch = 100;
  std::int64_t shards = 8;
  /// Whether the workers exchange sums through memory, as those of `radir
  /// launch` do, or through the store, as those of several machines.
  bool memory = true;
  /// Rounds, in each of which every variant takes its turn.
  int rounds = 9;
  std::uint64_t seed = 0;
};

struct BenchScaleRow {
  int workers = 1;
  double step_us = 0;       ///< wall time of a step that they share
  double processor_us = 0;  ///< of all workers and of the store
  double model_us = 0;      ///< wall time by the model
};

/// Medians of all rounds.
struct BenchScaleNetwork {
  std::string network;
  std::int64_t batch = 0;
  // Processor time on one thread.
  double plain_us = 0;    ///< of a step without shards
  double sharded_us = 0;  ///< of one with them
  double ratio = 0;       ///< of both in the same round
  /// Wall time of a plain step on one thread over that on two.
  double two_threads_gain = 0;
  StepCost cost;  ///< of one worker
  std::vector<BenchScaleRow> rows;
};

struct BenchScaleResult {
  std::vector<BenchScaleNetwork> networks;
  std::vector<Exchange> exchanges;  ///< through the store
  ExchangeModel exchange;           ///< fitted to them
  ExchangeModel exchange_here;      ///< the same of those on this machine
  int cores = 1;
};

/// Times training steps whose batches are cut into shards: alone and shared by
/// workers, which are threads of this process with connections of their own to
/// a store on the loopback, and memory that they share; and the exchange of the
/// workers by itself. Throws ArgumentError for an unknown network or impossible
/// numbers.
BenchScaleResult bench_scale(const BenchScaleOptions& options);

}  // namespace radir::bench
