#include "radir/workflows/table_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "radir/core/error.h"
#include "radir/core/settings_text.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_methods.h"

namespace radir::workflows {
namespace {

/// Share of the rows behind a validation score, one in this many.
constexpr std::int64_t kValidationRowPart = 5;
constexpr std::int64_t kValidationSamples = 100;
/// What tuning compares the given weight of the KL term, or the given length of
/// training, with.
constexpr double kSmallKlWeight = 0.3;
constexpr std::int64_t kLonger = 3;
/// Networks of a trial whose settings ask for several: enough to see what a
/// mixture gains.
constexpr std::int64_t kTrialNetworks = 2;
/// Networks behind tuned settings, unless another number is asked for: colder
/// posteriors (a smaller weight of the KL term) pay as a mixture.
constexpr std::int64_t kTunedNetworks = 4;
/// Of a search: each round keeps one candidate in so many and trains it so many
/// times as long.
constexpr std::int64_t kRounds = 3;
constexpr std::int64_t kHalving = 3;
/// Added to the seed of the shuffle that cuts off the validation rows, so that
/// it is none of the training's.
constexpr std::uint64_t kValidationSeed = 0x76616c6964617465u;

std::vector<std::vector<std::int64_t>> split_rows(
    const std::vector<std::int64_t>& rows, std::uint64_t seed) {
  const auto order = train::shuffled(static_cast<std::int64_t>(rows.size()),
                                     validation_seed(seed), 0);
  const auto aside = static_cast<std::size_t>(
      validation_rows(static_cast<std::int64_t>(rows.size())));
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
                        TableSettings& settings, Device device,
                        const ResumableRun* run) {
  try {
    TableSettings tried = single_network(settings);
    tried.restarts = tried.chains = std::min(settings.fits(), kTrialNetworks);
    const TableModel fitted = fit_networks(encoder, fit_on, tried, nullptr,
                                           Execution(device, nullptr), run);
    const train::NoiseFit noise = train::fit_noise(
        train::Model(fitted.spec), fitted.networks, score_on.view(),
        settings.samples() ? 1 : kValidationSamples, settings.seed,
        method_of(settings).tunes_noise ? train::noise_factors()
                                        : std::vector{1.0});
    settings.noise_factor *= noise.factor;
    const double score = -noise.nll - log_scale(encoder);
    // Rounds are sorted by it.
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
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

/// A method that fits instead of "auto", which may sample.
TableSettings with_fit(TableSettings settings) {
  if (settings.method == "auto") {
    settings.method = settings.family.empty() ? "rdp" : "elbo";
  }
  return settings;
}

/// The rows that candidates are fitted to, and those that judge them.
class Validation {
 public:
  Validation(const data::Table& table, const std::string& target,
             data::MissingValues missing, const std::vector<std::int64_t>& rows,
             std::uint64_t seed) {
    const auto parts = split_rows(rows, seed);
    encoder_ = data::TableEncoder::fit(table, target, missing, parts[0]);
    fit_on_ = encoder_.encode(table, true, parts[0]);
    score_on_ = encoder_.encode(table, true, parts[1]);
  }

  /// The trials' parts of the run are called from the number after `before` on.
  std::vector<TableTrial> compare(
      const std::vector<TableSettings>& candidates, const Execution& execution,
      const std::function<void(const TableTrial&)>& on_trial,
      const ResumableRun* run, std::int64_t round = 1,
      std::size_t before = 0) const {
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
      if (trial.settings.method == "auto") {
        trial.settings = resolved(trial.settings, encoder_, fit_on_.count);
      }
      trial.log_likelihood = validation_score(
          encoder_, fit_on_, score_on_, trial.settings, execution.device, part);
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      if (on_trial) on_trial(trial);
    };
    run_parts(run, names, execution.pool, run_one);
    return trials;
  }

 private:
  data::TableEncoder encoder_;
  data::EncodedRows fit_on_;
  data::EncodedRows score_on_;
};

/// Candidates that a round leaves of so many.
std::size_t left_of(std::size_t candidates) {
  return (candidates + kHalving - 1) / kHalving;
}

TableSettings shortened(TableSettings settings, std::int64_t divisor) {
  settings.steps = std::max<std::int64_t>(1, settings.steps / divisor);
  if (settings.epochs > 0) {
    settings.epochs = std::max<std::int64_t>(1, settings.epochs / divisor);
  }
  return settings;
}

/// The numbers of the best trials, best first; the earlier of two equal ones.
std::vector<std::size_t> best_of(const std::vector<TableTrial>& trials,
                                 std::size_t count) {
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return trials[a].log_likelihood > trials[b].log_likelihood;
                   });
  order.resize(count);
  return order;
}

}  // namespace

std::uint64_t validation_seed(std::uint64_t seed) {
  return seed + kValidationSeed;
}

std::int64_t validation_rows(std::int64_t rows) {
  return rows / kValidationRowPart;
}

std::vector<TableSettings> tuning_candidates(const TableSettings& given,
                                             bool classification) {
  if (classification) {
    return tuning_candidates(given, {likelihood::Kind::Gaussian});
  }
  return tuning_candidates(
      given, {likelihood::Kind::Gaussian, likelihood::Kind::Mixture});
}

std::vector<TableSettings> tuning_candidates(
    const TableSettings& given, const std::vector<likelihood::Kind>& kinds) {
  const TableSettings base = with_fit(given);
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

TableSettings searchable(TableSettings settings) {
  settings = with_fit(std::move(settings));
  RADIR_CHECK(!settings.samples(), ArgumentError,
              "tuning compares fits; the method ", settings.method,
              " needs none, train without tuning");
  if (settings.restarts == 0 && method_of(settings).networks == 1) {
    settings.restarts = kTunedNetworks;
  }
  return settings;
}

std::vector<TableSettings> search_candidates(const TableSettings& given,
                                             bool classification) {
  std::vector<std::vector<std::int64_t>> networks = {given.hidden};
  if (given.hidden == TableSettings{}.hidden) {
    networks.push_back({100, 100});
    networks.push_back({100, 100, 100});
  }
  std::vector<TableSettings> candidates;
  for (const auto& hidden : networks) {
    TableSettings base = given;
    base.hidden = hidden;
    for (TableSettings& one : tuning_candidates(base, classification)) {
      candidates.push_back(std::move(one));
    }
  }
  return candidates;
}

std::vector<TableTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, const Execution& execution,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "compare_candidates: there are no candidates");
  return Validation(table, target, missing, rows, candidates.front().seed)
      .compare(candidates, execution, on_trial, run);
}

std::vector<TableTrial> search_settings(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, const Execution& execution,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "search_settings: there are no candidates");
  const Validation validation(table, target, missing, rows,
                              candidates.front().seed);
  std::vector<TableTrial> all;
  std::vector<TableSettings> left = candidates;
  std::int64_t divisor = 1;
  for (std::int64_t round = 1; round < kRounds; ++round) divisor *= kHalving;
  for (std::int64_t round = 1;; ++round, divisor /= kHalving) {
    std::vector<TableSettings> tried;
    tried.reserve(left.size());
    for (const TableSettings& one : left) {
      tried.push_back(shortened(one, divisor));
    }
    const auto trials =
        validation.compare(tried, execution, on_trial, run, round, all.size());
    all.insert(all.end(), trials.begin(), trials.end());
    if (round == kRounds) return all;
    std::vector<TableSettings> next;
    for (std::size_t i : best_of(trials, left_of(left.size()))) {
      next.push_back(left[i]);
    }
    left = std::move(next);
  }
}

std::int64_t search_trials(std::int64_t candidates) {
  auto left = static_cast<std::size_t>(candidates);
  std::size_t sum = left;
  for (std::int64_t round = 1; round < kRounds; ++round) {
    left = left_of(left);
    sum += left;
  }
  return static_cast<std::int64_t>(sum);
}

const TableTrial& best_trial(const std::vector<TableTrial>& trials) {
  // Of an earlier round, what was shortened might win by chance.
  const auto last =
      std::find_if(trials.begin(), trials.end(), [&](const TableTrial& trial) {
        return trial.round == trials.back().round;
      });
  const auto best = std::max_element(
      last, trials.end(), [](const TableTrial& a, const TableTrial& b) {
        return a.log_likelihood < b.log_likelihood;
      });
  RADIR_CHECK(best != trials.end() && std::isfinite(best->log_likelihood),
              NumericalError, "tuning: every candidate's training failed; try ",
              "a smaller learning rate");
  return *best;
}

}  // namespace radir::workflows
