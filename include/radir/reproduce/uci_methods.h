#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/uci.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/resumable_run.h"

// The methods of the article's first table on equal terms: the same networks,
// data, noise model and number of trials inside each training split.

namespace radir::reproduce {

/// One method on one split: the candidate chosen on validation parts of the
/// training rows, fitted anew to all of them. One noise level for all rows.
struct UciMethodResult {
  std::string set;
  std::int64_t split = 0;
  std::string method;     ///< of workflows::table_methods()
  std::string chosen;     ///< its settings as JSON
  double validation = 0;  ///< mean log-likelihood; NaN where nothing is tuned
  UciScore score;
  double seconds = 0;  ///< on one core, since the run was started or resumed
};

/// The methods that options ask for, "all" being every one with a posterior of
/// its own. Throws UnsupportedError for an unknown one, ArgumentError for one
/// that is asked for twice or that needs a family.
std::vector<std::string> uci_methods_of(const UciOptions& options);

/// After each result that was computed: how much of the work is done.
using UciMethodProgress =
    std::function<void(const UciMethodResult& latest, double share_done)>;

/// Runs every method of the options on every split, in parallel. Nothing of a
/// split's test part is used before its scores. With a run, its parts are
/// "yacht-split-0-vi", whose results are kept there.
std::vector<UciMethodResult> run_uci_methods(
    const UciOptions& options, const std::vector<data::UciSet>& sets,
    ThreadPool& pool, const UciMethodProgress& progress = nullptr,
    const workflows::ResumableRun* run = nullptr);

/// What the splits of a set say about one method.
struct UciMethodSummary {
  std::string set;
  std::string method;
  std::int64_t splits = 0;
  UciMean log_likelihood;
  UciMean rmse;
  UciMean coverage_90;
  UciMean interval_log_likelihood;
  UciMean interval_coverage_90;
  UciMean crps;
  UciMean seen;        ///< UciScore::seen
  double seconds = 0;  ///< per split
  /// Log-likelihood less that of rdp on the same splits; none without rdp.
  bool compared = false;
  UciMean less_rdp;
  /// Its standard error for splits that overlap, s sqrt(1/J + 1/9) (C. Nadeau
  /// and Y. Bengio, 2003, for test parts of a tenth).
  double corrected_error = 0;
  /// The columns printed for the method: names and log-likelihoods.
  std::vector<std::pair<std::string, double>> published;
};

/// Sets in the order of the published tables, methods in that of
/// table_methods().
std::vector<UciMethodSummary> summaries(
    const std::vector<UciMethodResult>& results);

/// One row per set and method.
report::Table uci_method_table(const std::vector<UciMethodResult>& results);

/// The table and a chart of measured against published log-likelihoods.
report::Page uci_method_page(const std::vector<UciMethodResult>& results);

}  // namespace radir::reproduce
