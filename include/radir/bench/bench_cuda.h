#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace radir::bench {

struct BenchCudaOptions {
  /// Networks of 13-50-1 that train at once, for each row of the result.
  std::vector<std::int64_t> networks = {1, 1000};
  std::int64_t steps = 10000;
  /// Of LeNet-5 on the device; the CPU takes one epoch.
  std::int64_t lenet5_steps = 3000;
  std::uint64_t seed = 0;
};

/// A step of a network with rows and columns, batches of 100: of 455 rows for
/// "13-50-1", of 6,000 images for "lenet5".
struct BenchCudaRow {
  std::string network;
  std::string device;  ///< "cpu", one core, or "cuda"
  std::int64_t networks = 1;
  double step_us = 0;     ///< of all networks; on cuda by its events
  double network_us = 0;  ///< the same for each network
  double speed = 1;       ///< steps a second, relative to one core's
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
