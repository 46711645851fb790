#include "radir/workflows/holdout.h"

#include <algorithm>
#include <mutex>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/likelihood/class_scores.h"
#include "radir/likelihood/regression_scores.h"
#include "radir/train/trainer.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_predictor.h"
#include "radir/workflows/table_search.h"
#include "workflows/baselines.h"
#include "workflows/encoded_subset.h"
#include "workflows/row_groups.h"

namespace radir::workflows {
namespace {

/// One row in so many is held out, but not more than are needed for a score.
constexpr std::int64_t kFolds = 5;
constexpr std::int64_t kMostHeldOut = 5000;
/// Fewer rows than this are held out in turn.
constexpr std::int64_t kFewRows = 1000;
constexpr std::int64_t kFewSampledRows = 200;
/// Chains behind a held-out prediction: half the default, so that the score of
/// a method that samples costs half as much as the model.
constexpr std::int64_t kMostChains = 2;
constexpr std::int64_t kHoldoutSamples = 200;
/// Draws and predicted rows, over all columns, of the permutation importance.
constexpr std::int64_t kShuffleSamples = 30;
constexpr std::int64_t kShuffledRows = 20000;
constexpr std::int64_t kLeastShuffledRows = 50;
constexpr std::int64_t kMostShuffledRows = 1000;
/// With more columns, shuffling each would be felt.
constexpr std::int64_t kMostShuffledColumns = 500;

/// What one part showed.
struct PartResult {
  TableModel model;
  data::EncodedRows held_out;
  std::optional<ConstantModel> constant;
  std::optional<LinearModel> line;
  std::optional<TableModel> linear_classes;
};

/// Simple models of the rows that were fitted.
void fit_baselines(const data::TableEncoder& encoder,
                   const data::EncodedRows& fitted, std::uint64_t seed,
                   PartResult& result) {
  result.constant.emplace(encoder, fitted);
  if (!encoder.is_classification()) {
    result.line = LinearModel::fit(encoder, fitted);
  } else if (encoder.input_size() <= LinearModel::kMostInputs) {
    try {
      result.linear_classes =
          fit_networks(encoder, fitted, linear_class_settings(seed));
    } catch (const NumericalError&) {
      // A baseline that cannot be fitted is left out.
    }
  }
}

PartResult fit_part(const data::TableEncoder& encoder,
                    const data::EncodedRows& rows, const HoldoutPart& part,
                    const TableSettings& settings, const Execution& execution,
                    const ResumableRun* run,
                    const std::function<void()>& on_epoch) {
  PartResult result;
  result.held_out = encoded_subset(rows, encoder.input_size(), part.held_out);
  const data::EncodedRows fitted =
      encoded_subset(rows, encoder.input_size(), part.fitted);
  result.model = fit_networks(
      encoder, fitted, settings,
      [&](std::int64_t, const train::EpochReport&) {
        if (on_epoch) on_epoch();
        return true;
      },
      execution, run);
  fit_baselines(encoder, fitted, settings.seed, result);
  return result;
}

TableMetrics constant_scores(const data::TableEncoder& encoder,
                             const std::vector<PartResult>& parts) {
  NumberScores numbers;
  likelihood::ClassScores classes;
  const data::ColumnCode& target = encoder.target();
  for (const PartResult& part : parts) {
    for (const float value : part.held_out.targets) {
      numbers.add(likelihood::score(
          part.constant->number(),
          data::target_value(target, static_cast<double>(value)), {},
          target.resolution));
    }
    for (const std::int64_t label : part.held_out.labels) {
      classes.add(part.constant->classes(), label);
    }
  }
  return encoder.is_classification() ? classes.metrics() : numbers.metrics();
}

/// Empty where a part has no linear model.
TableMetrics linear_scores(const data::TableEncoder& encoder,
                           const std::vector<PartResult>& parts) {
  NumberScores numbers;
  TableScores classes(encoder);
  const data::ColumnCode& target = encoder.target();
  for (const PartResult& part : parts) {
    if (part.linear_classes) {
      TablePredictor predictor(*part.linear_classes, 1, 0);
      classes.add(predictor, part.held_out);
    } else if (part.line) {
      for (std::int64_t i = 0; i < part.held_out.count; ++i) {
        const auto p = part.line->predict(part.held_out.inputs.data() +
                                          i * encoder.input_size());
        const double actual = data::target_value(
            target, static_cast<double>(
                        part.held_out.targets[static_cast<std::size_t>(i)]));
        const auto score =
            p ? likelihood::score(*p, actual, {}, target.resolution)
              : likelihood::RegressionScore();
        if (p && score.is_finite()) numbers.add(score);
      }
    } else {
      return {};
    }
  }
  if (encoder.is_classification()) {
    return classes.count() > 0 ? classes.metrics() : TableMetrics();
  }
  return numbers.count() > 0 ? numbers.metrics() : TableMetrics();
}

/// What the predictions of all held-out rows show.
HeldOut scored(const data::TableEncoder& encoder,
               const std::vector<PartResult>& parts, std::int64_t table_rows,
               const TableSettings& settings, ThreadPool* pool,
               const ResumableRun* run) {
  std::int64_t expected = 0;
  for (const PartResult& part : parts) expected += part.held_out.count;
  const std::int64_t columns =
      static_cast<std::int64_t>(encoder.inputs().size());
  const std::int64_t shuffled_rows =
      std::clamp(kShuffledRows / columns, kLeastShuffledRows,
                 kMostShuffledRows) /
          static_cast<std::int64_t>(parts.size()) +
      1;
  Assessor assessor(encoder, expected);
  ShuffledColumns shuffled(encoder);
  for (const PartResult& part : parts) {
    if (run != nullptr) run->check_stop();
    TablePredictor predictor(part.model, kHoldoutSamples, settings.seed, pool);
    assessor.add(predictor, part.held_out);
    if (columns <= kMostShuffledColumns) {
      shuffled.add(part.model, part.held_out, shuffled_rows, kShuffleSamples,
                   settings.seed, pool);
    }
  }
  HeldOut result;
  result.parts = static_cast<std::int64_t>(parts.size());
  result.table_rows = table_rows;
  result.fits = settings.fits();
  result.method = settings.method;
  result.target = encoder.target().name;
  result.assessment = assessor.finish();
  result.constant = constant_scores(encoder, parts);
  result.linear = linear_scores(encoder, parts);
  result.columns = shuffled.effects();
  return result;
}

}  // namespace

std::int64_t held_out_rows(std::int64_t rows) {
  return std::min(rows / kFolds, kMostHeldOut);
}

std::vector<HoldoutPart> holdout_parts(std::int64_t rows,
                                       const TableSettings& settings,
                                       bool tuned) {
  if (rows < kLeastHoldoutRows) return {};
  const auto order = train::shuffled(rows, validation_seed(settings.seed), 0);
  const bool in_turn =
      !tuned && rows < (settings.samples() ? kFewSampledRows : kFewRows);
  std::vector<HoldoutPart> parts(in_turn ? kFolds : 1);
  // Tuning compares settings on the first of this order.
  const std::int64_t aside = held_out_rows(rows);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const bool held = in_turn ? i % kFolds == static_cast<std::int64_t>(p)
                                : i >= rows - aside;
      (held ? parts[p].held_out : parts[p].fitted)
          .push_back(order[static_cast<std::size_t>(i)]);
    }
    std::sort(parts[p].held_out.begin(), parts[p].held_out.end());
    std::sort(parts[p].fitted.begin(), parts[p].fitted.end());
  }
  return parts;
}

std::vector<HoldoutPart> holdout_parts(
    const std::vector<std::int64_t>& table_rows, const TableSettings& settings,
    bool tuned) {
  const RowGroups groups(table_rows);
  auto parts = holdout_parts(groups.count(), settings, tuned);
  for (HoldoutPart& part : parts) {
    for (std::vector<std::int64_t>* rows : {&part.fitted, &part.held_out}) {
      std::vector<std::int64_t> places;
      for (const std::int64_t group : *rows) groups.append(group, places);
      *rows = std::move(places);
    }
  }
  return parts;
}

TableSettings holdout_settings(TableSettings settings) {
  settings.chains = std::min(settings.chains, kMostChains);
  return settings;
}

HeldOut hold_out(const data::TableEncoder& encoder,
                 const data::EncodedRows& rows,
                 const std::vector<HoldoutPart>& parts,
                 const TableSettings& given, const Execution& execution,
                 const ResumableRun* run,
                 const std::function<void()>& on_epoch) {
  const TableSettings settings = holdout_settings(given);
  ThreadPool* const pool = execution.pool;
  std::vector<PartResult> results(parts.size());
  const bool share = parts.size() > 1;
  std::mutex one_at_a_time;
  const auto count_epoch = [&] {
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (on_epoch) on_epoch();
  };
  std::vector<std::string> names;
  for (std::size_t p = 1; p <= parts.size(); ++p) {
    names.push_back("part" + std::to_string(p));
  }
  run_parts(run, names, share ? pool : nullptr,
            [&](std::int64_t p, const ResumableRun* part) {
              const auto at = static_cast<std::size_t>(p);
              results[at] =
                  fit_part(encoder, rows, parts[at], settings,
                           Execution(execution.device, share ? nullptr : pool),
                           part, count_epoch);
            });
  return scored(encoder, results, rows.count, settings, pool, run);
}

HeldOut hold_out(const TableModel& model, const data::EncodedRows& fitted,
                 const data::EncodedRows& held_out,
                 const TableSettings& settings, ThreadPool* pool,
                 const ResumableRun* run) {
  std::vector<PartResult> results(1);
  results.front().model = model;
  results.front().held_out = held_out;
  fit_baselines(model.encoder, fitted, settings.seed, results.front());
  return scored(model.encoder, results, fitted.count + held_out.count, settings,
                pool, run);
}

}  // namespace radir::workflows
