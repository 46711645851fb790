#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/reproduction.h"
#include "cli/settings_options.h"
#include "cli/training_run.h"
#include "radir/data/data_dir.h"
#include "radir/data/images.h"
#include "radir/io/run_folder.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/lenet_methods.h"
#include "radir/reproduce/reproduction.h"
#include "radir/workflows/resumable_run.h"

namespace radir::cli {
namespace {

using data::ImageSplit;
using reproduce::LenetOptions;
using Json = nlohmann::ordered_json;

std::string lenet_name(bool dense) { return dense ? "lenet300" : "lenet5"; }

void run_in(const io::RunFolder& folder, const LenetOptions& options,
            const ImageSplit& images, const RunOptions& run_options,
            const CommonOptions& common) {
  run_reproduction(
      folder, reproduce::lenet_command(options.dense), !options.methods.empty(),
      run_options, common,
      [&](ThreadPool& pool, const reproduce::ReproductionProgress& progress,
          const workflows::ResumableRun& run) {
        return reproduce::reproduce_lenet(options, images, pool, progress,
                                          &run);
      });
}

void begin(LenetOptions options, RunOptions run, const CommonOptions& common) {
  options.data_dir = absolute_path(data::data_dir(options.data_dir));
  options.settings.seed = common.seed;
  reproduce::lenet_lines_of(options);  // rejects unknown ones
  if (run.out.empty()) run.out = free_run_name(lenet_name(options.dense));
  check_free(run.out, run.place);
  const ImageSplit images = reproduce::read_mnist(options);
  const io::RunFolder folder =
      begin_run(run.out, reproduce::lenet_config(options, images), run.place);
  run_in(folder, options, images, run, common);
}

void resume_lenet(const LenetOptions& given, const RunOptions& run,
                  const CommonOptions& common) {
  const io::RunFolder folder = open_run(run.resume, run.place);
  const Json config =
      read_run_config(folder, reproduce::lenet_command(given.dense));
  LenetOptions options =
      read_run_options(folder, config, [&](const std::string& text) {
        return reproduce::lenet_options_from_json(text, given.dense);
      });
  if (!given.data_dir.empty()) options.data_dir = given.data_dir;
  const ImageSplit images = reproduce::read_mnist(options);
  check_same_data(config, options.data_dir + "/mnist", images.fingerprint);
  if (run.place.shared != nullptr) run.place.shared->check_same(config);
  run_in(folder, options, images, run, common);
}

}  // namespace

void add_reproduce_lenet(CLI::App& reproduce, Invocation& invocation,
                         bool dense) {
  const auto options =
      std::make_shared<LenetOptions>(reproduce::default_lenet_options(dense));
  const auto run = std::make_shared<RunOptions>();
  const std::string name = lenet_name(dense);
  CLI::App* command = add_command(
      reproduce, invocation,
      {name,
       std::string(dense ? "LeNet-300-100" : "LeNet-5") +
           " on MNIST: compress it and compare with published networks",
       "radir " + reproduce::lenet_command(dense) + " --data-dir data"},
      [options, run, name, &reproduce](const CommonOptions& common) {
        if (!run->resume.empty()) {
          check_resume_options(*reproduce.get_subcommand(name));
          run->moved_dir = options->data_dir;
        }
        as_worker(*run, [&](const RunOptions& worker) {
          if (worker.resume.empty()) return begin(*options, worker, common);
          resume_lenet(*options, worker, common);
        });
      });
  add_run_options(*command, *run);
  command
      ->add_option("--seeds", options->seeds,
                   "Number of runs, each with a different seed")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--methods", options->methods,
                   "Methods of radir compress to compare instead of the "
                   "benchmark; all for every one")
      ->delimiter(',')
      ->type_name("NAME");
  add_settings_options(*command, options->settings,
                       {{"epochs", "--epochs"},
                        {"prune_every", "--prune-every"},
                        {"fine_tune_epochs", "--fine-tune"}});
  command
      ->add_option("--data-dir", options->data_dir,
                   "Folder with mnist/ (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
}

}  // namespace radir::cli
