#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "cli/training_run.h"
#include "radir/core/version.h"
#include "radir/data/data_dir.h"
#include "radir/data/images.h"
#include "radir/files/atomic_file.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/lenet_methods.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/unpublished.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_config.h"

namespace radir::cli {
namespace {

using data::ImageSplit;
using reproduce::LenetMethodRun;
using reproduce::LenetOptions;
using reproduce::LenetRun;
using workflows::NetworkFigures;
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

std::string lenet_name(bool dense) { return dense ? "lenet300" : "lenet5"; }

std::string lenet_command(bool dense) {
  return "reproduce " + lenet_name(dense);
}

ImageSplit read_mnist(const LenetOptions& options) {
  return data::read_images(data::data_set_dir(options.data_dir, "mnist"), "",
                           0);
}

Json lenet_config(const LenetOptions& options, const ImageSplit& images) {
  return workflows::run_config(
      workflows::image_data_entry(options.data_dir + "/mnist", images),
      workflows::command_entry(lenet_command(options.dense),
                               reproduce::to_json(options)));
}

void print(const std::string& run, const LenetOptions& options,
           const std::vector<LenetRun>& runs, const std::string& note,
           bool json) {
  if (!json) {
    std::cout << to_text(reproduce::lenet_table(options, runs))
              << (note.empty() ? note : "\n" + note + "\n") << "\nrun  " << run
              << "\n";
    return;
  }
  Json list = Json::array();
  for (const LenetRun& one : runs) list.push_back(to_json(one));
  const Json document = {{"version", version()},
                         {"run", run},
                         {"not_the_published_data", note},
                         {"median", to_json(reproduce::median_run(runs))},
                         {"runs", std::move(list)}};
  std::cout << document.dump(2) << "\n";
}

Json to_json(const reproduce::UciMean& mean) {
  return {{"mean", mean.mean}, {"stderr", mean.standard_error}};
}

Json to_json(const reproduce::LenetMethodSummary& one) {
  Json json = {{"method", one.line},
               {"seeds", one.seeds},
               {"architecture", one.architecture},
               {"pruned_error", to_json(one.pruned_error)},
               {"test_error", to_json(one.error)},
               {"flops", to_json(one.flops)},
               {"parameters", to_json(one.parameters)},
               {"seconds", one.seconds}};
  if (one.compared) json["less_rdp"] = to_json(one.less_rdp);
  return json;
}

void print_methods(const std::string& run, const std::string& page, bool dense,
                   const std::vector<LenetMethodRun>& runs,
                   const std::string& note, bool json) {
  if (!json) {
    std::cout << to_text(reproduce::lenet_method_table(dense, runs))
              << (note.empty() ? note : "\n" + note + "\n") << "\nrun  " << run
              << "\npage " << page << "\n";
    return;
  }
  Json methods = Json::array(), list = Json::array();
  for (const auto& one : reproduce::lenet_summaries(dense, runs)) {
    methods.push_back(to_json(one));
  }
  for (const LenetMethodRun& one : runs) {
    Json entry = {{"method", one.line}};
    entry.update(to_json(one.run));
    list.push_back(std::move(entry));
  }
  const Json document = {{"version", version()},
                         {"run", run},
                         {"not_the_published_data", note},
                         {"methods", std::move(methods)},
                         {"runs", std::move(list)}};
  std::cout << document.dump(2) << "\n";
}

void run_methods_in(const io::RunFolder& folder, const LenetOptions& options,
                    const ImageSplit& images, const RunOptions& run_options,
                    const std::string& note, const CommonOptions& common) {
  CommandThreads pool(common);
  std::vector<LenetMethodRun> runs;
  train_in(folder, lenet_command(options.dense), run_options,
           [&](const workflows::ResumableRun& run) {
             Progress progress;
             runs = reproduce::run_lenet_methods(
                 options, images, pool,
                 [&](double share, const std::string& text) {
                   progress.show(share, text);
                 },
                 &run);
           });
  folder.remove_checkpoints();
  const std::string page = folder.file("methods.html");
  files::write_file(page,
                    to_html(reproduce::lenet_method_page(options.dense, runs)));
  print_methods(folder.path(), page, options.dense, runs, note, common.json);
}

void run_in(const io::RunFolder& folder, const LenetOptions& options,
            const ImageSplit& images, const RunOptions& run_options,
            const CommonOptions& common) {
  const std::string note = note_on_unpublished(
      reproduce::unpublished_sets(options.data_dir, {"mnist"}));
  if (!options.methods.empty()) {
    return run_methods_in(folder, options, images, run_options, note, common);
  }
  CommandThreads pool(common);
  std::vector<LenetRun> runs;
  train_in(folder, lenet_command(options.dense), run_options,
           [&](const workflows::ResumableRun& run) {
             Progress progress;
             runs = reproduce::run_lenet(
                 options, images, pool,
                 [&](double share, const std::string& text) {
                   progress.show(share, text);
                 },
                 &run);
           });
  folder.remove_checkpoints();
  files::write_file(folder.file("report.html"),
                    to_html(reproduce::lenet_page(options, runs)));
  print(folder.path(), options, runs, note, common.json);
}

void begin(LenetOptions options, RunOptions run, const CommonOptions& common) {
  options.data_dir = absolute_path(data::data_dir(options.data_dir));
  options.settings.seed = common.seed;
  reproduce::lenet_lines_of(options);  // rejects unknown ones
  if (run.out.empty()) run.out = free_run_name(lenet_name(options.dense));
  io::RunFolder::check_free(run.out);
  const ImageSplit images = read_mnist(options);
  const io::RunFolder folder =
      begin_run(run.out, lenet_config(options, images));
  run_in(folder, options, images, run, common);
}

void resume_lenet(const LenetOptions& given, const RunOptions& run,
                  const CommonOptions& common) {
  const io::RunFolder folder = io::RunFolder::open(run.resume);
  const Json config = read_run_config(folder, lenet_command(given.dense));
  LenetOptions options =
      read_run_options(folder, config, [&](const std::string& text) {
        return reproduce::lenet_options_from_json(text, given.dense);
      });
  if (!given.data_dir.empty()) options.data_dir = given.data_dir;
  const ImageSplit images = read_mnist(options);
  check_same_data(config, options.data_dir + "/mnist", images.fingerprint);
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
       "radir " + lenet_command(dense) + " --data-dir data"},
      [options, run, name, &reproduce](const CommonOptions& common) {
        if (run->resume.empty()) return begin(*options, *run, common);
        check_resume_options(*reproduce.get_subcommand(name));
        resume_lenet(*options, *run, common);
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
