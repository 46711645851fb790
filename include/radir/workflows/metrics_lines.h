#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "radir/train/trainer.h"

namespace radir::workflows {

/// A line of metrics.jsonl: what the training of one network reported.
struct MetricsLine {
  std::int64_t network = 1;  ///< 1, 2, ...
  train::EpochReport report;
};

/// The line as a JSON object, without the validation.
std::string to_json(const MetricsLine& line);

/// Reads lines that to_json wrote. Throws IoError that begins with `name` and
/// the line when one is not such an object, is longer than 4096 bytes, or when
/// the epochs of a network do not rise.
std::vector<MetricsLine> read_metrics_lines(const std::string& name,
                                            std::string_view text);

}  // namespace radir::workflows
