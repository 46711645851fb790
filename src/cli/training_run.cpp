#include "cli/training_run.h"

#include <charconv>
#include <filesystem>
#include <set>

#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "radir/core/version.h"
#include "radir/files/atomic_file.h"
#include "radir/files/json_object.h"
#include "radir/files/utf8.h"

namespace radir::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string resume_command(const std::string& command,
                           const io::RunFolder& folder) {
  const std::string& path = folder.path();
  const bool plain = path.find_first_of(" \t'\"$&;()*?") == std::string::npos;
  return "radir " + command + " --resume " + (plain ? path : "'" + path + "'");
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
  std::string absolute = std::filesystem::absolute(path).string();
  RADIR_CHECK(files::is_utf8(absolute), ArgumentError, path,
              ": the name of its folder ",
              "is not valid UTF-8, as config.json requires; rename the folder");
  return absolute;
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--out", options.out,
          "Folder of the new run (default: a free name, such as houses-run)")
      ->type_name("RUN");
  command
      .add_option(
          "--resume", options.resume,
          "Folder of an interrupted run to resume with its own settings")
      ->type_name("RUN");
  command
      .add_option_function<std::string>(
          "--checkpoint-every",
          [&options](const std::string& text) {
            options.checkpoint_every = parse_duration(text);
          },
          "Time between checkpoints: 500ms, 30s, 5m, 1h")
      ->type_name("TIME")
      ->default_str("30s");
}

void check_resume_options(const CLI::App& command) {
  const std::set<std::string> allowed = {"--resume",           "--threads",
                                         "--device",           "--json",
                                         "--checkpoint-every", "--data-dir"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    RADIR_CHECK(option->count() == 0 || allowed.count(name) == 1, ArgumentError,
                name, " cannot be used with --resume: a run is ",
                "resumed with its original settings");
  }
}

std::chrono::milliseconds parse_duration(const std::string& text) {
  using std::chrono::milliseconds;
  const std::pair<const char*, milliseconds> units[] = {
      {"ms", milliseconds(1)},
      {"s", std::chrono::seconds(1)},
      {"m", std::chrono::minutes(1)},
      {"h", std::chrono::hours(1)}};
  constexpr std::int64_t kMost = 1000000;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  for (const auto& [unit, length] : units) {
    if (error == std::errc() && number > 0 && number <= kMost &&
        std::string(rest, end) == unit) {
      return number * length;
    }
  }
  detail::throw_error<ArgumentError>(
      "--checkpoint-every: \"", text, "\" is not a duration; write a positive ",
      "integer and a unit, such as 30s, 5m, 1h or 500ms");
}

io::RunFolder begin_run(const std::string& path, const Json& config) {
  io::RunFolder folder = io::RunFolder::create(path);
  folder.write_config(config.dump(2) + "\n");
  return folder;
}

Json read_run_config(const io::RunFolder& folder, const std::string& command) {
  Json config =
      Json::parse(folder.config(), nullptr, /*allow_exceptions=*/false);
  RADIR_CHECK(config.is_object() && config.contains("command") &&
                  config["command"].is_object() &&
                  config["command"].value("name", Json()).is_string(),
              IoError, folder.config_file(),
              ": contains no valid command; the file is damaged");
  const auto started = config["command"]["name"].get<std::string>();
  RADIR_CHECK(
      started == command, ArgumentError, folder.path(), ": was started by ",
      "another command; resume with: ", resume_command(started, folder));
  const Json program = config.value("program", Json());
  if (program != version()) {
    say(folder.path() + ": was started by radir " + program.dump() +
        ", but this is " + version() +
        "; the last bits of the result may differ");
  }
  return config;
}

std::string run_options_text(const Json& config) {
  files::JsonObject command(config.at("command"), "command");
  command.text("name");
  std::string text = command.section("options");
  command.finish();
  return text;
}

void check_same_data(const Json& config, const std::string& source,
                     const std::string& fingerprint) {
  const Json data = config.value("data", Json());
  RADIR_CHECK(
      data.is_object() && data.value("fingerprint", Json()) == fingerprint,
      IoError, source, ": has changed since the run was started; ",
      "restore its content or start a new run");
}

void train_in(const io::RunFolder& folder, const std::string& command,
              const RunOptions& options,
              const std::function<void(const workflows::ResumableRun&)>& work) {
  const StopSignals signals;
  workflows::CheckpointOptions checkpoints;
  checkpoints.every = options.checkpoint_every;
  checkpoints.stop_requested = [] { return StopSignals::received() != 0; };
  checkpoints.warn = say;
  try {
    work(workflows::ResumableRun(folder, std::move(checkpoints)));
  } catch (const workflows::Interrupted&) {
    throw StoppedBySignal(
        "stopped; resume with: " + resume_command(command, folder),
        StopSignals::received());
  } catch (const IoError& error) {
    detail::throw_error<IoError>(error.what(), " (fix this, then resume with: ",
                                 resume_command(command, folder), ")");
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
    files::write_file(folder.config_file(), config.dump(2) + "\n");
    files::write_file(folder.metrics_file(), metrics);
    write_model();
  } catch (const IoError& error) {
    detail::throw_error<IoError>(
        error.what(), " (the checkpoint is kept; fix this, then finish with: ",
        resume_command(command, folder), ")");
  }
  folder.remove_checkpoints();
}

}  // namespace radir::cli
