#pragma once

#include <string>

#include "radir/core/thread_pool.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// A page about a run.
struct RunReport {
  std::string page;     ///< one HTML document
  std::string state;    ///< "unfinished, 40 epochs"
  std::string missing;  ///< what the folder does not hold; empty: nothing
};

/// What a page shows beside the run.
struct ReportOptions {
  /// A table with the target (as data::read_source takes it), whose rows the
  /// page of a finished training scores; empty: none.
  std::string test;
  TablePredictionOptions prediction;  ///< of these rows
};

/// Reads the folder of a run of `radir train` or `radir compress`, or of a fit
/// through the C interface, finished or not, also while another process works
/// in it: the loss so far, and once it is finished its figures and its model;
/// of a training what held-out rows showed, which columns matter and how. A
/// finished compression gives the page it gave when it ended. A folder with
/// several targets gives a page that links to those of its runs, which are not
/// written, and takes no test table. Throws IoError
/// when it is not a run, or naming the file (and in metrics.jsonl the line)
/// that is damaged; ArgumentError for a test table of a run that is no finished
/// training.
RunReport report_run(const std::string& path, const ReportOptions& options = {},
                     ThreadPool* pool = nullptr);

}  // namespace radir::workflows
