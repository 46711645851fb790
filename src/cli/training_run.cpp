#include "cli/training_run.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "radir/collective/job.h"
#include "radir/core/shell_text.h"
#include "radir/workflows/job_sharded_sum.h"
#include "radir/workflows/shared_run.h"

namespace radir::cli {
namespace {

std::string resume_words(const RunOptions& options) {
  std::string words;
  for (const auto& [name, path] : {std::pair<const char*, const std::string&>(
                                       "--data", options.moved_data),
                                   {"--data-dir", options.moved_dir}}) {
    if (path.empty()) continue;
    words += (words.empty() ? "" : " ") + (name + (" " + shell_word(path)));
  }
  return words;
}

}  // namespace

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
  CLI::Option* shards =
      command
          .add_option(
              "--shards", options.place.shards,
              "Number of shards that each batch is computed in, so that "
              "several workers train one network to the same bits; a power "
              "of two (default: 0, none)")
          ->type_name("N");
  check_integer(*shards, 0, train::kMostShards);
}

void check_resume_options(const CLI::App& command) {
  const std::set<std::string> allowed = {
      "--resume",           "--threads", "--device",  "--json",
      "--checkpoint-every", "--data",    "--data-dir"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    RADIR_CHECK(option->count() == 0 || allowed.count(name) == 1, ArgumentError,
                name, " cannot be used with --resume: a run is ",
                "resumed with its original settings");
  }
}

std::chrono::milliseconds parse_duration(const std::string& text,
                                         const std::string& option) {
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
      option, ": \"", text, "\" is not a duration; write a positive ",
      "integer and a unit, such as 30s, 5m, 1h or 500ms");
}

void as_worker(const RunOptions& given,
               const std::function<void(const RunOptions&)>& work) {
  RunOptions run = given;
  if (!run.resume.empty()) {
    run.place.shards = workflows::shards_of(run.resume);
  }
  const std::int64_t shards = run.place.shards;
  const auto settings = collective::job_settings(
      [](const char* name) -> const char* { return std::getenv(name); });
  if (!settings) {
    std::optional<train::ShardedSum> alone;
    if (shards > 0) run.sharded = &alone.emplace(shards);
    return work(run);
  }
  collective::Job job(*settings);
  workflows::SharedRun shared(job);
  run.place.shared = &shared;
  std::optional<workflows::JobShardedSum> together;
  if (shards > 0) {
    run.sharded = &together.emplace(
        job, shards, [] { return StopSignals::received() != 0; }, say);
  }
  for (;;) {
    try {
      return work(run);
    } catch (const workflows::FinishedElsewhere&) {
      return;  // another worker prints the result
    } catch (const workflows::Rejoin&) {
      // From the start, as a worker that has just come.
    }
  }
}

void finish_in_one(const RunOptions& run, const std::function<void()>& work) {
  if (run.place.shared == nullptr) return work();
  run.place.shared->finish([&] {
    work();
    std::cout.flush();
  });
}

void with_stop_signals(
    const RunOptions& options,
    const std::function<void(const workflows::CheckpointOptions&)>& work) {
  const StopSignals signals;
  workflows::CheckpointOptions checkpoints;
  checkpoints.every = options.checkpoint_every;
  checkpoints.stop_requested = [] { return StopSignals::received() != 0; };
  checkpoints.warn = say;
  checkpoints.resume_words = resume_words(options);
  // With shards, the workers do all parts together.
  if (options.sharded == nullptr) checkpoints.shared = options.place.shared;
  checkpoints.sharded = options.sharded;
  try {
    work(checkpoints);
  } catch (const workflows::Interrupted& error) {
    throw StoppedBySignal(error.what(), StopSignals::received());
  }
}

nlohmann::ordered_json read_run_config(const io::RunFolder& folder,
                                       const std::string& command) {
  return workflows::read_run_config(folder, command, say);
}

void train_in(const io::RunFolder& folder, const std::string& command,
              const RunOptions& options,
              const std::function<void(const workflows::ResumableRun&)>& work) {
  with_stop_signals(options,
                    [&](const workflows::CheckpointOptions& checkpoints) {
                      workflows::train_in(folder, command, checkpoints, work);
                    });
}

}  // namespace radir::cli
