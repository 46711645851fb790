#include "workflows/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <tuple>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_methods.h"
#include "radir/workflows/table_predictor.h"
#include "workflows/encoded_subset.h"
#include "workflows/row_groups.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kValidationSamples = 100;
/// Networks of a trial whose settings ask for several: enough to see what a
/// mixture gains.
constexpr std::int64_t kTrialNetworks = 2;
/// Rows behind a CRPS, which takes a millisecond each for mixtures of noises.
constexpr std::int64_t kCrpsRows = 1000;
/// Steps of the training that says how fast a candidate is.
constexpr std::int64_t kTimedSteps = 200;

std::vector<std::vector<std::int64_t>> split_rows(
    const std::vector<std::int64_t>& rows, std::uint64_t seed) {
  const RowGroups groups(rows);
  const auto order = train::shuffled(groups.count(), validation_seed(seed), 0);
  const std::int64_t aside = validation_rows(groups.count());
  RADIR_CHECK(aside > 0, ArgumentError, "tuning needs at least 5 rows, but ",
              "there are ", groups.count(), "; train without --tune");
  std::vector<std::vector<std::int64_t>> parts(2);
  for (std::int64_t i = 0; i < groups.count(); ++i) {
    std::vector<std::int64_t> places;
    groups.append(order[static_cast<std::size_t>(i)], places);
    for (const std::int64_t place : places) {
      parts[i < aside ? 1 : 0].push_back(rows[static_cast<std::size_t>(place)]);
    }
  }
  return parts;
}

/// Mean log of the factor from original to standardised densities.
double log_scale(const data::TableEncoder& encoder,
                 const data::EncodedRows& rows) {
  if (encoder.is_classification()) return 0;
  const data::ColumnCode& target = encoder.target();
  double slopes = 0;
  for (const float value : rows.targets) {
    if (target.transform.is_none()) break;
    slopes += target.transform.log_slope(
        data::target_value(target, static_cast<double>(value)));
  }
  return std::log(target.scale) - slopes / static_cast<double>(rows.count);
}

/// Root mean square error of the means and, where it is looked for, the CRPS.
void score_numbers(TablePredictor& predictor, const data::EncodedRows& rows,
                   TableTrial& trial) {
  const data::ColumnCode& target = predictor.encoder().target();
  double squares = 0;
  double crps = 0;
  const auto missed = predictor.regression(
      rows, [&](std::int64_t row, const likelihood::PredictiveMixture& p) {
        const double actual = data::target_value(
            target,
            static_cast<double>(rows.targets[static_cast<std::size_t>(row)]));
        squares += (actual - p.mean()) * (actual - p.mean());
        if (trial.goal == TuneFor::Crps && row < kCrpsRows) {
          crps += p.crps(actual);
        }
      });
  if (!missed.empty()) return;
  trial.error = std::sqrt(squares / static_cast<double>(rows.count));
  if (trial.goal == TuneFor::Crps) {
    trial.loss = crps / static_cast<double>(std::min(rows.count, kCrpsRows));
  }
}

void score_classes(TablePredictor& predictor, const data::EncodedRows& rows,
                   TableTrial& trial) {
  TableScores scores(predictor.encoder());
  if (!scores.add(predictor, rows).empty()) return;
  for (const auto& [name, value] : scores.metrics()) {
    if (name == "error") trial.error = value;
    if (name == "brier" && trial.goal == TuneFor::Brier) trial.loss = value;
  }
}

/// Fits networks and scores them; where their method tunes the noise, sets its
/// factor too. `fitting` gets the seconds of the fit.
void try_settings(const data::TableEncoder& encoder,
                  const data::EncodedRows& fit_on,
                  const data::EncodedRows& score_on, Device device,
                  const ResumableRun* run, TableTrial& trial,
                  double* fitting = nullptr) {
  TableSettings& settings = trial.settings;
  trial.log_likelihood = -std::numeric_limits<double>::infinity();
  trial.error = std::numeric_limits<double>::infinity();
  try {
    TableSettings tried = single_network(settings);
    tried.restarts = tried.chains = std::min(settings.fits(), kTrialNetworks);
    const Clock::time_point start = Clock::now();
    TableModel fitted = fit_networks(encoder, fit_on, tried, nullptr,
                                     Execution(device, nullptr), run);
    if (fitting != nullptr) *fitting = seconds_since(start);
    const std::int64_t samples = settings.samples() ? 1 : kValidationSamples;
    const train::Model model(fitted.spec);
    const train::NoiseFit noise = train::fit_noise(
        model, fitted.networks, score_on.view(), samples, settings.seed,
        method_of(settings).tunes_noise ? train::noise_factors()
                                        : std::vector{1.0});
    settings.noise_factor *= noise.factor;
    for (std::vector<float>& network : fitted.networks) {
      train::scale_noise(model, noise.factor, network);
    }
    const double score = -noise.nll - log_scale(encoder, score_on);
    if (std::isnan(score)) return;  // rounds are sorted by it
    trial.log_likelihood = score;
    TablePredictor predictor(fitted, samples, settings.seed);
    if (encoder.is_classification()) {
      score_classes(predictor, score_on, trial);
    } else {
      score_numbers(predictor, score_on, trial);
    }
  } catch (const NumericalError&) {
  }
}

/// Fitted to the rows of the candidates, with the classes of all rows: a rare
/// one may be in the others alone.
data::TableEncoder encoder_of(const data::Table& table,
                              const std::string& target,
                              data::MissingValues missing,
                              const std::vector<std::int64_t>& fit_on,
                              const std::vector<std::int64_t>& all) {
  try {
    return data::TableEncoder::fit(table, target, missing, fit_on, all);
  } catch (const IoError& error) {
    detail::throw_error<ArgumentError>(
        "tuning fits four fifths of the rows, and these are not enough: ",
        error.what(), "; train without --tune");
  }
}

}  // namespace

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool can_validate(const data::Table& table, const std::string& target,
                  data::MissingValues missing,
                  const std::vector<std::int64_t>& rows, std::uint64_t seed) {
  try {
    data::TableEncoder::fit(table, target, missing, split_rows(rows, seed)[0]);
  } catch (const IoError&) {
    return false;
  }
  return true;
}

Validation::Validation(const data::Table& table, const std::string& target,
                       data::MissingValues missing,
                       const std::vector<std::int64_t>& rows,
                       const std::vector<TableSettings>& candidates) {
  const auto parts = split_rows(rows, candidates.front().seed);
  const auto encoder = encoder_of(table, target, missing, parts[0], rows);
  const data::EncodedRows fit_on = encoder.encode(table, true, parts[0]);
  for (const TableSettings& settings : candidates) {
    const auto [place, is_new] = encoded_.try_emplace(encoding_of(settings));
    if (!is_new) continue;
    Encoded& encoded = place->second;
    encoded.encoder = encoder;
    encoded.fit_on = fit_on;
    encode_for(settings, table, encoded.encoder, encoded.fit_on);
    encoded.score_on = encoded.encoder.encode(table, true, parts[1]);
  }
}

std::vector<TableTrial> Validation::compare(
    const std::vector<TableSettings>& candidates, const Execution& execution,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run, TuneFor goal, std::int64_t round,
    std::size_t before) const {
  std::vector<TableTrial> trials(candidates.size());
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= candidates.size(); ++i) {
    names.push_back("trial-" + std::to_string(before + i));
  }
  std::mutex one_at_a_time;
  const auto run_one = [&](std::int64_t index, const ResumableRun* part) {
    const auto i = static_cast<std::size_t>(index);
    TableTrial& trial = trials[i];
    trial.settings = candidates[i];
    trial.round = round;
    trial.candidate = i;
    trial.goal = goal;
    const Encoded& encoded = encoded_.at(encoding_of(trial.settings));
    if (trial.settings.method == "auto") {
      trial.settings =
          resolved(trial.settings, encoded.encoder, encoded.fit_on.count);
    }
    try_settings(encoded.encoder, encoded.fit_on, encoded.score_on,
                 execution.device, part, trial);
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (on_trial) on_trial(trial);
  };
  run_parts(run, names, execution.pool, run_one);
  return trials;
}

std::vector<TrialCost> Validation::costs(
    const std::vector<TableSettings>& candidates, const Execution& execution,
    TuneFor goal) const {
  const auto kind = [](const TableSettings& one) {
    return std::tuple(one.hidden, one.noise, encoding_of(one));
  };
  std::map<decltype(kind(candidates.front())), TrialCost> known;
  std::vector<const TableSettings*> first;
  for (const TableSettings& one : candidates) {
    if (known.emplace(kind(one), TrialCost()).second) first.push_back(&one);
  }
  run_tasks(execution.pool, static_cast<std::int64_t>(first.size()),
            [&](std::int64_t i) {
              const TableSettings& one = *first[static_cast<std::size_t>(i)];
              known.at(kind(one)) = cost(one, execution.device, goal);
            });
  std::vector<TrialCost> result;
  for (const TableSettings& one : candidates) {
    TrialCost cost = known.at(kind(one));
    const Encoded& encoded = encoded_.at(encoding_of(one));
    cost.epochs = epochs_of(one, encoded.fit_on.count);
    result.push_back(cost);
  }
  return result;
}

TrialCost Validation::cost(const TableSettings& settings, Device device,
                           TuneFor goal) const {
  const Encoded& encoded = encoded_.at(encoding_of(settings));
  TableTrial trial;
  trial.settings = settings;
  trial.goal = goal;
  const data::EncodedRows some =
      encoded_sample(encoded.fit_on, encoded.encoder.input_size(),
                     kTimedSteps * settings.batch);
  TableSettings timed = settings;
  timed.epochs = 0;
  timed.steps = kTimedSteps;
  trial.settings.epochs = std::min(epochs_of(timed, some.count),
                                   epochs_of(settings, encoded.fit_on.count));
  const Clock::time_point start = Clock::now();
  double fitting = 0;
  try_settings(encoded.encoder, some, encoded.score_on, device, nullptr, trial,
               &fitting);
  TrialCost cost;
  cost.scoring = seconds_since(start) - fitting;
  cost.epoch = fitting / static_cast<double>(trial.settings.epochs) *
               static_cast<double>(encoded.fit_on.count) /
               static_cast<double>(some.count);
  return cost;
}

}  // namespace radir::workflows
