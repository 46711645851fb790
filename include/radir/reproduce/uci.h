#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/core/thread_pool.h"
#include "radir/data/uci.h"
#include "radir/report/table.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_fit.h"

namespace radir::reproduce {

struct UciOptions {
  std::string data_dir;           ///< holds the folder uci/ with the sets
  std::vector<std::string> sets;  ///< empty: all nine (quick: five small ones)
  std::int64_t splits = 0;        ///< the first so many; 0: all (quick: five)
  bool quick = false;             ///< shorter training
  /// Steps of each training; 0: 40,000, for sets of fewer than 2,000 rows
  /// 20,000 (quick: 10,000).
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
  /// Methods to compare instead (uci_methods.h); empty: the benchmark.
  std::vector<std::string> methods = {};
  /// Networks of each method's mixture, where it has no number of its own.
  std::int64_t restarts = 1;
  /// Where the networks of the benchmark train; not among the stored options.
  Device device = Device::Cpu;
};

/// The options as a JSON object.
std::string to_json(const UciOptions& options);
/// From to_json(options). Throws IoError when the text is invalid.
UciOptions uci_options_from_json(const std::string& text);

/// The sets and splits of the options. Throws
/// ArgumentError when the options are invalid, IoError when a set is missing.
std::vector<data::UciSet> read_uci_sets(const UciOptions& options);

/// Identifies the data, like the fingerprint of a table.
std::string fingerprint(const std::vector<data::UciSet>& sets);

/// How well the test part of a split is predicted, in original units.
struct UciScore {
  double log_likelihood = 0;
  double rmse = 0;
  double coverage_90 = 0;  ///< share of targets inside the 90 % interval
  // NaN in results of version 0.1:
  /// Of a target known to its resolution (PredictiveMixture).
  double interval_log_likelihood = 0;
  /// Share inside the 90 % interval at that resolution (RegressionScore).
  double interval_coverage_90 = 0;
  double crps = 0;
  double seen = 0;  ///< share of rows whose inputs were training rows' too
};

/// One noise model on one split: the candidate chosen on a validation part of
/// the training rows, fitted anew to all of them.
struct UciNoiseResult {
  std::string chosen;              ///< such as "double 0.001, 20000 steps"
  double validation = 0;           ///< its validation log-likelihood
  UciScore single;                 ///< one network
  UciScore mixture;                ///< five
  double published_estimator = 0;  ///< Gaussian noise only, else 0
};

struct UciSplitResult {
  std::string set;
  std::int64_t split = 0;
  UciNoiseResult gaussian;
  UciNoiseResult predicted_noise;
  double seconds = 0;  ///< on one core, since the run was started or resumed

  /// The noise model with the better validation score.
  const UciNoiseResult& tuned() const;
};

/// After each split that was run: how much of the work is done, splits kept
/// from an earlier run not counted.
using UciProgress =
    std::function<void(const UciSplitResult& latest, double share_done)>;

/// Runs the benchmark, splits in parallel. Nothing of a split's test part is
/// used before its scores. The results depend on the seed alone. With a run,
/// splits are parts of it ("yacht-split-0") whose results are kept there, and
/// the exceptions are those of ResumableRun too.
std::vector<UciSplitResult> run_uci(
    const UciOptions& options, const std::vector<data::UciSet>& sets,
    ThreadPool& pool, const UciProgress& progress = nullptr,
    const workflows::ResumableRun* run = nullptr);

/// Mean over splits and its standard error.
struct UciMean {
  double mean = 0;
  double standard_error = 0;  ///< 0 for a single split
};

/// Of one number per split. Throws ArgumentError when there is none.
UciMean mean_and_error(const std::vector<double>& values);

/// Mean of what `value` takes from each split of a set.
UciMean mean_over_splits(
    const std::vector<UciSplitResult>& results, const std::string& set,
    const std::function<double(const UciSplitResult&)>& value);

/// The sets there are results of, in the order of the published tables.
std::vector<std::string> uci_sets_of(
    const std::vector<UciSplitResult>& results);

/// Test log-likelihoods beside the published ones.
report::Table uci_log_likelihood_table(
    const std::vector<UciSplitResult>& results);
/// Root mean square errors and coverage.
report::Table uci_error_table(const std::vector<UciSplitResult>& results);

/// A published column: test log-likelihoods by set.
struct PublishedColumn {
  std::string name;
  std::string source;
  std::vector<double> log_likelihoods;  ///< in the order of uci_set_names()
};

/// VI, PBP, dropout, VMG and later ones, as printed in the papers named.
const std::vector<PublishedColumn>& published_uci();

/// The article's column for its own method. It is not a log-likelihood: see
/// TablePredictor::published_estimator.
const PublishedColumn& published_uci_rdp();

}  // namespace radir::reproduce
