#include "radir/io/target_runs.h"

#include <algorithm>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/files/json_object.h"
#include "radir/io/run_folder.h"

namespace radir::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTargets = "targets";
/// Of the name of a folder; file systems take 255.
constexpr std::size_t kMostBytes = 80;

bool is_inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The name of a column where every character stands for itself in a path and
/// in a link.
std::string folder_name(const std::string& target) {
  std::string name = target;
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80U || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' ||
                       (&c != name.data() && (c == '-' || c == '.'));
    if (!plain) c = '_';
  }
  if (name.size() <= kMostBytes) return name;
  std::size_t end = kMostBytes;
  while (end > 0 && is_inside_character(name[end])) --end;
  return name.substr(0, end);
}

/// As new_target_runs() makes them: nothing leads out of the run.
bool is_folder_name(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

}  // namespace

std::vector<TargetRun> new_target_runs(
    const std::string& path, const std::vector<std::string>& targets) {
  std::vector<TargetRun> runs;
  for (const std::string& target : targets) {
    const std::string name = (fs::path(path) / kTargets / folder_name(target));
    std::string free = name;
    const auto is_taken = [&](const TargetRun& run) {
      return run.path == free;
    };
    for (int i = 2; std::any_of(runs.begin(), runs.end(), is_taken); ++i) {
      free = name + "-" + std::to_string(i);
    }
    runs.push_back({target, free});
  }
  return runs;
}

nlohmann::ordered_json to_json(const std::vector<TargetRun>& runs) {
  auto list = nlohmann::ordered_json::array();
  for (const TargetRun& run : runs) {
    list.push_back({{"target", run.target},
                    {"folder", fs::path(run.path).filename().string()}});
  }
  return list;
}

std::vector<TargetRun> target_runs(const std::string& path) {
  if (!RunFolder::is_begun(path)) return {};
  const RunFolder folder = RunFolder::look_at(path);
  if (folder.is_finished()) return {};  // it has one model
  const auto config = nlohmann::ordered_json::parse(folder.config());
  if (!config.contains(kTargets)) return {};
  files::JsonObject json(config, folder.config_file());
  std::vector<TargetRun> runs;
  for (files::JsonObject& entry : json.objects(kTargets)) {
    const std::string target = entry.text("target");
    const std::string name = entry.text("folder");
    RADIR_CHECK(is_folder_name(name), IoError, entry.where(),
                ": \"folder\" is ",
                "not the name of a folder; the file is damaged");
    entry.finish();
    runs.push_back({target, (fs::path(path) / kTargets / name).string()});
  }
  RADIR_CHECK(!runs.empty(), IoError, folder.config_file(),
              ": lists no targets; the file is damaged");
  return runs;
}

bool is_finished(const TargetRun& run) {
  return RunFolder::is_begun(run.path) &&
         RunFolder::look_at(run.path).is_finished();
}

bool has_finished_targets(const std::string& path) {
  try {
    const std::vector<TargetRun> runs = target_runs(path);
    return !runs.empty() && std::all_of(runs.begin(), runs.end(), is_finished);
  } catch (const IoError&) {
    return false;
  }
}

void check_one_target(const std::string& path,
                      const std::pair<std::string, std::string>& example) {
  const std::vector<TargetRun> runs = target_runs(path);
  if (runs.empty()) return;
  constexpr std::size_t kMostNamed = 5;
  std::string folders;
  for (std::size_t i = 0; i < std::min(kMostNamed, runs.size()); ++i) {
    folders += (i == 0 ? "" : ", ") + shell_word(runs[i].path);
  }
  if (runs.size() > kMostNamed) folders += ", ...";
  const auto& [command, options] = example;
  detail::throw_error<ArgumentError>(
      path, ": has several targets, each with a model of its own (", folders,
      "); name the folder of one",
      command.empty() ? ""
                      : ": " + command + " " + shell_word(runs.front().path) +
                            (options.empty() ? "" : " " + options));
}

}  // namespace radir::io
