#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/report/table.h"

namespace radir::bench {

struct BenchMethodsOptions {
  std::int64_t batch = 32;
  /// Rounds, in each of which every family takes its turn.
  int rounds = 15;
  std::uint64_t seed = 0;
};

struct BenchMethodsRow {
  std::string family;  ///< of posterior::families()
  double median_us = 0;
  double min_us = 0;
  double ratio = 0;  ///< of the medians, to radial-directional
};

/// Times a compiled training step of the UCI network (13-50-1) with each family
/// of posteriors and its default options, interleaved, on one thread. Needs no
/// libtorch. Throws ArgumentError for numbers that are not positive.
std::vector<BenchMethodsRow> bench_methods(const BenchMethodsOptions& options);

report::Table bench_methods_table(const std::vector<BenchMethodsRow>& rows);

}  // namespace radir::bench
