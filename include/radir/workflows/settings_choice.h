#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// How settings are found.
enum class SettingsSearch {
  Given,     ///< they stay as they are
  Defaults,  ///< what was left open is compared with one alternative
  Tuning,    ///< `radir train --tune`
};

/// Defaults for a numeric target of at least 1,000 rows where nothing but the
/// seed differs from TableSettings{}: below that, so few rows would judge that
/// chance decides. Given otherwise.
SettingsSearch search_for(const TableSettings& given,
                          const data::TableEncoder& encoder, std::int64_t rows);

struct ChosenSettings {
  TableSettings settings;
  std::vector<TableTrial> trials;  ///< of all that were compared
};

/// Compares settings on rows set aside among `rows` of the table, which the
/// encoder was fitted to; `settings` is resolved().
///
/// The alternative of Defaults is a mixture of two networks of two layers of
/// 100 units that predict a mixture of noises per row. It is taken where the
/// mean log-likelihood of n rows is higher by more than 1/sqrt(n), which is
/// about what chance gives; that keeps the default's right intervals unless
/// there is something to gain. Of more than 50,000 rows so many are compared.
///
/// `on_trial` gets the number of trials that are done and that of all.
ChosenSettings choose_settings(
    SettingsSearch search, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& settings, const Execution& execution = {},
    const std::function<void(std::int64_t, std::int64_t)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);

}  // namespace radir::workflows
