#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/io/model_file.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// All settings of a fit to a table.
struct TabularSettings {
  std::vector<std::int64_t> hidden = {50};
  posterior::Grouping grouping = posterior::Grouping::Double;
  /// See posterior::RadialDirectionalOptions::direction_gap: how far the prior
  /// lets a direction stray.
  double direction_gap = 3e-3;
  /// Noise of a numeric target; not read for a categorical one.
  likelihood::Kind noise = likelihood::Kind::Gaussian;

  /// Passes over the training rows; 0: as many as make `steps` steps.
  std::int64_t epochs = 0;
  std::int64_t steps = 20000;
  std::int64_t batch = 100;
  double learning_rate = 0.01;
  /// Share of the training over which the weight of the KL term rises to 1. It
  /// lets the mean be found before the noise can explain it away.
  double kl_warmup = 0.6;

  /// Networks from different seeds that predict as a mixture.
  std::int64_t restarts = 1;
  std::uint64_t seed = 0;
};

/// Throws ArgumentError that names the first invalid setting.
void check(const TabularSettings& settings);

/// Passes over `rows` training rows that the settings ask for.
std::int64_t epochs_of(const TabularSettings& settings, std::int64_t rows);

/// The Bayesian network the settings ask for. Throws ArgumentError when they
/// are invalid.
train::ModelSpec model_spec(const TabularSettings& settings,
                            const data::TableEncoder& encoder);
train::TrainerOptions trainer_options(const TabularSettings& settings,
                                      std::int64_t rows);
/// Seed of a restart, from 0; the first is the settings' own.
std::uint64_t restart_seed(std::uint64_t seed, std::int64_t restart);

/// A fitted table: how rows are encoded, and the networks.
struct TabularModel {
  data::TableEncoder encoder;
  train::ModelSpec spec;
  std::vector<std::vector<float>> networks;  ///< one per restart
};

/// Reports of one restart, from 0; returning false stops that restart.
using TabularCallback =
    std::function<bool(std::int64_t restart, const train::EpochReport&)>;

/// Fits `settings.restarts` networks, several at a time where there is a pool.
/// The callback comes from any thread, one call at a time. The result depends
/// on the seed alone, not on the number of threads. With a run, the networks
/// are parts of it, "1", "2", ..., or a single one the run itself, and the
/// exceptions are those of ResumableRun::fit too.
TabularModel fit_tabular(const data::TableEncoder& encoder,
                         const data::EncodedRows& rows,
                         const TabularSettings& settings,
                         const TabularCallback& callback = nullptr,
                         ThreadPool* pool = nullptr,
                         const ResumableRun* run = nullptr);

/// One candidate of a search and how it did.
struct TabularTrial {
  TabularSettings settings;
  /// Mean log-likelihood of the validation rows, original units; minus infinity
  /// when the training failed.
  double log_likelihood = 0;
};

/// The candidates that `radir train --tune` compares: both groupings, two prior
/// concentrations, two lengths of training and, for a numeric target, both
/// noise models.
std::vector<TabularSettings> tuning_candidates(const TabularSettings& base,
                                               bool classification);

/// Fits every candidate to four fifths of `rows` of the table (its own encoder
/// fitted on them too) and scores it on the last fifth, in parallel.
/// `on_trial` is called after each, one call at a time. With a run, the
/// candidates are its parts "trial-1", "trial-2", ...
std::vector<TabularTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TabularSettings>& candidates, ThreadPool* pool = nullptr,
    const std::function<void(const TabularTrial&)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);

/// The trial with the highest log-likelihood. Throws NumericalError when all
/// failed.
const TabularTrial& best_trial(const std::vector<TabularTrial>& trials);

/// The settings as a JSON object, as they are.
std::string to_json(const TabularSettings& settings);
/// The settings as a JSON object, every one resolved.
std::string to_json(const TabularSettings& settings, std::int64_t rows);
/// From to_json(settings). Throws IoError when the text or the settings are
/// invalid.
TabularSettings settings_from_json(const std::string& text);

/// "3f2a9c0d11e5b7aa": identifies a table (FNV-1a of the encoded numbers).
std::string fingerprint(const data::EncodedRows& rows);

/// The model in a file (a run's folder or the file itself). Throws IoError when
/// it was not trained on a table.
TabularModel read_tabular_model(const std::string& path);

}  // namespace radir::workflows
