#include "cli/reproduction.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/progress.h"

namespace radir::cli {

void run_reproduction(const io::RunFolder& folder, const std::string& command,
                      bool of_methods, const RunOptions& run_options,
                      const CommonOptions& common,
                      const std::function<reproduce::Reproduction(
                          ThreadPool&, const reproduce::ReproductionProgress&,
                          const workflows::ResumableRun&)>& work) {
  // Threads that wait for a GPU are no load: the more of them, the more
  // networks it has to train at once.
  constexpr int kWaitingThreads = 128;
  CommonOptions used = common;
  if (used.threads == 0 && used.device != Device::Cpu) {
    used.threads = kWaitingThreads;
  }
  CommandThreads pool(used);
  reproduce::Reproduction result;
  train_in(folder, command, run_options,
           [&](const workflows::ResumableRun& run) {
             Progress progress;
             result = work(
                 pool,
                 [&](double share, const std::string& text) {
                   progress.show(share, text);
                 },
                 run);
           });
  finish_in_one(run_options, [&] {
    const std::string page = reproduce::finish_reproduction(folder, result);
    if (common.json) {
      std::cout << result.json.dump(2) << "\n";
      return;
    }
    std::cout << result.text << "\nrun  " << folder.path() << "\n";
    if (of_methods) std::cout << "page " << page << "\n";
  });
}

}  // namespace radir::cli
