#pragma once

#include <string>

namespace radir::workflows {

/// A page about a run.
struct RunReport {
  std::string page;     ///< one HTML document
  std::string state;    ///< "unfinished, 40 epochs"
  std::string missing;  ///< what the folder does not hold; empty: nothing
};

/// Reads the folder of a run of `radir train` or `radir compress`, or of a fit
/// through the C interface, finished or not, also while another process works
/// in it: the loss so far, and once it is finished its figures and its model. A
/// finished compression gives the page it gave when it ended. Throws IoError
/// when it is not a run, or naming the file (and in metrics.jsonl the line)
/// that is damaged.
RunReport report_run(const std::string& path);

}  // namespace radir::workflows
