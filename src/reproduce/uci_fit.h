#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/uci.h"
#include "radir/files/json_object.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

// What the benchmarks on UCI sets share. Private to the reproductions.

namespace radir::reproduce {

/// Draws of the weights of a network behind a score.
constexpr std::int64_t kUciSamples = 200;

/// Sets with fewer training rows than this are small: a held-out fifth says
/// little there, so several are tried, and long training gains nothing.
constexpr std::int64_t kSmallSet = 2000;
constexpr int kSmallSetRepetitions = 3;

/// Steps of each training.
std::int64_t uci_steps(const UciOptions& options, std::int64_t rows);

/// Held-out parts that tuning looks at, for so many training rows.
int repetitions_of(std::int64_t rows);

/// The candidates' scores, means over several held-out parts, and the geometric
/// means of their noise factors.
std::vector<workflows::TableTrial> mean_trials(
    const data::Table& table, const data::UciSplit& split,
    const std::vector<workflows::TableSettings>& settings, int repetitions,
    Device device, const workflows::ResumableRun* run);

/// How well test rows are predicted.
UciScore uci_score(const workflows::TableModel& model,
                   const data::EncodedRows& test, std::uint64_t seed);

/// The results of all tasks: those that `kept` returns from an earlier process
/// or another worker, the others by `run`, in parallel. Tasks have their
/// `work`; `progress` gets each new result and the share of the work that is
/// done.
template <typename Result, typename Task, typename Kept, typename Run>
std::vector<Result> run_left(
    const std::vector<Task>& tasks, ThreadPool& pool, const Kept& kept,
    const Run& run,
    const std::function<void(const Result&, double)>& progress) {
  std::vector<Result> results(tasks.size());
  std::vector<std::size_t> left;
  double total = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (std::optional<Result> found = kept(tasks[i])) {
      results[i] = std::move(*found);
      continue;
    }
    left.push_back(i);
    total += tasks[i].work;
  }
  std::mutex one_at_a_time;
  double done = 0;
  const auto add = [&](std::size_t at, Result result) {
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    results[at] = std::move(result);
    done += tasks[at].work;
    if (progress) progress(results[at], done / total);
  };
  workflows::PartsWork work;
  work.count = static_cast<std::int64_t>(left.size());
  const auto place = [&](std::int64_t i) {
    return left[static_cast<std::size_t>(i)];
  };
  work.part = [&](std::int64_t i) { return tasks[place(i)].part.get(); };
  work.run = [&](std::int64_t i) { add(place(i), run(tasks[place(i)])); };
  work.take_over = [&](std::int64_t i) {
    std::optional<Result> found = kept(tasks[place(i)]);
    if (found) add(place(i), std::move(*found));
    return found.has_value();
  };
  workflows::run_parts(work, &pool);
  return results;
}

nlohmann::ordered_json to_json(const UciScore& score);
UciScore score_from(files::JsonObject json);
/// A number that is not finite is null in JSON, and NaN here.
double number_from(files::JsonObject& json, const char* key);

}  // namespace radir::reproduce
