#include "reproduce/uci_fit.h"

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/regression_scores.h"
#include "radir/workflows/run_part.h"
#include "radir/workflows/seen_rows.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_predictor.h"
#include "radir/workflows/table_settings.h"

namespace radir::reproduce {

std::int64_t uci_steps(const UciOptions& options, std::int64_t rows) {
  if (options.steps > 0) return options.steps;
  if (options.quick) return 10000;
  return rows < kSmallSet ? 20000 : 40000;
}

int repetitions_of(std::int64_t rows) {
  return rows < kSmallSet ? kSmallSetRepetitions : 1;
}

UciScore uci_score(const workflows::TableModel& model,
                   const data::EncodedRows& test, std::uint64_t seed) {
  workflows::TablePredictor predictor(model, kUciSamples, seed);
  const data::ColumnCode& code = model.encoder.target();
  UciScore result;
  double squares = 0;
  const auto overflowed = predictor.regression(
      test, [&](std::int64_t row, const likelihood::PredictiveMixture& p) {
        const double target = data::target_value(
            code,
            static_cast<double>(test.targets[static_cast<std::size_t>(row)]));
        result.log_likelihood += p.log_density(target);
        const auto score = likelihood::score(p, target, {}, code.resolution);
        result.interval_log_likelihood += score.log_interval_density.value_or(
            std::numeric_limits<double>::quiet_NaN());
        result.interval_coverage_90 += score.share_inside(0.05, 0.95);
        result.crps += score.crps;
        squares += (target - p.mean()) * (target - p.mean());
        const double probability = p.cdf(target);
        if (probability >= 0.05 && probability <= 0.95) result.coverage_90 += 1;
      });
  RADIR_CHECK(overflowed.empty(), NumericalError, "uci: ", overflowed.size(),
              " test rows have no prediction: the outputs overflow");
  const double count = static_cast<double>(test.count);
  result.log_likelihood /= count;
  result.rmse = std::sqrt(squares / count);
  result.coverage_90 /= count;
  result.interval_log_likelihood /= count;
  result.interval_coverage_90 /= count;
  result.crps /= count;
  workflows::SeenCount seen;
  model.seen_rows.count(test, model.encoder.input_size(), seen);
  result.seen = seen.share();
  return result;
}

std::vector<workflows::TableTrial> mean_trials(
    const data::Table& table, const data::UciSplit& split,
    const std::vector<workflows::TableSettings>& settings, int repetitions,
    Device device, const workflows::ResumableRun* run) {
  std::vector<workflows::TableTrial> means;
  for (const workflows::TableSettings& candidate : settings)
    means.push_back({candidate});
  for (int i = 0; i < repetitions; ++i) {
    std::vector<workflows::TableSettings> seeded = settings;
    for (workflows::TableSettings& candidate : seeded) {
      candidate.seed = workflows::restart_seed(candidate.seed, i);
    }
    const workflows::RunPart part(run, "tuning-" + std::to_string(i + 1));
    const auto trials = workflows::compare_candidates(
        table, "target", data::MissingValues::Refuse, split.train, seeded,
        Execution(device, nullptr), nullptr, part.get());
    for (std::size_t k = 0; k < means.size(); ++k) {
      means[k].log_likelihood += trials[k].log_likelihood / repetitions;
      means[k].settings.noise_factor *=
          std::pow(trials[k].settings.noise_factor, 1.0 / repetitions);
    }
  }
  return means;
}

nlohmann::ordered_json to_json(const UciScore& score) {
  return {{"log_likelihood", score.log_likelihood},
          {"rmse", score.rmse},
          {"coverage_90", score.coverage_90},
          {"interval_log_likelihood", score.interval_log_likelihood},
          {"interval_coverage_90", score.interval_coverage_90},
          {"crps", score.crps},
          {"seen", score.seen}};
}

double number_from(files::JsonObject& json, const char* key) {
  return json.optional_number(key).value_or(
      std::numeric_limits<double>::quiet_NaN());
}

UciScore score_from(files::JsonObject json) {
  UciScore score;
  score.log_likelihood = number_from(json, "log_likelihood");
  score.rmse = number_from(json, "rmse");
  score.coverage_90 = json.number("coverage_90");
  // Not in version 0.1.
  const auto later = [&](const char* key) {
    return json.has(key) ? number_from(json, key)
                         : std::numeric_limits<double>::quiet_NaN();
  };
  score.interval_log_likelihood = later("interval_log_likelihood");
  score.interval_coverage_90 = later("interval_coverage_90");
  score.crps = later("crps");
  score.seen = later("seen");
  json.finish();
  return score;
}

}  // namespace radir::reproduce
