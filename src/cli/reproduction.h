#pragma once

#include <functional>
#include <string>

#include "cli/command.h"
#include "cli/training_run.h"
#include "radir/core/thread_pool.h"
#include "radir/io/run_folder.h"
#include "radir/reproduce/reproduction.h"
#include "radir/workflows/resumable_run.h"

namespace radir::cli {

/// Runs a benchmark in the folder of its run: trains with progress and stop
/// signals, writes its page and prints what it gave, of a comparison of methods
/// the name of the page too.
void run_reproduction(const io::RunFolder& folder, const std::string& command,
                      bool of_methods, const RunOptions& run_options,
                      const CommonOptions& common,
                      const std::function<reproduce::Reproduction(
                          ThreadPool&, const reproduce::ReproductionProgress&,
                          const workflows::ResumableRun&)>& work);

}  // namespace radir::cli
