#include "radir/bench/bench_calibration.h"

#include <chrono>
#include <cmath>
#include <mutex>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/data/row_order.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/options.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/model.h"
#include "radir/workflows/settings_choice.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::bench {
namespace {

using workflows::TableSettings;

/// Draws of the weights behind a prediction.
constexpr std::int64_t kCalibrationSamples = 200;

/// All fits that one row of the result is the mean of.
struct Group {
  const SimulatedProcess* process;
  std::int64_t rows;
  std::vector<std::int64_t> hidden;
  const CalibrationMethod* method;
};

std::vector<Group> groups_of(const BenchCalibrationOptions& options) {
  std::vector<Group> groups;
  for (const std::string& process : options.processes) {
    for (const std::int64_t rows : options.rows) {
      for (const auto& hidden : options.hidden) {
        for (const std::string& method : options.methods) {
          groups.push_back({&find_process(process), rows, hidden,
                            &find_calibration_method(method)});
        }
      }
    }
  }
  return groups;
}

/// One data set: the scores of each region, none where the training failed.
struct FitScores {
  std::vector<CalibrationScores> regions;
  double seconds = 0;
};

TableSettings settings_of(const Group& group, std::int64_t steps,
                          std::uint64_t seed) {
  TableSettings settings;
  settings.hidden = group.hidden;
  settings.steps = steps;
  settings.seed = seed;
  return group.method->settings(std::move(settings));
}

CalibrationScores score_rows(workflows::TablePredictor& predictor,
                             const SimulatedRows& test) {
  CalibrationSums sums;
  predictor.regression(
      predictor.encoder().encode(test.table(), false),
      [&](std::int64_t row, const likelihood::PredictiveMixture& prediction) {
        const auto i = static_cast<std::size_t>(row);
        sums.add(prediction, test.targets[i], test.truth[i]);
      });
  return sums.scores();
}

FitScores fit_and_score(const Group& group,
                        const BenchCalibrationOptions& options,
                        std::int64_t number) {
  const std::uint64_t seed = workflows::restart_seed(options.seed, number);
  const data::Table table =
      simulate_training(*group.process, group.rows, seed).table();
  FitScores result;
  const auto start = std::chrono::steady_clock::now();
  try {
    const auto order = data::content_order(table);
    data::TableEncoder encoder =
        data::TableEncoder::fit(table, "y", data::MissingValues::Refuse, order);
    data::EncodedRows rows = encoder.encode(table, true, order);
    const TableSettings given = settings_of(group, *options.steps, seed);
    const auto chosen = workflows::choose_settings(
        workflows::search_for(given, encoder, rows.count), table, encoder,
        rows.table_rows, workflows::resolved(given, encoder, rows.count));
    workflows::encode_for(chosen.settings, table, encoder, rows);
    const workflows::TableModel model =
        workflows::fit_networks(encoder, rows, chosen.settings);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    workflows::TablePredictor predictor(model, kCalibrationSamples, seed);
    for (const Region region : group.process->regions) {
      result.regions.push_back(score_rows(
          predictor,
          simulate_test(*group.process, region, *options.test_rows, seed)));
    }
  } catch (const NumericalError&) {
    result.regions.clear();
  }
  return result;
}

/// The mean of each score of one region over the data sets.
CalibrationRegion mean_of(Region region, std::size_t index,
                          const std::vector<const FitScores*>& fits) {
  CalibrationRegion result;
  result.region = region;
  for (const auto& [name, value] : fits.front()->regions[index].metrics()) {
    result.means.push_back({name, 0, 0});
  }
  const auto count = static_cast<double>(fits.size());
  std::vector<double> squares(result.means.size());
  for (const FitScores* fit : fits) {
    const auto metrics = fit->regions[index].metrics();
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      result.means[m].mean += metrics[m].second / count;
    }
  }
  if (fits.size() == 1) return result;
  for (const FitScores* fit : fits) {
    const auto metrics = fit->regions[index].metrics();
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const double deviation = metrics[m].second - result.means[m].mean;
      squares[m] += deviation * deviation;
    }
  }
  for (std::size_t m = 0; m < squares.size(); ++m) {
    result.means[m].standard_error =
        std::sqrt(squares[m] / (count - 1) / count);
  }
  return result;
}

BenchCalibrationRow row_of(const Group& group, const FitScores* fits,
                           std::int64_t count) {
  BenchCalibrationRow row;
  row.process = group.process->name;
  row.rows = group.rows;
  row.hidden = group.hidden;
  row.method = group.method->name;
  std::vector<const FitScores*> good;
  for (const FitScores* fit = fits; fit != fits + count; ++fit) {
    if (fit->regions.empty()) {
      ++row.failed;
    } else {
      good.push_back(fit);
      row.seconds += fit->seconds;
    }
  }
  row.seeds = static_cast<std::int64_t>(good.size());
  if (good.empty()) return row;
  row.seconds /= static_cast<double>(row.seeds);
  const std::vector<Region>& regions = group.process->regions;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    row.regions.push_back(mean_of(regions[i], i, good));
  }
  return row;
}

}  // namespace

const std::vector<CalibrationMethod>& calibration_methods() {
  static const std::vector<CalibrationMethod> methods = {
      {"auto", "the defaults of radir train",
       [](TableSettings settings) {
         settings.steps = TableSettings().steps;  // others ask for a fit
         return settings;
       }},
      {"rdp", "radial-directional posteriors, fitted",
       [](TableSettings settings) {
         settings.method = "rdp";
         return settings;
       }},
      {"rdp-noise", "the same with one noise level per row",
       [](TableSettings settings) {
         settings.method = "rdp";
         settings.noise = likelihood::Kind::PredictedNoise;
         return settings;
       }},
      {"rdp-column", "the same as rdp with column groups",
       [](TableSettings settings) {
         settings.method = "rdp";
         settings.grouping = posterior::Grouping::Column;
         return settings;
       }},
      {"rdp-article", "double groups around the posterior's own directions",
       [](TableSettings settings) {
         settings.method = "rdp";
         settings.grouping = posterior::Grouping::Double;
         return settings;
       }},
      {"mean-field", "independent normal weights, learnt prior scale",
       [](TableSettings settings) {
         settings.method = "vi";
         settings.family_options = "learn_prior=true";
         return settings;
       }},
      {"hmc", "exact sampling, column groups of uniform direction",
       [](TableSettings settings) {
         settings.method = "hmc";
         settings.grouping = posterior::Grouping::Column;
         settings.direction_prior = posterior::DirectionPrior::Uniform;
         settings.output_layer = workflows::OutputLayer::Gaussian;
         settings.noise = likelihood::Kind::Gaussian;
         return settings;
       }},
      {"hmc-gaussian", "exact sampling, normal weights, learnt prior scale",
       [](TableSettings settings) {
         settings.method = "hmc";
         settings.noise = likelihood::Kind::Gaussian;
         settings.family = "gaussian";
         return settings;
       }},
  };
  return methods;
}

const CalibrationMethod& find_calibration_method(const std::string& name) {
  std::vector<std::string> names;
  for (const CalibrationMethod& method : calibration_methods()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  ::radir::detail::throw_error<ArgumentError>(
      "bench calibration: there is no method \"", name, "\"",
      did_you_mean(name, names));
}

void describe(SettingsVisitor& visit, BenchCalibrationOptions& options) {
  visit.integers({"rows", "Training rows (default: 100,500,2000; quick: 100)",
                  at_least(10)},
                 options.rows);
  visit.optional_integer({"seeds",
                          "Number of data sets of each kind (default 20; "
                          "quick: 4)",
                          between(1, 10000)},
                         options.seeds);
  visit.optional_integer({"test_rows",
                          "Number of test rows in each region (default 1000; "
                          "quick: 500)",
                          between(1, 1e6)},
                         options.test_rows);
  visit.optional_integer({"steps",
                          "Training steps of each fit (default 20000; quick: "
                          "2000)",
                          between(1, 1e9)},
                         options.steps);
  visit.flag({"quick",
              "Two processes, one network, few data sets, short "
              "training",
              {}},
             options.quick);
  visit.seed({"seed", "Seed of all random numbers", {}}, options.seed);
}

BenchCalibrationOptions with_defaults(BenchCalibrationOptions options) {
  const bool quick = options.quick;
  if (options.processes.empty()) {
    for (const SimulatedProcess& process : simulated_processes()) {
      options.processes.push_back(process.name);
    }
    if (quick) options.processes = {"linear", "sine-gap"};
  }
  if (options.rows.empty()) {
    options.rows = quick ? std::vector<std::int64_t>{100}
                         : std::vector<std::int64_t>{100, 500, 2000};
  }
  if (options.hidden.empty()) {
    options.hidden = {{50}, {50, 50}};
    if (quick) options.hidden = {{20}};
  }
  if (options.methods.empty()) options.methods = {"auto", "rdp", "mean-field"};
  if (!options.seeds) options.seeds = quick ? 4 : 20;
  if (!options.test_rows) options.test_rows = quick ? 500 : 1000;
  if (!options.steps) options.steps = quick ? 2000 : TableSettings().steps;
  return options;
}

const CalibrationMean& CalibrationRegion::operator[](
    const std::string& name) const {
  for (const CalibrationMean& mean : means) {
    if (mean.name == name) return mean;
  }
  ::radir::detail::throw_error<ArgumentError>(
      "bench calibration: there is no score \"", name, "\"");
}

std::string hidden_text(const std::vector<std::int64_t>& hidden) {
  std::string text;
  for (const std::int64_t units : hidden) {
    text += (text.empty() ? "" : "x") + std::to_string(units);
  }
  return text;
}

std::vector<std::int64_t> parse_hidden(const std::string& text) {
  std::vector<std::int64_t> hidden(1);
  bool valid = !text.empty();
  for (const char c : text) {
    if (c == 'x') {
      valid = valid && hidden.back() > 0;
      hidden.push_back(0);
    } else {
      valid = valid && c >= '0' && c <= '9' && hidden.back() < 100000;
      hidden.back() = 10 * hidden.back() + (c - '0');
    }
  }
  RADIR_CHECK(valid && hidden.back() > 0, ArgumentError,
              "bench calibration: hidden layers must be given as units with x ",
              "between layers, such as 50 or 100x100, but got \"", text, "\"");
  return hidden;
}

std::vector<BenchCalibrationRow> bench_calibration(
    const BenchCalibrationOptions& given, ThreadPool* pool,
    const BenchCalibrationProgress& progress) {
  const BenchCalibrationOptions options = with_defaults(given);
  check_settings("bench calibration", options);
  const std::vector<Group> groups = groups_of(options);
  const std::int64_t seeds = *options.seeds;
  const auto total = static_cast<std::int64_t>(groups.size()) * seeds;
  std::vector<FitScores> fits(static_cast<std::size_t>(total));
  std::vector<std::int64_t> left(groups.size(), seeds);
  std::vector<BenchCalibrationRow> rows(groups.size());
  std::int64_t done = 0;
  std::mutex mutex;
  run_tasks(pool, total, [&](std::int64_t task) {
    const auto g = static_cast<std::size_t>(task / seeds);
    fits[static_cast<std::size_t>(task)] =
        fit_and_score(groups[g], options, task % seeds);
    const std::lock_guard<std::mutex> lock(mutex);
    ++done;
    if (--left[g] > 0) return;
    rows[g] =
        row_of(groups[g], &fits[g * static_cast<std::size_t>(seeds)], seeds);
    if (progress) {
      progress(rows[g], static_cast<double>(done) / static_cast<double>(total));
    }
  });
  return rows;
}

}  // namespace radir::bench
