#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/search_plan.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

/// Whether the rows that candidates would be fitted to can be encoded: the
/// target, or all inputs, may differ in the other rows alone.
bool can_validate(const data::Table& table, const std::string& target,
                  data::MissingValues missing,
                  const std::vector<std::int64_t>& rows, std::uint64_t seed);

/// The rows that candidates are fitted to, and those that judge them.
class Validation {
 public:
  Validation(const data::Table& table, const std::string& target,
             data::MissingValues missing, const std::vector<std::int64_t>& rows,
             const std::vector<TableSettings>& candidates);

  /// The trials' parts of the run are called from the number after `before` on.
  std::vector<TableTrial> compare(
      const std::vector<TableSettings>& candidates, const Execution& execution,
      const std::function<void(const TableTrial&)>& on_trial,
      const ResumableRun* run, TuneFor goal = TuneFor::LogLikelihood,
      std::int64_t round = 1, std::size_t before = 0) const;

  /// What a trial of each candidate takes. Those that differ in the prior alone
  /// take the same time; one of them is trained shortly, while others are in
  /// the other threads as in the search.
  std::vector<TrialCost> costs(const std::vector<TableSettings>& candidates,
                               const Execution& execution, TuneFor goal) const;

 private:
  /// What the encoding depends on: pieces, and a logarithm of the target.
  using Encoding = std::pair<std::int64_t, bool>;
  static Encoding encoding_of(const TableSettings& settings) {
    return {settings.pieces, settings.target_scale == TargetScale::Logarithm};
  }

  struct Encoded {
    data::TableEncoder encoder;
    data::EncodedRows fit_on;
    data::EncodedRows score_on;
  };

  /// Its training is that of one epoch.
  TrialCost cost(const TableSettings& settings, Device device,
                 TuneFor goal) const;

  std::map<Encoding, Encoded> encoded_;
};

}  // namespace radir::workflows
