#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/search_plan.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// How settings are found.
enum class SettingsSearch {
  Given,     ///< they stay as they are
  Defaults,  ///< what was left open is compared with alternatives
  Tuning,    ///< `radir train --tune`
};

/// Whether nothing but the seed differs from TableSettings{}, and the scale of
/// the target where that is the target's own.
bool leaves_all_open(const TableSettings& given);

/// The rows of a list on which settings are compared: of more than 50,000
/// different ones the first of an order, without those at its end that are held
/// out later (held_out_rows).
std::vector<std::int64_t> compared_rows(const std::vector<std::int64_t>& rows,
                                        std::uint64_t seed);

/// Defaults for a numeric target of at least 1,000 rows where
/// leaves_all_open(): below that, so few rows would judge that
/// chance decides. Given otherwise.
SettingsSearch search_for(const TableSettings& given,
                          const data::TableEncoder& encoder, std::int64_t rows);

/// Pieces of each number that keep a step fast and a table of so many rows
/// small: up to 16; 0 where they would be fewer than four.
std::int64_t affordable_pieces(const data::TableEncoder& encoder,
                               std::int64_t rows);

/// A search, and what it looks for.
struct SearchRequest {
  // Implicit: most callers have no wishes.
  SearchRequest(SettingsSearch asked) : search(asked) {}
  SettingsSearch search;
  // Of Tuning alone:
  TuneFor goal = TuneFor::LogLikelihood;
  /// The last round has what no tuning would take too: default_models().
  bool with_defaults = false;
  std::optional<double> budget = std::nullopt;  ///< seconds
};

/// What training takes where all is left open, and what it compares that with
/// (SettingsSearch::Defaults); of the former only exact samples, because a
/// search has the fit among its candidates.
std::vector<TableSettings> default_models(std::uint64_t seed,
                                          const data::TableEncoder& encoder,
                                          std::int64_t rows);

struct ChosenSettings {
  TableSettings settings;
  std::vector<TableTrial> trials;  ///< of all that were compared
  /// What a budget left of the search; none without a budget.
  std::optional<SearchPlan> plan = std::nullopt;
};

/// Compares settings on rows set aside among `rows` of the table, which the
/// encoder was fitted to; `settings` is resolved().
///
/// The alternatives of Defaults are a mixture of two networks of two layers of
/// 100 units that predict a mixture of noises per row, and one of four such
/// networks with pieces of the numbers and a closer fit (where the inputs stay
/// few); for 20,000 rows or more also the last one with a longer training
/// instead of the closer fit. Where the smallest error is then below a
/// twentieth of the target's deviation, a longer training with one noise level
/// is compared too, also in a search with `with_defaults`. Each is taken in
/// place of those before it where the mean log-likelihood of n rows is higher
/// by more than 1/sqrt(n), which is about what chance gives; that keeps the
/// default's right intervals unless there is something to gain. Fewer than
/// 1,000 different rows are not compared, and of more than 50,000 so many
/// (compared_rows).
///
/// Before that, where the target has a long upper tail (has_skewed_target) and
/// its scale is open, two quick fits say whether it is predicted on a
/// logarithmic one, by the same rule; they are the first trials, of round 0.
/// Elsewhere an open scale becomes the target's own, as in a search for another
/// score than the log-likelihood or with a budget. Nothing is compared where
/// the rows to fit cannot be encoded alone.
///
/// `on_trial` gets the number of trials that are done and that of all. Throws
/// ArgumentError for a goal that the target has not (check_goal) and for a
/// budget that is too short (plan_search).
ChosenSettings choose_settings(
    const SearchRequest& request, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& settings, const Execution& execution = {},
    const std::function<void(std::int64_t, std::int64_t)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);

}  // namespace radir::workflows
