#include "radir/workflows/table_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "radir/core/error.h"
#include "radir/core/settings_text.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/workflows/run_part.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_methods.h"

namespace radir::workflows {
namespace {

/// Share of the rows behind a validation score, one in this many.
constexpr std::size_t kValidationRowPart = 5;
constexpr std::int64_t kValidationSamples = 100;
/// What tuning compares the given weight of the KL term, or the given length of
/// training, with.
constexpr double kSmallKlWeight = 0.3;
constexpr std::int64_t kLonger = 3;
/// Networks of a trial whose settings ask for several: enough to see what a
/// mixture gains.
constexpr std::int64_t kTrialNetworks = 2;
/// Added to the seed of the shuffle that cuts off the validation rows, so that
/// it is none of the training's.
constexpr std::uint64_t kValidationSeed = 0x76616c6964617465u;

std::vector<std::vector<std::int64_t>> split_rows(
    const std::vector<std::int64_t>& rows, std::uint64_t seed) {
  const auto order = train::shuffled(static_cast<std::int64_t>(rows.size()),
                                     seed + kValidationSeed, 0);
  const std::size_t aside = rows.size() / kValidationRowPart;
  RADIR_CHECK(aside > 0, ArgumentError, "tuning needs at least ",
              kValidationRowPart, " rows, but there are ", rows.size());
  std::vector<std::vector<std::int64_t>> parts(2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts[i < aside ? 1 : 0].push_back(
        rows[static_cast<std::size_t>(order[i])]);
  }
  return parts;
}

/// log of the factor from standardised to original densities.
double log_scale(const data::TableEncoder& encoder) {
  return encoder.is_classification() ? 0 : std::log(encoder.target().scale);
}

/// Fits networks; where their method tunes the noise, sets its factor too.
double validation_score(const data::TableEncoder& encoder,
                        const data::EncodedRows& fit_on,
                        const data::EncodedRows& score_on,
                        TableSettings& settings, const ResumableRun* run) {
  try {
    TableSettings tried = single_network(settings);
    tried.restarts = std::min(settings.restarts, kTrialNetworks);
    const TableModel fitted =
        fit_networks(encoder, fit_on, tried, nullptr, nullptr, run);
    const train::NoiseFit noise = train::fit_noise(
        train::Model(fitted.spec), fitted.networks, score_on.view(),
        kValidationSamples, settings.seed,
        method_of(settings).tunes_noise ? train::noise_factors()
                                        : std::vector{1.0});
    settings.noise_factor *= noise.factor;
    return -noise.nll - log_scale(encoder);
  } catch (const NumericalError&) {
    return -std::numeric_limits<double>::infinity();
  }
}

/// Double groups around the posterior's own directions with two gaps, rows and
/// columns with uniform directions and a concentration each.
std::vector<TableSettings> radial_candidates(const TableSettings& base) {
  std::vector<TableSettings> candidates(4, base);
  const double gaps[] = {3e-3, 1e-3};
  const posterior::Grouping groups[] = {posterior::Grouping::Row,
                                        posterior::Grouping::Column};
  for (std::size_t i = 0; i < 2; ++i) {
    TableSettings& around = candidates[i];
    around.grouping = posterior::Grouping::Double;
    around.direction_prior = posterior::DirectionPrior::LocationAgnostic;
    around.concentration_per_group = false;
    around.direction_gap = gaps[i];
    TableSettings& uniform = candidates[2 + i];
    uniform.grouping = groups[i];
    uniform.direction_prior = posterior::DirectionPrior::Uniform;
    uniform.concentration_per_group = true;
  }
  return candidates;
}

/// One per set of the method's options; those of the settings stay.
std::vector<TableSettings> option_candidates(const TableSettings& base) {
  const auto given = parse_assignments("family_options", base.family_options);
  std::vector<TableSettings> candidates;
  for (const std::string& text : method_of(base).tuned_options) {
    auto options = given;
    options.merge(parse_assignments("family_options", text));
    std::string joined;
    for (const auto& [name, value] : options) {
      joined += (joined.empty() ? "" : ",") + name + "=" + value;
    }
    candidates.push_back(base);
    candidates.back().family_options = joined;
  }
  return candidates;
}

}  // namespace

std::vector<TableSettings> tuning_candidates(const TableSettings& given,
                                             bool classification) {
  if (classification) return tuning_candidates(given, {given.noise});
  return tuning_candidates(
      given, {likelihood::Kind::Gaussian, likelihood::Kind::PredictedNoise});
}

std::vector<TableSettings> tuning_candidates(
    const TableSettings& given, const std::vector<likelihood::Kind>& kinds) {
  TableSettings base = given;
  if (base.method == "auto") base.method = base.family.empty() ? "rdp" : "elbo";
  std::vector<TableSettings> candidates;
  const TableMethod& method = method_of(base);
  // As many as the other methods have: of one noise model, half of them.
  for (std::size_t i = kinds.size() == 1 ? 1 : 0;
       i < method.tuned_passes.size(); i += kinds.size() == 1 ? 2 : 1) {
    candidates.push_back(base);
    candidates.back().epochs = method.tuned_passes[i];
  }
  if (!candidates.empty()) return candidates;

  const auto priors = method.tuned_options.empty() ? radial_candidates(base)
                                                   : option_candidates(base);
  for (likelihood::Kind noise : kinds) {
    for (const TableSettings& prior : priors) {
      for (bool second : {false, true}) {
        candidates.push_back(prior);
        TableSettings& candidate = candidates.back();
        candidate.noise = noise;
        if (!second) continue;
        if (method.tunes_kl) {
          candidate.kl_weight *= kSmallKlWeight;
        } else {
          candidate.epochs *= kLonger;
          candidate.steps *= kLonger;
        }
      }
    }
  }
  return candidates;
}

std::vector<TableTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, ThreadPool* pool,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "compare_candidates: there are no candidates");
  const auto parts = split_rows(rows, candidates.front().seed);
  const data::TableEncoder encoder =
      data::TableEncoder::fit(table, target, missing, parts[0]);
  const data::EncodedRows fit_on = encoder.encode(table, true, parts[0]);
  const data::EncodedRows score_on = encoder.encode(table, true, parts[1]);

  std::vector<TableTrial> trials(candidates.size());
  std::mutex one_at_a_time;
  const auto run_one = [&](std::int64_t i) {
    TableTrial& trial = trials[static_cast<std::size_t>(i)];
    trial.settings = candidates[static_cast<std::size_t>(i)];
    if (trial.settings.method == "auto") {
      trial.settings = resolved(trial.settings, encoder, fit_on.count);
    }
    const RunPart part(run, "trial-" + std::to_string(i + 1));
    trial.log_likelihood =
        validation_score(encoder, fit_on, score_on, trial.settings, part.get());
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (on_trial) on_trial(trial);
  };
  const auto count = static_cast<std::int64_t>(candidates.size());
  if (pool != nullptr) {
    pool->run(count, run_one);
  } else {
    for (std::int64_t i = 0; i < count; ++i) run_one(i);
  }
  return trials;
}

const TableTrial& best_trial(const std::vector<TableTrial>& trials) {
  const auto best =
      std::max_element(trials.begin(), trials.end(),
                       [](const TableTrial& a, const TableTrial& b) {
                         return a.log_likelihood < b.log_likelihood;
                       });
  RADIR_CHECK(best != trials.end() && std::isfinite(best->log_likelihood),
              NumericalError, "tuning: every candidate's training failed; try ",
              "a smaller learning rate");
  return *best;
}

}  // namespace radir::workflows
