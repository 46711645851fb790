#include "radir/workflows/training_run.h"

#include <algorithm>
#include <filesystem>

#include "radir/core/cpu.h"
#include "radir/core/shell_text.h"
#include "radir/core/version.h"
#include "radir/files/atomic_file.h"
#include "radir/files/json_object.h"
#include "radir/files/utf8.h"
#include "radir/workflows/shared_run.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kShardsKey = "shards";

std::string resume_command(const std::string& command,
                           const io::RunFolder& folder,
                           const std::string& words = "") {
  return "radir " + command + " --resume " + shell_word(folder.path()) +
         (words.empty() ? "" : " " + words);
}

}  // namespace

std::string free_run_name(const std::string& source) {
  namespace fs = std::filesystem;
  std::string stem = fs::path(source).filename().string();
  stem = stem.substr(0, stem.find_first_of(".:"));
  if (stem.empty()) stem = "data";
  const std::string name = stem + "-run";
  std::string candidate = name;
  for (int i = 2; fs::exists(candidate); ++i) {
    candidate = name + "-" + std::to_string(i);
  }
  return candidate;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return path;
  const std::string absolute = std::filesystem::absolute(path).string();
  RADIR_CHECK(files::is_utf8(absolute), ArgumentError, path,
              ": the name of its folder ",
              "is not valid UTF-8, as config.json requires; rename the folder");
  return absolute;
}

io::RunFolder begin_run(const std::string& path, const Json& config,
                        const RunPlace& place) {
  Json complete = config;
  if (place.shards > 0) complete[kShardsKey] = place.shards;
  if (place.shared != nullptr) return place.shared->begin(path, complete);
  io::RunFolder folder = io::RunFolder::create(path);
  folder.write_config(complete.dump(2) + "\n");
  return folder;
}

io::RunFolder open_run(const std::string& path, const RunPlace& place) {
  return place.shared != nullptr ? place.shared->open(path)
                                 : io::RunFolder::open(path);
}

// Of a job, only the worker that begins the run knows.
void check_free(const std::string& path, const RunPlace& place) {
  if (place.shared == nullptr) io::RunFolder::check_free(path);
}

std::int64_t shards_of(const std::string& path) {
  const io::RunFolder folder = io::RunFolder::look_at(path);
  const Json config = Json::parse(folder.config(), nullptr, false);
  if (!config.is_object() || !config.contains(kShardsKey)) return 0;
  RADIR_CHECK(config[kShardsKey].is_number_integer(), IoError,
              folder.config_file(), ": \"", kShardsKey,
              "\" is not a number; the file is damaged");
  return config[kShardsKey].get<std::int64_t>();
}

std::string started_command(const io::RunFolder& folder, const Json& config) {
  const Json command =
      config.is_object() ? config.value("command", Json()) : Json();
  const Json name =
      command.is_object() ? command.value("name", Json()) : Json();
  std::string started = name.is_string() ? name.get<std::string>() : "";
  // Only letters, so that a hint to be pasted runs nothing else.
  const bool is_name =
      std::all_of(started.begin(), started.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') ||
               (letter >= '0' && letter <= '9') || letter == ' ';
      });
  RADIR_CHECK(is_name && !started.empty(), IoError, folder.config_file(),
              ": contains no valid command; the file is damaged");
  return started;
}

void check_same_isa(const io::RunFolder& folder, const Json& config) {
  const Json isa = config.value("isa", Json());
  if (isa.is_null() || folder.is_finished()) return;
  RADIR_CHECK(isa.is_string(), IoError, folder.config_file(),
              ": \"isa\" is not a text; the file is damaged");
  const auto started = isa.get<std::string>();
  RADIR_CHECK(started == to_string(active_isa()), ArgumentError, folder.path(),
              ": was started with the instruction set ", shell_word(started),
              ", but this is ", to_string(active_isa()),
              ", which rounds differently; resume it with RADIR_ISA=",
              shell_word(started));
}

Json read_run_config(const io::RunFolder& folder, const std::string& command,
                     const std::function<void(const std::string&)>& warn) {
  Json config =
      Json::parse(folder.config(), nullptr, /*allow_exceptions=*/false);
  const std::string started = started_command(folder, config);
  RADIR_CHECK(
      started == command, ArgumentError, folder.path(), ": was started by ",
      "another command; resume with: ", resume_command(started, folder));
  const Json program = config.value("program", Json());
  if (warn && program != version()) {
    warn(folder.path() + ": was started by radir " + program.dump() +
         ", but this is " + version() +
         "; the last bits of the result may differ");
  }
  check_same_isa(folder, config);
  return config;
}

std::string run_options_text(const Json& config) {
  files::JsonObject command(config.at("command"), "command");
  command.text("name");
  std::string text = command.section("options");
  command.finish();
  return text;
}

// The path of a file is absolute in config.json; other texts are no paths.
void check_is_there(const std::string& source, const std::string& run) {
  namespace fs = std::filesystem;
  std::error_code error;
  RADIR_CHECK(!fs::path(source).is_absolute() || fs::exists(source, error),
              IoError, "cannot open ", source, ", the data of ", run,
              ": no such file; if it was moved, add --data and its new path");
}

void check_same_data(const Json& config, const std::string& source,
                     const std::string& fingerprint) {
  const Json data = config.value("data", Json());
  RADIR_CHECK(
      data.is_object() && data.value("fingerprint", Json()) == fingerprint,
      IoError, source, ": has changed since the run was started; ",
      "restore its content or start a new run");
}

void check_same_part(const Json& config, const std::string& source,
                     const char* key, const std::string& now) {
  const Json data = config.value("data", Json());
  if (!data.is_object() || !data.contains(key)) return;
  RADIR_CHECK(data.at(key) == now, IoError, source, ": the ", key,
              " has changed since the run was started; restore it or start a ",
              "new run");
}

void train_in(const io::RunFolder& folder, const std::string& command,
              CheckpointOptions checkpoints,
              const std::function<void(const ResumableRun&)>& work) {
  const std::string command_line =
      resume_command(command, folder, checkpoints.resume_words);
  try {
    work(ResumableRun(folder, std::move(checkpoints)));
  } catch (const FinishedElsewhere&) {
    throw;
  } catch (const Interrupted&) {
    detail::throw_error<Interrupted>("stopped; resume with: ", command_line);
  } catch (const IoError& error) {
    detail::throw_error<IoError>(
        error.what(), " (fix this, then resume with: ", command_line, ")");
  } catch (...) {
    folder.discard_if_nothing_done();
    throw;
  }
}

void finish_run(const io::RunFolder& folder, const std::string& command,
                const Json& config, const std::string& metrics,
                const std::function<void()>& write_model) {
  try {
    folder.restore();
    Json complete = config;
    const std::int64_t shards = shards_of(folder.path());
    if (shards > 0) complete[kShardsKey] = shards;
    files::write_file(folder.config_file(), complete.dump(2) + "\n");
    files::write_file(folder.metrics_file(), metrics);
    write_model();
  } catch (const IoError& error) {
    detail::throw_error<IoError>(
        error.what(), " (the checkpoint is kept; fix this, then finish with: ",
        resume_command(command, folder), ")");
  }
  folder.remove_checkpoints();
}

}  // namespace radir::workflows
