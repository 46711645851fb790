#include "radir/workflows/table_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/data/fingerprint.h"
#include "radir/data/table.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/compiled_step.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/train/step.h"
#include "radir/workflows/run_part.h"

namespace radir::workflows {
namespace {

/// Networks with more parameters than this keep several threads busy on their
/// own; smaller ones train one per thread.
constexpr std::int64_t kLargeNetwork = 200000;
/// Share of the rows behind a validation score, one in this many.
constexpr std::size_t kValidationRowPart = 5;
constexpr std::int64_t kValidationSamples = 100;
/// Added to the seed of the shuffle that cuts off the validation rows, so that
/// it is none of the training's.
constexpr std::uint64_t kValidationSeed = 0x76616c6964617465u;
/// Keeps single bad batches from throwing a network off course; ordinary
/// gradients are smaller.
constexpr double kMaxGradientNorm = 10;
/// Of epochs, steps and rows of a batch: with it no product overflows.
constexpr std::int64_t kMostSteps = 1'000'000'000'000;

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

/// All that decides the bits of one network.
std::string configuration(const TabularSettings& settings,
                          const data::EncodedRows& rows, std::int64_t restart) {
  nlohmann::json json = nlohmann::json::parse(to_json(settings, rows.count));
  json["network"] = restart + 1;
  json["data"] = fingerprint(rows);
  return json.dump();
}

/// The parameters of one restart, kept in the run if there is one.
std::vector<float> fit_network(
    const train::Model& model, const data::EncodedRows& rows,
    const TabularSettings& settings, std::int64_t restart,
    const std::function<bool(const train::EpochReport&)>& on_epoch,
    ThreadPool* pool, const ResumableRun* run) {
  train::TrainerOptions options = trainer_options(settings, rows.count);
  options.seed = restart_seed(settings.seed, restart);
  if (run == nullptr) {
    return train::fit<float>(
               model, rows.view(), options,
               [&](const train::EpochReport& report,
                   const train::TrainingState<float>&) {
                 return on_epoch(report);
               },
               pool)
        .parameters;
  }
  const ResumableRun part =
      settings.restarts == 1 ? *run : run->part(std::to_string(restart + 1));
  return part
      .fit(configuration(settings, rows, restart), model, rows.view(), options,
           on_epoch, pool)
      .parameters;
}

double validation_score(const data::TableEncoder& encoder,
                        const data::EncodedRows& fit_on,
                        const data::EncodedRows& score_on,
                        const TabularSettings& settings,
                        const ResumableRun* run) {
  try {
    const TabularModel fitted =
        fit_tabular(encoder, fit_on, settings, nullptr, nullptr, run);
    return -train::predictive_nll(train::Model(fitted.spec),
                                  fitted.networks.front(), score_on.view(),
                                  kValidationSamples, settings.seed) -
           log_scale(encoder);
  } catch (const NumericalError&) {
    return -std::numeric_limits<double>::infinity();
  }
}

}  // namespace

void check(const TabularSettings& settings) {
  for (std::int64_t width : settings.hidden) {
    RADIR_CHECK(width > 0, ArgumentError, "hidden layers must have at least ",
                "one unit, but one has ", width);
  }
  RADIR_CHECK(settings.restarts >= 1 && settings.restarts <= 1000,
              ArgumentError, "restarts must be from 1 to 1000, but is ",
              settings.restarts);
  RADIR_CHECK(settings.epochs >= 0 && settings.epochs <= kMostSteps,
              ArgumentError,
              "epochs must be from 1 (or 0 for a good number) to ", kMostSteps,
              ", but is ", settings.epochs);
  RADIR_CHECK(settings.steps > 0 && settings.steps <= kMostSteps, ArgumentError,
              "the steps must be from 1 to ", kMostSteps, ", but are ",
              settings.steps);
  RADIR_CHECK(settings.batch > 0 && settings.batch <= kMostSteps, ArgumentError,
              "the batch must be from 1 to ", kMostSteps, ", but is ",
              settings.batch);
  RADIR_CHECK(
      settings.learning_rate > 0 && std::isfinite(settings.learning_rate),
      ArgumentError, "the learning rate must be above 0, but is ",
      settings.learning_rate);
}

std::int64_t epochs_of(const TabularSettings& settings, std::int64_t rows) {
  if (settings.epochs > 0) return settings.epochs;
  const std::int64_t batches = (rows + settings.batch - 1) / settings.batch;
  return std::max<std::int64_t>(1, settings.steps / batches);
}

train::ModelSpec model_spec(const TabularSettings& settings,
                            const data::TableEncoder& encoder) {
  check(settings);
  train::ModelSpec spec;
  spec.likelihood.kind = encoder.is_classification()
                             ? likelihood::Kind::Categorical
                             : settings.noise;
  // A weak prior of the precision: a noise of a tenth of the target's spread,
  // worth two observations. The article's Gamma(6, 6) forbids small noise.
  spec.likelihood.prior_shape = 1;
  spec.likelihood.prior_rate = 0.01;
  const std::int64_t outputs =
      likelihood::make_likelihood(spec.likelihood)
          ->output_size(encoder.is_classification() ? encoder.target().width()
                                                    : 1);
  spec.network = network::multilayer_perceptron(encoder.input_size(),
                                                settings.hidden, outputs);
  posterior::RadialDirectionalOptions options;
  options.grouping = settings.grouping;
  options.direction_gap = settings.direction_gap;
  spec.weights.assign(settings.hidden.size(), options);
  options.initial_gain = 1;  // no ReLU after the last layer
  spec.weights.emplace_back(options);
  return spec;
}

train::TrainerOptions trainer_options(const TabularSettings& settings,
                                      std::int64_t rows) {
  check(settings);
  train::TrainerOptions options;
  options.epochs = epochs_of(settings, rows);
  options.batch_size = settings.batch;
  options.optimizer.learning_rate = settings.learning_rate;
  options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  options.learning_rate.final_factor = 0.01;
  if (settings.kl_warmup > 0) {
    options.kl = train::KlSchedule::warmup(settings.kl_warmup);
  }
  options.max_gradient_norm = kMaxGradientNorm;
  options.seed = settings.seed;
  return options;
}

std::uint64_t restart_seed(std::uint64_t seed, std::int64_t restart) {
  // An odd constant: restarts of neighbouring seeds stay apart.
  return seed + static_cast<std::uint64_t>(restart) * 0x9E3779B97F4A7C15u;
}

TabularModel fit_tabular(const data::TableEncoder& encoder,
                         const data::EncodedRows& rows,
                         const TabularSettings& settings,
                         const TabularCallback& callback, ThreadPool* pool,
                         const ResumableRun* run) {
  TabularModel result;
  result.encoder = encoder;
  result.spec = model_spec(settings, encoder);
  result.networks.resize(static_cast<std::size_t>(settings.restarts));
  const train::Model model(result.spec);
  const bool share = pool != nullptr && settings.restarts > 1;
  ThreadPool* inner =
      !share && model.parameter_count() > kLargeNetwork ? pool : nullptr;

  std::mutex one_at_a_time;
  const auto fit_one = [&](std::int64_t restart) {
    const auto report = [&](const train::EpochReport& epoch) {
      if (!callback) return true;
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      return callback(restart, epoch);
    };
    result.networks[static_cast<std::size_t>(restart)] =
        fit_network(model, rows, settings, restart, report, inner, run);
  };
  if (share) {
    pool->run(settings.restarts, fit_one);
  } else {
    for (std::int64_t i = 0; i < settings.restarts; ++i) fit_one(i);
  }
  return result;
}

std::vector<TabularSettings> tuning_candidates(const TabularSettings& base,
                                               bool classification) {
  std::vector<likelihood::Kind> kinds = {likelihood::Kind::Gaussian,
                                         likelihood::Kind::PredictedNoise};
  if (classification) kinds = {base.noise};
  std::vector<TabularSettings> candidates;
  for (likelihood::Kind noise : kinds) {
    for (auto grouping :
         {posterior::Grouping::Double, posterior::Grouping::Row}) {
      for (double gap : {1e-2, 1e-3}) {
        for (std::int64_t longer : {1, 3}) {
          TabularSettings candidate = base;
          candidate.noise = noise;
          candidate.grouping = grouping;
          candidate.direction_gap = gap;
          candidate.epochs *= longer;
          candidate.steps *= longer;
          candidates.push_back(candidate);
        }
      }
    }
  }
  return candidates;
}

std::vector<TabularTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TabularSettings>& candidates, ThreadPool* pool,
    const std::function<void(const TabularTrial&)>& on_trial,
    const ResumableRun* run) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "compare_candidates: there are no candidates");
  const auto parts = split_rows(rows, candidates.front().seed);
  const data::TableEncoder encoder =
      data::TableEncoder::fit(table, target, missing, parts[0]);
  const data::EncodedRows fit_on = encoder.encode(table, true, parts[0]);
  const data::EncodedRows score_on = encoder.encode(table, true, parts[1]);

  std::vector<TabularTrial> trials(candidates.size());
  std::mutex one_at_a_time;
  const auto run_one = [&](std::int64_t i) {
    TabularTrial& trial = trials[static_cast<std::size_t>(i)];
    trial.settings = candidates[static_cast<std::size_t>(i)];
    TabularSettings single = trial.settings;
    single.restarts = 1;
    const RunPart part(run, "trial-" + std::to_string(i + 1));
    trial.log_likelihood =
        validation_score(encoder, fit_on, score_on, single, part.get());
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

const TabularTrial& best_trial(const std::vector<TabularTrial>& trials) {
  const auto best =
      std::max_element(trials.begin(), trials.end(),
                       [](const TabularTrial& a, const TabularTrial& b) {
                         return a.log_likelihood < b.log_likelihood;
                       });
  RADIR_CHECK(best != trials.end() && std::isfinite(best->log_likelihood),
              NumericalError, "tuning: every candidate's training failed; try ",
              "a smaller learning rate");
  return *best;
}

std::string fingerprint(const data::EncodedRows& rows) {
  data::Fingerprint fingerprint;
  fingerprint.add(rows.inputs);
  fingerprint.add(rows.targets);
  fingerprint.add(rows.labels);
  return fingerprint.text();
}

TabularModel read_tabular_model(const std::string& path) {
  const std::string file = io::model_path(path);
  io::SavedModel saved = io::read_model(file);
  TabularModel model;
  try {
    model.encoder = data::TableEncoder::from_json(saved.preprocessing);
  } catch (const IoError& error) {
    detail::throw_error<IoError>(file, ": ", error.what());
  }
  model.spec = std::move(saved.spec);
  model.networks = std::move(saved.networks);
  const train::Model network(model.spec);
  const bool classes = network.likelihood().has_labels();
  RADIR_CHECK(
      network.input_size() == model.encoder.input_size() &&
          classes == model.encoder.is_classification() &&
          (classes ? network.output_size() == model.encoder.target().width()
                   : network.target_size() == 1),
      IoError, file,
      ": its preprocessing does not fit its network; the file is "
      "damaged");
  return model;
}

}  // namespace radir::workflows
