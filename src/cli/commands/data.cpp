#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/training_run.h"
#include "radir/core/shell_text.h"
#include "radir/data/data_dir.h"
#include "radir/data/dataset.h"
#include "radir/data/download.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using data::DataSet;
using data::DataSetCheck;
using Json = nlohmann::ordered_json;

struct DataOptions {
  std::string data_dir;
  std::string from;
  std::vector<std::string> names;
};

std::string megabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

Json to_json(const DataSet& set) {
  Json files = Json::array();
  for (const data::DataFile& file : set.files) {
    files.push_back({{"path", file.path},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256},
                     {"urls", file.urls}});
  }
  return {{"name", set.name},   {"folder", set.folder},
          {"title", set.title}, {"licence", set.licence},
          {"home", set.home},   {"bytes", set.bytes()},
          {"files", files}};
}

void list_json(const std::string& dir) {
  Json sets = Json::array();
  for (const DataSet& set : data::data_sets()) {
    Json entry = to_json(set);
    if (!dir.empty()) {
      const DataSetCheck check = data::check_data_set(dir, set);
      entry["state"] = to_string(check.state);
      entry["problem"] = check.problem;
    }
    sets.push_back(std::move(entry));
  }
  const Json document = {{"data_dir", dir}, {"sets", sets}};
  std::cout << document.dump(2) << "\n";
}

void list_text(const std::string& dir) {
  report::Table table;
  table.columns = {{"name", "name"},       {"title", "description"},
                   {"size", "size"},       {"state", "state"},
                   {"licence", "licence"}, {"home", "source"}};
  std::string problems;
  for (const DataSet& set : data::data_sets()) {
    report::Cell state;
    if (!dir.empty()) {
      const DataSetCheck check = data::check_data_set(dir, set);
      state = std::string(to_string(check.state));
      if (!check.problem.empty()) {
        problems += check.problem + "; fetch it again with: radir data fetch " +
                    set.name + " --data-dir " + shell_word(dir) + "\n";
      }
    }
    table.rows.push_back({set.name, set.title, megabytes(set.bytes()), state,
                          set.licence, set.home});
  }
  std::cout << report::to_text(table);
  std::cerr << problems;
}

void list(const DataOptions& options, const CommonOptions& common) {
  const std::string dir = data::data_dir_name(options.data_dir);
  if (dir.empty()) {
    say("no data folder given, so none is checked; add --data-dir DIR or "
        "set RADIR_DATA_DIR");
  }
  common.json ? list_json(dir) : list_text(dir);
}

std::string bar(double share) {
  constexpr int kWidth = 24;
  std::string text = "[";
  for (int i = 0; i < kWidth; ++i) text += i < share * kWidth ? '#' : '.';
  return text + "]";
}

void fetch_set(const std::string& dir, const DataSet& set,
               const std::string& from) {
  Progress progress;
  data::FetchOptions options;
  options.from = from;
  options.progress = [&](std::int64_t done, std::int64_t total,
                         const std::string& file) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    progress.show(share, bar(share) + " " + megabytes(done) + " of " +
                             megabytes(total) + ", " + file);
    return StopSignals::received() == 0;
  };
  data::fetch_data_set(dir, set, options);
}

/// The named sets, each once.
std::vector<const DataSet*> wanted_sets(const std::vector<std::string>& names) {
  std::vector<const DataSet*> wanted;
  for (const std::string& name : names) {
    for (const DataSet* set : data::find_data_sets(name)) {
      const auto found = std::find(wanted.begin(), wanted.end(), set);
      if (found == wanted.end()) wanted.push_back(set);
    }
  }
  return wanted;
}

void fetch(const DataOptions& options, const CommonOptions& common) {
  const std::vector<const DataSet*> sets = wanted_sets(options.names);
  const std::string dir = data::data_dir_name(options.data_dir);
  RADIR_CHECK(!dir.empty(), ArgumentError,
              "no data folder given; add --data-dir DIR or set RADIR_DATA_DIR");
  const StopSignals signals;
  Json fetched = Json::array();
  for (const DataSet* set : sets) {
    try {
      fetch_set(dir, *set, options.from);
    } catch (const data::DownloadStopped& stopped) {
      throw StoppedBySignal(std::string(stopped.what()) +
                                "; run the same command again to resume",
                            StopSignals::received());
    }
    fetched.push_back({{"name", set->name},
                       {"folder", dir + "/" + set->folder},
                       {"bytes", set->bytes()}});
    if (!common.json) {
      std::cout << set->name << ": " << dir << "/" << set->folder << ", "
                << megabytes(set->bytes()) << ", as published\n";
    }
  }
  if (common.json) std::cout << Json{{"fetched", fetched}}.dump(2) << "\n";
}

void add_data_dir(CLI::App& command, DataOptions& options) {
  add_data_dir_option(command, options.data_dir);
}

}  // namespace

void add_data(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<DataOptions>();
  CLI::App* data =
      add_group(root, {"data", "List and download public data sets",
                       "radir data list --data-dir data"});
  CLI::App* list_command = add_command(
      *data, invocation,
      {"list", "List the data sets and check the files in the data folder",
       "radir data list --data-dir data"},
      [options](const CommonOptions& common) { list(*options, common); });
  add_data_dir(*list_command, *options);

  CLI::App* fetch_command = add_command(
      *data, invocation,
      {"fetch", "Download the missing files of data sets and check them",
       "radir data fetch mnist yacht --data-dir data"},
      [options](const CommonOptions& common) { fetch(*options, common); });
  fetch_command
      ->add_option("names", options->names,
                   "Names of data sets; uci for the nine UCI sets, all for all")
      ->type_name("NAME")
      ->required();
  add_data_dir(*fetch_command, *options);
  fetch_command
      ->add_option(
          "--from", options->from,
          "Folder on a server with the same files, used instead of the "
          "public sources")
      ->type_name("URL");
}

}  // namespace radir::cli
