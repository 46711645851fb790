#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/reproduction.h"
#include "cli/training_run.h"
#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/data/data_dir.h"
#include "radir/data/uci.h"
#include "radir/io/run_folder.h"
#include "radir/reproduce/reproduction.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/uci_methods.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_fit.h"

namespace radir::cli {
namespace {

using reproduce::UciOptions;
using Json = nlohmann::ordered_json;

void run_in(const io::RunFolder& folder, const UciOptions& options,
            const std::vector<data::UciSet>& sets,
            const RunOptions& run_options, const CommonOptions& common) {
  RADIR_CHECK(common.device == Device::Cpu || options.methods.empty(),
              UnsupportedError, "reproduce uci: --methods with --device cuda ",
              "is not supported yet; leave one of them out");
  run_reproduction(
      folder, reproduce::kUciCommand, !options.methods.empty(), run_options,
      common,
      [&](ThreadPool& pool, const reproduce::ReproductionProgress& progress,
          const workflows::ResumableRun& run) {
        return reproduce::reproduce_uci(options, sets, pool, progress, &run);
      });
}

void begin(UciOptions options, RunOptions run, const CommonOptions& common) {
  options.data_dir = absolute_path(data::data_dir(options.data_dir));
  options.seed = common.seed;
  options.device = common.device;
  workflows::check_device(options.device);
  reproduce::uci_methods_of(options);  // rejects unknown ones
  if (run.out.empty()) run.out = free_run_name("uci");
  check_free(run.out, run.place);
  const std::vector<data::UciSet> sets = reproduce::read_uci_sets(options);
  const io::RunFolder folder = begin_run(
      run.out, reproduce::uci_config(options, reproduce::fingerprint(sets)),
      run.place);
  run_in(folder, options, sets, run, common);
}

void resume_uci(const UciOptions& given, const RunOptions& run,
                const CommonOptions& common) {
  const io::RunFolder folder = open_run(run.resume, run.place);
  const Json config = read_run_config(folder, reproduce::kUciCommand);
  UciOptions options =
      read_run_options(folder, config, reproduce::uci_options_from_json);
  if (!given.data_dir.empty()) options.data_dir = given.data_dir;
  options.device = common.device;
  workflows::check_device(options.device);
  const std::vector<data::UciSet> sets = reproduce::read_uci_sets(options);
  check_same_data(config, options.data_dir + "/uci",
                  reproduce::fingerprint(sets));
  if (run.place.shared != nullptr) run.place.shared->check_same(config);
  run_in(folder, options, sets, run, common);
}

}  // namespace

void add_reproduce_uci(CLI::App& reproduce, Invocation& invocation) {
  const auto options = std::make_shared<UciOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command = add_command(
      reproduce, invocation,
      {"uci",
       "Run the UCI benchmark: nine sets, standard splits, tuned inside each",
       "radir reproduce uci --quick --data-dir data", /*on_cuda=*/true},
      [options, run, &reproduce](const CommonOptions& common) {
        if (!run->resume.empty()) {
          check_resume_options(*reproduce.get_subcommand("uci"));
          run->moved_dir = options->data_dir;
        }
        as_worker(*run, [&](const RunOptions& worker) {
          if (worker.resume.empty()) return begin(*options, worker, common);
          resume_uci(*options, worker, common);
        });
      });
  add_run_options(*command, *run);
  command->add_option("--sets", options->sets, "Data sets (default: all)")
      ->delimiter(',')
      ->type_name("NAME");
  command
      ->add_option("--splits", options->splits,
                   "Number of splits of each set; 0 for all")
      ->type_name("N");
  command->add_flag("--quick", options->quick,
                    "Five small sets, five splits, shorter training");
  command
      ->add_option(
          "--steps", options->steps,
          "Steps of each training; 0 for a number that depends on the set")
      ->type_name("N");
  command
      ->add_option("--methods", options->methods,
                   "Methods of radir train to compare instead of the "
                   "benchmark; all for every one")
      ->delimiter(',')
      ->type_name("NAME");
  CLI::Option* restarts =
      command
          ->add_option("--restarts", options->restarts,
                       "Networks of the mixture of each of these methods")
          ->type_name("N")
          ->capture_default_str();
  check_integer(*restarts, 1, 1000);
  command
      ->add_option("--data-dir", options->data_dir,
                   "Folder with uci/ (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
}

}  // namespace radir::cli
