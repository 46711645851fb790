#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The time of a training step and a prediction, next to libtorch's.
// Measurements that need libtorch are in a separate module, which is loaded
// when one of these functions is called, so that nothing else has to load
// libtorch.

namespace radir::bench {

struct BenchStepOptions {
  /// Of "uci" (13-50-1, batches of 32 and 100) and "lenet5" (batches of 100).
  std::vector<std::string> networks = {"uci", "lenet5"};
  /// Each variant is measured with each of these numbers of threads.
  std::vector<int> threads = {1};
  /// Rounds, in each of which every variant takes its turn.
  int rounds = 15;
  std::uint64_t seed = 0;
};

struct BenchStepRow {
  std::string network;
  std::int64_t batch = 0;
  /// "deterministic": a plain network of libtorch's layers and its Adam;
  /// "composed": the Bayesian one from tensor operations; "autograd": from our
  /// layers and our Adam; "compiled": with no autograd; "apart", for
  /// more than one thread: a compiled step when so many trainings of one
  /// thread each run at once, the most that threads can give on this machine.
  std::string variant;
  int threads = 1;
  double median_us = 0;
  double min_us = 0;
};

struct BenchStepResult {
  std::vector<BenchStepRow> rows;
  double peak_memory_mib = 0;  ///< of the process
  std::string libtorch;        ///< its version

  /// The row of a variant; throws ArgumentError when it was not measured.
  const BenchStepRow& row(const std::string& network, std::int64_t batch,
                          const std::string& variant, int threads) const;
};

/// Measures complete training steps, interleaved. Throws ArgumentError for an
/// unknown network or impossible numbers, UnsupportedError when this build has
/// no libtorch or its module is missing.
BenchStepResult bench_step(const BenchStepOptions& options);

struct BenchPredictOptions {
  std::vector<std::int64_t> rows = {1, 10000};
  std::int64_t samples = 100;
  int threads = 1;
  int rounds = 15;
  std::uint64_t seed = 0;
};

struct BenchPredictRow {
  std::int64_t rows = 0;
  std::int64_t samples = 0;
  /// "loop": a loop of forward calls of our libtorch layers; "fresh": the
  /// fused predictor drawing its weights anew; "cached": with weights drawn
  /// before.
  std::string variant;
  int threads = 1;
  double median_us = 0;
  double min_us = 0;
};

struct BenchPredictResult {
  std::vector<BenchPredictRow> rows;
  std::string libtorch;

  const BenchPredictRow& row(std::int64_t rows,
                             const std::string& variant) const;
};

/// Measures predictions of the 13-50-1 network under many weight samples.
BenchPredictResult bench_predict(const BenchPredictOptions& options);

}  // namespace radir::bench
