#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "radir/core/version.h"
#include "radir/experiments/lenet.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using experiments::LenetOptions;
using experiments::LenetRun;
using experiments::NetworkFigures;
using Json = nlohmann::ordered_json;

Json to_json(const LenetRun& run) {
  const auto figures = [](const NetworkFigures& f) {
    return Json{{"architecture", f.architecture},
                {"flops", f.cost.flops},
                {"parameters", f.cost.parameters},
                {"train_error", f.train_error},
                {"test_error", f.test_error}};
  };
  return {{"seed", run.seed},
          {"unpruned", figures(run.unpruned)},
          {"pruned", figures(run.pruned)},
          {"fine_tuned", figures(run.fine_tuned)},
          {"seconds", run.seconds}};
}

void reproduce_lenet(LenetOptions options, const CommonOptions& common) {
  options.settings.seed = common.seed;
  ThreadPool pool(common.threads);
  std::vector<LenetRun> runs;
  {
    Progress progress;
    runs = experiments::run_lenet(options, pool,
                                  [&](double share, const std::string& text) {
                                    progress.show(share, text);
                                  });
  }
  if (!common.json) {
    std::cout << to_text(experiments::lenet_table(options, runs));
    return;
  }
  Json list = Json::array();
  for (const LenetRun& run : runs) list.push_back(to_json(run));
  const Json document = {{"version", version()},
                         {"median", to_json(experiments::median_run(runs))},
                         {"runs", std::move(list)}};
  std::cout << document.dump(2) << "\n";
}

}  // namespace

void add_reproduce_lenet(CLI::App& reproduce, Invocation& invocation,
                         bool dense) {
  const auto options = std::make_shared<LenetOptions>();
  options->dense = dense;
  const std::string name = dense ? "lenet300" : "lenet5";
  options->out = "radir-" + name;
  // Chosen on training images kept aside: all units of a dense network cost
  // about the same, and more of them can go.
  if (dense) options->settings.pressure = 18;
  CLI::App* command =
      add_command(reproduce, invocation,
                  {name,
                   std::string(dense ? "LeNet-300-100" : "LeNet-5") +
                       " on MNIST, shrunk, beside the published networks",
                   "radir reproduce " + name + " --data-dir data"},
                  [options](const CommonOptions& common) {
                    reproduce_lenet(*options, common);
                  });
  command->add_option("--seeds", options->seeds, "Runs from different seeds")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--out", options->out,
                   "Folder for finished runs; they are not run again")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--data-dir", options->data_dir,
                   "Folder that holds mnist/ (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
}

}  // namespace radir::cli
