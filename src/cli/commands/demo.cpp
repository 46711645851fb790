#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"

namespace radir::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// One part of the demonstration: what it shows, and the command that does.
struct Scene {
  std::string title;
  Words words;
};

std::vector<Scene> scenes(const std::string& folder) {
  const std::string arm = folder + "/robot-arm";
  const std::string digits = folder + "/digits";
  return {
      {"Fit a network with error bars to a generated table",
       {"train", "builtin:robot-arm", "--target", "distance", "--likelihood",
        "predicted-noise", "--out", arm}},
      {"Check the error bars on new rows",
       {"evaluate", arm, "builtin:robot-arm", "--seed", "2"}},
      {"Predict every row, with both parts of the uncertainty",
       {"predict", arm, "builtin:robot-arm", "--seed", "2", "--out",
        folder + "/predictions.csv"}},
      {"Train and shrink LeNet-5 on generated images",
       {"compress", "--data", "digits", "--model", "lenet5", "--epochs", "9",
        "--fine-tune", "4", "--out", digits}},
      {"Show the smaller network", {"inspect", digits}},
  };
}

void demonstrate(const std::string& folder,
                 const std::function<void(const Words&)>& run,
                 const CommonOptions& common) {
  RADIR_CHECK(!fs::exists(folder) || fs::is_empty(folder), ArgumentError,
              folder, ": already exists; choose another --out");
  std::error_code error;
  fs::create_directories(folder, error);
  RADIR_CHECK(!error, IoError, "cannot create the folder ", folder, ": ",
              error.message());
  nlohmann::ordered_json commands = nlohmann::ordered_json::array();
  // With --json the output of the commands goes to standard error.
  std::streambuf* const out = std::cout.rdbuf();
  if (common.json) std::cout.rdbuf(std::cerr.rdbuf());
  for (Scene& scene : scenes(folder)) {
    if (common.threads > 0) {
      scene.words.insert(scene.words.end(),
                         {"--threads", std::to_string(common.threads)});
    }
    const std::string line = shell_command(scene.words);
    commands.push_back(line);
    std::cout << "\n# " << scene.title << "\n$ " << line << "\n" << std::flush;
    try {
      run(scene.words);
    } catch (...) {
      std::cout.rdbuf(out);
      throw;
    }
  }
  std::cout.rdbuf(out);
  if (common.json) {
    const nlohmann::ordered_json document = {{"folder", folder},
                                             {"commands", commands}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::cout << "\nResults in " << folder
            << ":\n  robot-arm/report.html  what the first network learned"
            << "\n  digits/report.html     page about the smaller network"
            << "\n  digits/network.onnx    network for any runtime"
            << "\n  predictions.csv        predictions with error bars\n";
}

}  // namespace

void add_demo(CLI::App& root, Invocation& invocation,
              std::function<void(const std::vector<std::string>&)> run) {
  const auto folder = std::make_shared<std::string>("radir-demo");
  CLI::App* command =
      add_command(root, invocation,
                  {"demo", "Train, predict, prune and export on built-in data",
                   "radir demo --out radir-demo"},
                  [folder, run = std::move(run)](const CommonOptions& common) {
                    demonstrate(*folder, run, common);
                  });
  command->add_option("--out", *folder, "Folder for all results")
      ->type_name("DIR")
      ->capture_default_str();
}

}  // namespace radir::cli
