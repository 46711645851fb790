#include "radir/workflows/conformal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/row_order.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/train/trainer.h"
#include "radir/workflows/table_predictor.h"
#include "radir/workflows/table_search.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kMostConformalRows = 4999;
/// For n rows one fewer than a multiple of 40, the ranks (n + 1) p of the ends
/// of 50, 80, 90 and 95 % intervals are whole, and nothing is rounded.
constexpr std::int64_t kWholeRanks = 40;

/// How many of the rows of a table are set aside.
std::int64_t conformal_rows(std::int64_t rows) {
  const std::int64_t fifth = rows / 5;
  if (fifth < kWholeRanks - 1) return fifth;
  const std::int64_t nearest =
      (fifth + 1 + kWholeRanks / 2) / kWholeRanks * kWholeRanks - 1;
  return std::min(nearest, kMostConformalRows);
}

}  // namespace

ConformalRows set_aside(const data::Table& table, const std::string& target,
                        data::MissingValues missing, std::uint64_t seed) {
  RADIR_CHECK(table.column(target).type() != data::ColumnType::Categorical,
              ArgumentError, "conformal: the target \"", target,
              "\" is a category, which has no quantiles to correct; train ",
              "without --conformal");
  ConformalRows result;
  std::int64_t count = conformal_rows(table.rows());
  if (count >= kLeastConformalRows) {
    const auto order = data::content_order(table);
    std::vector<bool> is_aside(order.size(), false);
    const auto shuffled =
        train::shuffled(table.rows(), validation_seed(seed), 0);
    for (auto place = shuffled.end() - count; place != shuffled.end();
         ++place) {
      is_aside[static_cast<std::size_t>(*place)] = true;
    }
    std::vector<std::int64_t> fitted, aside;
    for (std::size_t i = 0; i < order.size(); ++i) {
      (is_aside[i] ? aside : fitted).push_back(order[i]);
    }
    result.encoder = data::TableEncoder::fit(table, target, missing, fitted);
    result.fitted = result.encoder.encode(table, true, fitted);
    result.aside = result.encoder.encode(table, true, aside);
    count = result.aside.count;
  }
  RADIR_CHECK(count >= kLeastConformalRows, ArgumentError, table.source(),
              ": --conformal sets a fifth of the rows aside, ", count,
              " here, but 90 % intervals need ", kLeastConformalRows,
              "; train without it, or on more rows");
  return result;
}

likelihood::QuantileCorrection conformal_correction(
    const TableModel& model, const data::EncodedRows& aside, ThreadPool* pool) {
  const TablePredictionOptions options;
  TablePredictor predictor(model, options.samples, options.seed, pool);
  std::vector<double> found(static_cast<std::size_t>(aside.count),
                            std::nan(""));
  const data::ColumnCode& target = model.encoder.target();
  predictor.regression(
      aside, [&](std::int64_t i, const likelihood::PredictiveMixture& p) {
        const auto at = static_cast<std::size_t>(i);
        found[at] = p.cdf(
            data::target_value(target, static_cast<double>(aside.targets[at])));
      });
  std::vector<double> probabilities;
  for (const double probability : found) {
    if (!std::isnan(probability)) probabilities.push_back(probability);
  }
  RADIR_CHECK(
      static_cast<std::int64_t>(probabilities.size()) >= kLeastConformalRows,
      NumericalError, "conformal: only ", probabilities.size(), " of ",
      aside.count, " rows that were set aside have a prediction; values of ",
      "the others are too large");
  return likelihood::QuantileCorrection(std::move(probabilities));
}

std::string describe(const likelihood::QuantileCorrection& correction) {
  return fmt::format(
      "Quantiles are corrected by {} rows that the model was not fitted to: "
      "0.05 and 0.95 are read at {:.3g} and {:.3g}. A 90 % interval holds a "
      "new row like these with a probability of at least 90 %.",
      correction.probabilities().size(), correction(0.05), correction(0.95));
}

}  // namespace radir::workflows
