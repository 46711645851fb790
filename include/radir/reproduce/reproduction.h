#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/data/uci.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/resumable_run.h"

// A benchmark from its options to what people and programs read of it: the same
// for the program and for other languages.

namespace radir::reproduce {

/// What a benchmark gave. Each form names the sets that are not the published
/// ones.
struct Reproduction {
  /// "not_the_published_data", then "sets" (UCI), "median" and "runs" (LeNet)
  /// or "methods".
  nlohmann::ordered_json json;
  std::string text;                       ///< the tables, for a terminal
  report::Page page;                      ///< the tables and the figures
  std::string page_name = "report.html";  ///< its file in the run's folder
};

/// Ends a run: deletes its checkpoints, writes the page and puts the version
/// and the folder in front of the JSON. Returns the path of the page.
std::string finish_reproduction(const io::RunFolder& folder,
                                Reproduction& result);

/// The commands whose names are in config.json of such runs.
inline constexpr const char* kUciCommand = "reproduce uci";
std::string lenet_command(bool dense);

/// config.json of a run of these options, with the fingerprint of its data.
nlohmann::ordered_json uci_config(const UciOptions& options,
                                  const std::string& fingerprint);
nlohmann::ordered_json lenet_config(const LenetOptions& options,
                                    const data::ImageSplit& images);

/// The images of a run.
data::ImageSplit read_mnist(const LenetOptions& options);

/// How much of the work is done, and a word about it; one call at a time.
using ReproductionProgress =
    std::function<void(double share, const std::string& text)>;

/// run_uci or, where the options name methods, run_uci_methods.
Reproduction reproduce_uci(const UciOptions& options,
                           const std::vector<data::UciSet>& sets,
                           ThreadPool& pool,
                           const ReproductionProgress& progress,
                           const workflows::ResumableRun* run);

/// run_lenet or, where the options name methods, run_lenet_methods.
Reproduction reproduce_lenet(const LenetOptions& options,
                             const data::ImageSplit& images, ThreadPool& pool,
                             const ReproductionProgress& progress,
                             const workflows::ResumableRun* run);

}  // namespace radir::reproduce
