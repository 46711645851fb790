#include "radir/reproduce/lenet_methods.h"

#include <set>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/workflows/compress_methods.h"
#include "reproduce/lenet_run.h"

namespace radir::reproduce {
namespace {

PublishedNetwork published(bool dense, const std::string& method) {
  for (const PublishedNetwork& network : published_lenet(dense)) {
    if (network.method == method) return network;
  }
  ::radir::detail::throw_error<ArgumentError>("no published network ", method);
}

std::vector<LenetLine> convolutional_lines() {
  const auto row = [](const char* name) { return published(false, name); };
  return {{"rdp", "rdp", {}, {row("RDP (article)")}},
          {"bc-gnj", "bc-gnj", {}, {row("BC-GNJ")}},
          {"bc-ghs", "bc-ghs", {}, {row("BC-GHS")}},
          // Louizos et al. 2018, one strength, and one per layer.
          {"l0",
           "l0",
           {},
           {{"L0", {20, 25, 45, 462}, 0.009},
            {"L0 (separate)", {9, 18, 65, 25}, 0.010}}},
          {"flops", "flops", 100000, {row("FDOO (100K)")}},
          // Aimed at 200,000, its published network has 153,211.
          {"flops-150k", "flops", 150000, {row("FDOO (200K)")}},
          {"group-lasso", "group-lasso", {}, {row("GL")}},
          {"gd", "gd", {}, {row("GD")}},
          {"sbp", "sbp", {}, {row("SBP")}}};
}

std::vector<LenetLine> dense_lines() {
  return {{"rdp", "rdp"},
          {"bc-gnj", "bc-gnj"},
          {"bc-ghs", "bc-ghs"},
          {"l0", "l0", {}, {published(true, "L0")}},
          {"flops", "flops", 10000},
          {"group-lasso", "group-lasso"},
          {"gd", "gd"},
          {"sbp", "sbp", {}, {published(true, "SBP")}}};
}

const LenetLine& line_named(bool dense, const std::string& name) {
  std::vector<std::string> names = {"all"};
  for (const LenetLine& line : lenet_lines(dense)) {
    if (line.name == name) return line;
    names.push_back(line.name);
  }
  ::radir::detail::throw_error<UnsupportedError>(
      "there is no method \"", name, "\" of ",
      dense ? "LeNet-300-100" : "LeNet-5", known_names(name, names));
}

}  // namespace

const std::vector<LenetLine>& lenet_lines(bool dense) {
  static const std::vector<LenetLine> convolutional = convolutional_lines();
  static const std::vector<LenetLine> plain = dense_lines();
  return dense ? plain : convolutional;
}

std::vector<LenetLine> lenet_lines_of(const LenetOptions& options) {
  std::vector<LenetLine> lines;
  for (const std::string& name : options.methods) {
    if (name == "all") {
      const auto& all = lenet_lines(options.dense);
      lines.insert(lines.end(), all.begin(), all.end());
    } else {
      lines.push_back(line_named(options.dense, name));
    }
  }
  std::set<std::string> different;
  for (const LenetLine& line : lines) different.insert(line.name);
  RADIR_CHECK(different.size() == lines.size(), ArgumentError,
              "lenet: a method is asked for twice");
  return lines;
}

workflows::CompressSettings line_settings(const LenetOptions& options,
                                          const LenetLine& line) {
  workflows::CompressSettings settings = with_network(options);
  settings.method = line.method;
  settings.budget.max_flops = line.max_flops;
  if (line.method == "rdp") {
    settings.mean_epochs = settings.fine_tune_epochs;
    settings.mean_learning_rate = settings.learning_rate;
    settings.fine_tune_epochs = 0;
  } else {
    settings.pressure = workflows::CompressSettings().pressure;
  }
  return settings;
}

std::vector<LenetMethodRun> run_lenet_methods(
    const LenetOptions& options, const data::ImageSplit& images,
    ThreadPool& pool, const workflows::CompressProgress& progress,
    const workflows::ResumableRun* run) {
  check_seeds(options.seeds);
  std::vector<LenetTask> tasks;
  std::vector<LenetMethodRun> results;
  // All methods of a seed before the next one, so that a run that was stopped
  // has something to compare.
  for (std::int64_t i = 0; i < options.seeds; ++i) {
    for (const LenetLine& line : lenet_lines_of(options)) {
      LenetTask task{"", "", line_settings(options, line)};
      task.settings.seed += static_cast<std::uint64_t>(i);
      const std::string seed = std::to_string(task.settings.seed);
      task.part = line.name + "-seed-" + seed;
      task.label = line.name + ", seed " + seed;
      tasks.push_back(std::move(task));
      results.push_back({line.name, {}});
    }
  }
  const std::vector<LenetRun> runs =
      run_lenet_tasks(tasks, images, pool, progress, run);
  for (std::size_t i = 0; i < runs.size(); ++i) results[i].run = runs[i];
  return results;
}

}  // namespace radir::reproduce
