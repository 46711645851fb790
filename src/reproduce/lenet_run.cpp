#include "reproduce/lenet_run.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/network/spec.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/run_part.h"
#include "radir/workflows/run_parts.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;

/// What must be equal for a kept result to count.
Json key_of(const workflows::CompressSettings& settings,
            const data::ImageSplit& images) {
  return {{"settings", Json::parse(to_json(settings))},
          {"data", images.fingerprint}};
}

Json to_json(const std::vector<workflows::LayerScores>& scores) {
  Json list = Json::array();
  for (const workflows::LayerScores& layer : scores) {
    list.push_back({{"removed", layer.removed}, {"kept", layer.kept}});
  }
  return list;
}

std::vector<workflows::LayerScores> scores_from(const Json& list) {
  std::vector<workflows::LayerScores> scores;
  for (const Json& layer : list) {
    scores.push_back({layer.at("removed").get<std::vector<double>>(),
                      layer.at("kept").get<std::vector<double>>()});
  }
  return scores;
}

std::string record_of(const LenetRun& run, const Json& key) {
  const Json json = {{"key", key},
                     {"seed", run.seed},
                     {"unpruned", Json::parse(to_json(run.unpruned))},
                     {"pruned", Json::parse(to_json(run.pruned))},
                     {"fine_tuned", Json::parse(to_json(run.fine_tuned))},
                     {"scores", to_json(run.scores)},
                     {"seconds", run.seconds}};
  return json.dump(2) + "\n";
}

/// What record_of wrote for the same key; none for another text.
std::optional<LenetRun> run_of(const std::string& text, const Json& key) {
  try {
    const Json document = files::parse_json<Json>("result", text, {});
    files::JsonObject json(document, "result");
    if (json.at("key") != key) return std::nullopt;
    LenetRun run;
    run.seed = json.seed("seed");
    run.unpruned = workflows::figures_from_json(json.object("unpruned"));
    run.pruned = workflows::figures_from_json(json.object("pruned"));
    run.fine_tuned = workflows::figures_from_json(json.object("fine_tuned"));
    if (json.has("scores")) {  // not in version 0.1
      run.scores = scores_from(json.array("scores"));
    }
    run.seconds = json.number("seconds");
    json.finish();
    return run;
  } catch (const IoError&) {
    return std::nullopt;  // damaged
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// What an earlier process or another worker kept of one seed.
std::optional<LenetRun> kept_seed(const workflows::CompressSettings& settings,
                                  const data::ImageSplit& images,
                                  const workflows::ResumableRun* run) {
  if (run == nullptr) return std::nullopt;
  run->check_stop();
  const std::optional<std::string> text = run->result();
  return text ? run_of(*text, key_of(settings, images)) : std::nullopt;
}

/// One seed: kept, or compressed here.
LenetRun run_seed(const workflows::CompressSettings& settings,
                  const data::ImageSplit& images,
                  const workflows::CompressProgress& progress,
                  const workflows::ResumableRun* run) {
  if (auto kept = kept_seed(settings, images, run)) return *kept;
  const Json key = key_of(settings, images);
  const workflows::CompressResult result =
      compress(images, settings, progress, nullptr, run);
  const LenetRun done{settings.seed,          result.unpruned, result.pruned,
                      result.final_figures(), result.scores,   result.seconds};
  if (run != nullptr) run->keep_result(record_of(done, key));
  return done;
}

}  // namespace

void check_seeds(std::int64_t seeds) {
  RADIR_CHECK(seeds >= 1 && seeds <= kMostSeeds, ArgumentError,
              "the number of seeds must be from 1 to ", kMostSeeds, ", but is ",
              seeds);
}

workflows::CompressSettings with_network(const LenetOptions& options) {
  workflows::CompressSettings settings = options.settings;
  settings.network_name = options.dense ? "lenet300" : "lenet5";
  settings.network = options.dense ? network::lenet300() : network::lenet5();
  return settings;
}

std::vector<LenetRun> run_lenet_tasks(
    const std::vector<LenetTask>& tasks, const data::ImageSplit& images,
    ThreadPool& pool, const workflows::CompressProgress& progress,
    const workflows::ResumableRun* run) {
  std::vector<LenetRun> runs(tasks.size());
  std::vector<double> shares(runs.size());
  std::vector<workflows::RunPart> parts;
  for (const LenetTask& task : tasks) parts.emplace_back(run, task.part);
  std::mutex one_at_a_time;
  workflows::PartsWork work;
  work.count = static_cast<std::int64_t>(tasks.size());
  work.part = [&](std::int64_t i) {
    return parts[static_cast<std::size_t>(i)].get();
  };
  work.run = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const auto report = [&](double share, const std::string& text) {
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      shares[at] = share;
      double sum = 0;
      for (double s : shares) sum += s;
      if (progress) {
        progress(sum / static_cast<double>(shares.size()),
                 tasks[at].label + ", " + text);
      }
    };
    runs[at] = run_seed(tasks[at].settings, images, report, parts[at].get());
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    shares[at] = 1;
  };
  work.take_over = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    auto kept = kept_seed(tasks[at].settings, images, parts[at].get());
    if (!kept) return false;
    runs[at] = std::move(*kept);
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    shares[at] = 1;
    return true;
  };
  workflows::run_parts(work, &pool);
  return runs;
}

std::string joined(const std::vector<std::int64_t>& units) {
  std::string text;
  for (std::int64_t count : units) {
    text += (text.empty() ? "" : "-") + std::to_string(count);
  }
  return text;
}

}  // namespace radir::reproduce
