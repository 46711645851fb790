#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace radir::bench {

struct BenchCudaOptions {
  /// Networks that train at once, for each row of the result.
  std::vector<std::int64_t> networks = {1, 1000};
  std::int64_t steps = 10000;
  std::uint64_t seed = 0;
};

/// A step of a 13-50-1 network, batches of 100 of 455 rows.
struct BenchCudaRow {
  std::string device;  ///< "cpu", one core, or "cuda"
  std::int64_t networks = 1;
  double step_us = 0;     ///< of all networks; on cuda by its events
  double network_us = 0;  ///< the same for each network
  double speed = 1;       ///< steps a second, relative to one core
};

struct BenchCudaResult {
  std::string device;  ///< its name
  std::vector<BenchCudaRow> rows;
};

/// Measures complete trainings on one core of the CPU and on the CUDA device.
/// Throws ArgumentError for impossible numbers, UnsupportedError where there is
/// no such device.
BenchCudaResult bench_cuda(const BenchCudaOptions& options);

}  // namespace radir::bench
