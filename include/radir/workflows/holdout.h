#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/table_encoder.h"
#include "radir/report/table.h"
#include "radir/workflows/assessment.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_settings.h"

// How well networks of the given settings predict rows that they were not
// fitted to.

namespace radir::workflows {

/// Rows that one fit does without, and the others.
struct HoldoutPart {
  std::vector<std::int64_t> fitted;
  std::vector<std::int64_t> held_out;
};

/// How many of so many rows are held out where they are held out once: the last
/// ones of an order on whose first ones settings are compared.
std::int64_t held_out_rows(std::int64_t rows);

/// How the rows of a table are divided. Empty for fewer than kLeastRows rows.
///
/// A fifth of the rows, at most 5,000, is held out once; or, where fits are
/// cheap, each row once, in five fits. They are cheap below 1,000 rows, below
/// 200 for a method that samples, and not where the settings were tuned: the
/// rows held out are then none of those on which tuning compared settings.
/// Depends on the numbers given alone.
std::vector<HoldoutPart> holdout_parts(std::int64_t rows,
                                       const TableSettings& settings,
                                       bool tuned);
/// The same for a list of rows in which copies of a row stand beside each other
/// (repeated_rows): they are held out together.
std::vector<HoldoutPart> holdout_parts(
    const std::vector<std::int64_t>& table_rows, const TableSettings& settings,
    bool tuned);
constexpr std::int64_t kLeastHoldoutRows = 10;

/// The settings of a held-out fit: the given ones, with two chains at most.
TableSettings holdout_settings(TableSettings settings);

/// Scores of rows that were held out.
struct HeldOut {
  std::int64_t parts = 1;       ///< 1: one fit; more: cross-validation
  std::int64_t table_rows = 0;  ///< of the complete table
  std::int64_t fits = 1;        ///< networks or chains behind each prediction
  std::string method;
  std::string target;
  Assessment assessment;
  TableMetrics constant;
  TableMetrics linear;  ///< empty where there are too many inputs
  /// What shuffling a column among the held-out rows does to the error.
  std::vector<ColumnEffect> columns;
};

/// Fits networks of the settings without the rows of each part and scores
/// these. The columns are scaled as for all rows. With a run, the fits are its
/// parts "1", "2", ...; `on_epoch` counts the epochs of all fits.
HeldOut hold_out(const data::TableEncoder& encoder,
                 const data::EncodedRows& rows,
                 const std::vector<HoldoutPart>& parts,
                 const TableSettings& settings, const Execution& execution = {},
                 const ResumableRun* run = nullptr,
                 const std::function<void()>& on_epoch = nullptr);

/// Scores a model on rows that it was not fitted to, beside simple models of
/// the rows that it was. Quantiles are not corrected.
HeldOut hold_out(const TableModel& model, const data::EncodedRows& fitted,
                 const data::EncodedRows& held_out,
                 const TableSettings& settings, ThreadPool* pool = nullptr,
                 const ResumableRun* run = nullptr);

/// "1000 of 5000 rows, predicted by a fit to the others"
std::string describe(const HeldOut& held_out);

/// The scores beside those of the constant and of the linear model.
report::Table score_table(const HeldOut& held_out);

/// The columns whose shuffling raises the error beyond chance, strongest first.
std::vector<std::string> columns_that_matter(const HeldOut& held_out);

/// "Typical error ± 2.134; the 90 % intervals held 91.2 % of 1000 held-out
/// rows; 2 inputs matter: area and age."
std::string headline(const HeldOut& held_out);

nlohmann::ordered_json to_json(const HeldOut& held_out);
/// The same without what only a report draws.
nlohmann::ordered_json summary_json(const HeldOut& held_out);
/// From to_json. Throws IoError when the text is invalid.
HeldOut held_out_from_json(const std::string& where, const std::string& text);

}  // namespace radir::workflows
