#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
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

/// What a training reported: about 200 lines per network, and the ends.
class TrainingHistory {
 public:
  /// Of networks that train for so many epochs.
  explicit TrainingHistory(std::int64_t epochs);

  /// Network `restart`, from 0. A resumed training reports some of the epochs
  /// before its checkpoint only.
  void add(std::int64_t restart, const train::EpochReport& report);

  /// Epochs of all networks so far, also those that were not reported.
  std::int64_t epochs_done() const { return epochs_done_; }

  /// The content of metrics.jsonl.
  const std::string& lines() const { return lines_; }

  /// NLL and KL at the end of each network's training.
  nlohmann::ordered_json final_losses() const;

 private:
  std::int64_t every_;
  std::int64_t epochs_done_ = 0;
  std::string lines_;
  std::map<std::int64_t, train::EpochReport> last_;
};

/// Reads lines that to_json wrote. Throws IoError that begins with `name` and
/// the line when one is not such an object, is longer than 4096 bytes, or when
/// the epochs of a network do not rise.
std::vector<MetricsLine> read_metrics_lines(const std::string& name,
                                            std::string_view text);

}  // namespace radir::workflows
