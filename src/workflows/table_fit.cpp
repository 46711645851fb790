#include "radir/workflows/table_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/fingerprint.h"
#include "radir/kernels/cuda_training.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/train/compiled_step.h"
#include "radir/train/evaluation.h"
#include "radir/train/fit_many.h"
#include "radir/train/hmc.h"
#include "radir/train/model.h"
#include "radir/train/posterior_density.h"
#include "radir/train/schedule.h"
#include "radir/train/step.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/stacking.h"
#include "radir/workflows/table_methods.h"

namespace radir::workflows {
namespace {

/// Networks with more parameters than this keep several threads busy on their
/// own; smaller ones train one per thread.
constexpr std::int64_t kLargeNetwork = 200000;
/// Keeps single bad batches from throwing a network off course; ordinary
/// gradients are smaller.
constexpr double kMaxGradientNorm = 10;
/// Of a run: the fits that find the weights of the others.
constexpr const char* kStackingPart = "stacking";

/// All that decides the bits of one network.
std::string configuration(const TableSettings& settings,
                          const data::EncodedRows& rows, std::int64_t restart) {
  nlohmann::json json = nlohmann::json::parse(to_json(settings, rows.count));
  json["network"] = restart + 1;
  json["data"] = fingerprint(rows);
  return json.dump();
}

/// The result of one restart, kept in its part of the run if there is one.
train::TrainingResult<float> fit_network(
    const train::Model& model, const data::EncodedRows& rows,
    const TableSettings& settings, std::int64_t restart,
    const std::function<bool(const train::EpochReport&)>& on_epoch,
    ThreadPool* pool, const ResumableRun* part) {
  train::TrainerOptions options =
      trainer_options(settings_of_fit(settings, restart), rows.count);
  options.seed = restart_seed(settings.seed, restart);
  if (part == nullptr) {
    return train::fit<float>(
        model, rows.view(), options,
        [&](const train::EpochReport& report,
            const train::TrainingState<float>&) { return on_epoch(report); },
        pool);
  }
  return part->fit(configuration(settings, rows, restart), model, rows.view(),
                   options, on_epoch, pool);
}

/// What rounding to the resolution of the target adds, for a standardised
/// target: less noise would be spikes on the values that it takes.
double least_noise(const data::ColumnCode& target) {
  // On a logarithmic scale, where a step is smallest: at its end.
  const double slope =
      std::exp(target.transform.log_slope(target.transform.end()));
  const double rounding = slope * target.resolution / std::sqrt(12.0);
  return std::min(1.0, rounding / target.scale);
}

/// The restarts with the same settings at once, on a device.
std::vector<train::TrainingResult<float>> fit_on_device(
    const train::Model& model, const data::EncodedRows& rows,
    const TableSettings& settings, const TableFitCallback& callback,
    const Execution& execution, const ResumableRun* run) {
  std::exception_ptr stopped;
  const auto proceed = [&](std::int64_t /*steps*/) {
    try {
      if (run != nullptr) run->check_stop();
      return true;
    } catch (...) {  // must not pass through the device's module
      stopped = std::current_exception();
      return false;
    }
  };
  std::map<double, std::vector<std::size_t>> alike;  // by their KL weight
  for (std::int64_t i = 0; i < settings.fits(); ++i) {
    alike[settings_of_fit(settings, i).kl_weight].push_back(
        static_cast<std::size_t>(i));
  }
  std::vector<train::TrainingResult<float>> results(
      static_cast<std::size_t>(settings.fits()));
  for (const auto& [weight, restarts] : alike) {
    TableSettings own = settings;
    own.kl_weight = weight;
    std::vector<std::uint64_t> seeds;
    for (const std::size_t i : restarts) {
      seeds.push_back(
          restart_seed(settings.seed, static_cast<std::int64_t>(i)));
    }
    auto fitted = train::fit_many<float>(model, rows.view(),
                                         trainer_options(own, rows.count),
                                         seeds, execution, proceed);
    if (stopped) std::rethrow_exception(stopped);
    for (std::size_t i = 0; i < restarts.size(); ++i) {
      results[restarts[i]] = std::move(fitted[i]);
    }
  }
  if (!callback) return results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const train::EpochReport& report : results[i].history) {
      callback(static_cast<std::int64_t>(i), report);
    }
  }
  return results;
}

/// The fitted networks, or the draws of the fitted chains.
TableModel model_of(const data::TableEncoder& encoder,
                    const train::Model& model, bool samples,
                    std::vector<std::vector<float>> fits) {
  TableModel result;
  result.encoder = encoder;
  result.spec = model.spec();
  if (samples) {
    result.spec = train::spec_of_draws(model.spec());
    for (const std::vector<float>& chain : fits) {
      for (auto& draw : train::separate_draws(model.spec(), chain)) {
        result.networks.push_back(std::move(draw));
      }
    }
  } else {
    result.networks = std::move(fits);
  }
  return result;
}

}  // namespace

TableSettings resolved(const TableSettings& settings,
                       const data::TableEncoder& encoder, std::int64_t rows) {
  // A narrow noise would become a spike on a value that so many rows have.
  constexpr double kMostRepeated = 0.1;
  TableSettings result =
      resolved(settings, rows, encoder.input_size(),
               encoder.is_classification() ? encoder.target().width() : 1);
  if (!settings.noise && encoder.repeated_share() > kMostRepeated) {
    result.noise = likelihood::Kind::Gaussian;
  }
  return result;
}

void encode_for(const TableSettings& settings, const data::Table& table,
                data::TableEncoder& encoder, data::EncodedRows& rows,
                data::EncodedRows* aside) {
  const bool pieces = settings.pieces > 0 && !encoder.has_pieces();
  const bool asked = settings.target_scale == TargetScale::Logarithm;
  RADIR_CHECK(!asked || !encoder.is_classification(), ArgumentError,
              "target_scale log: the target \"", encoder.target().name,
              "\" has classes, which have no logarithm; leave it out");
  const bool logarithm = asked && encoder.target().transform.is_none();
  if (!pieces && !logarithm) return;
  if (pieces) {
    encoder = encoder.with_pieces(table, rows.table_rows, settings.pieces);
  }
  if (logarithm) encoder = encoder.with_log_target(table, rows.table_rows);
  rows = encoder.encode(table, true, rows.table_rows);
  if (aside != nullptr) {
    *aside = encoder.encode(table, true, aside->table_rows);
  }
}

train::ModelSpec model_spec(const TableSettings& settings,
                            const data::TableEncoder& encoder) {
  check(settings);
  train::ModelSpec spec;
  spec.likelihood.kind =
      encoder.is_classification()
          ? likelihood::Kind::Categorical
          : settings.noise.value_or(likelihood::Kind::Gaussian);
  const TableMethod& method = method_of(settings);
  spec.likelihood.prior_shape =
      settings.noise_shape.value_or(method.noise_shape);
  spec.likelihood.prior_rate = settings.noise_rate.value_or(method.noise_rate);
  spec.likelihood.parts = settings.noise_parts;
  spec.likelihood.least_scale = least_noise(encoder.target());
  RADIR_CHECK(method.trainer != "pbp" ||
                  spec.likelihood.kind == likelihood::Kind::Gaussian,
              UnsupportedError, "the method ", settings.method,
              " supports a numeric target with one noise level, not the ",
              likelihood::to_string(spec.likelihood.kind),
              " likelihood; choose another method");
  const std::int64_t outputs =
      likelihood::make_likelihood(spec.likelihood)
          ->output_size(encoder.is_classification() ? encoder.target().width()
                                                    : 1);
  spec.network = network::multilayer_perceptron(encoder.input_size(),
                                                settings.hidden, outputs);
  spec.weights.assign(settings.hidden.size(), weight_options(settings, false));
  spec.weights.push_back(weight_options(settings, true));
  return spec;
}

train::TrainerOptions trainer_options(const TableSettings& settings,
                                      std::int64_t rows) {
  check(settings);
  train::TrainerOptions options;
  options.epochs = epochs_of(settings, rows);
  options.batch_size = settings.batch;
  options.optimizer.learning_rate = settings.learning_rate;
  options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  options.learning_rate.final_factor = 0.01;
  options.method = method_of(settings).trainer;
  options.hmc = settings.hmc;
  options.kl =
      settings.kl_warmup > 0
          ? train::KlSchedule::warmup(settings.kl_warmup, 0, settings.kl_weight)
          : train::KlSchedule::constant(settings.kl_weight);
  options.max_gradient_norm = kMaxGradientNorm;
  options.seed = settings.seed;
  return options;
}

std::uint64_t restart_seed(std::uint64_t seed, std::int64_t restart) {
  // An odd constant: restarts of neighbouring seeds stay apart.
  return seed + static_cast<std::uint64_t>(restart) * 0x9E3779B97F4A7C15u;
}

TableSettings settings_of_fit(TableSettings settings, std::int64_t restart) {
  // The closest fits say too little of the noise, the loosest too little of the
  // mean; see docs/tables.md, "Stacking".
  constexpr double kFactors[] = {1, 0.3, 0.1};
  if (settings.mixture_weights == MixtureWeights::Stacked &&
      method_of(settings).tunes_kl) {
    settings.kl_weight *= kFactors[restart % std::int64_t{std::size(kFactors)}];
  }
  return settings;
}

namespace {

/// The networks of resolved settings, without weights.
TableModel fit_equally(const data::TableEncoder& encoder,
                       const data::EncodedRows& rows,
                       const TableSettings& settings,
                       const TableFitCallback& callback,
                       const Execution& execution, const ResumableRun* run,
                       std::vector<train::ChainStatistics>* chains) {
  const train::Model model(model_spec(settings, encoder));
  std::vector<std::vector<float>> fits(
      static_cast<std::size_t>(settings.fits()));
  std::vector<train::ChainStatistics> statistics(
      settings.samples() ? fits.size() : 0);
  ThreadPool* const pool = execution.pool;
  const bool share = pool != nullptr && fits.size() > 1;
  ThreadPool* inner =
      !share && model.parameter_count() > kLargeNetwork ? pool : nullptr;

  std::vector<std::string> names;
  for (std::int64_t i = 1; i <= settings.fits(); ++i) {
    names.push_back(settings.fits() == 1 ? "" : std::to_string(i));
  }
  std::mutex one_at_a_time;
  const auto fit_one = [&](std::int64_t restart, const ResumableRun* part) {
    const auto report = [&](const train::EpochReport& epoch) {
      if (!callback) return true;
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      return callback(restart, epoch);
    };
    const auto at = static_cast<std::size_t>(restart);
    train::TrainingResult<float> fitted =
        fit_network(model, rows, settings, restart, report, inner, part);
    fits[at] = std::move(fitted.parameters);
    if (settings.samples()) {
      statistics[at] = train::chain_statistics(fitted.state, settings.hmc);
    }
  };
  if (execution.device == Device::Cpu) {
    run_parts(run, names, share ? pool : nullptr, fit_one);
  } else {
    auto results =
        fit_on_device(model, rows, settings, callback, execution, run);
    for (std::size_t i = 0; i < fits.size(); ++i) {
      fits[i] = std::move(results[i].parameters);
    }
  }

  TableModel result =
      model_of(encoder, model, settings.samples(), std::move(fits));
  result.seen_rows = SeenRows(rows, encoder.input_size());
  if (settings.noise_factor != 1) {
    const train::Model drawn(result.spec);  // of chains, models of one draw
    for (std::vector<float>& network : result.networks) {
      train::scale_noise(drawn, settings.noise_factor, network);
    }
  }
  if (chains != nullptr) *chains = std::move(statistics);
  return result;
}

}  // namespace

TableModel fit_networks(const data::TableEncoder& encoder,
                        const data::EncodedRows& rows,
                        const TableSettings& given,
                        const TableFitCallback& callback,
                        const Execution& execution, const ResumableRun* run,
                        std::vector<train::ChainStatistics>* chains) {
  const TableSettings settings = resolved(given, encoder, rows.count);
  std::atomic<bool> stopped{false};
  const auto go_on = [&](std::int64_t fit, const train::EpochReport& report) {
    if (!callback || callback(fit, report)) return true;
    stopped = true;
    return false;
  };
  TableModel result =
      fit_equally(encoder, rows, settings, go_on, execution, run, chains);
  if (settings.mixture_weights == MixtureWeights::Equal || stopped) {
    return result;
  }
  const auto fit_part = [&](const data::EncodedRows& part_rows) {
    std::optional<ResumableRun> part;
    if (run != nullptr) part = run->part(kStackingPart);
    return fit_equally(encoder, part_rows, settings, nullptr, execution,
                       part ? &*part : nullptr, nullptr);
  };
  result.weights = network_weights(
      stacked_fit_weights(encoder, rows, settings, fit_part, execution.pool),
      result.networks.size());
  return result;
}

void check_device(Device device) {
  if (device == Device::Cuda) kernels::cuda_device();
}

std::string fingerprint(const data::EncodedRows& rows) {
  data::Fingerprint fingerprint;
  fingerprint.add(rows.inputs);
  fingerprint.add(rows.targets);
  fingerprint.add(rows.labels);
  return fingerprint.text();
}

}  // namespace radir::workflows
