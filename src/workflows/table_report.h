#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/data/column_reading.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/report/page.h"
#include "radir/workflows/assessment.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/importance.h"

// The sections of a page that answer what a user asks of a fitted table.

namespace radir::workflows {

// Panels of three beside each other.
constexpr int kPanelWidth = 420;
constexpr int kPanelHeight = 330;

/// Scores, predictions against targets, calibration, residuals.
/// `what` names the rows ("held-out rows").
std::vector<report::Section> assessment_sections(const Assessment& assessment,
                                                 const std::string& target,
                                                 const std::string& what);

/// The rows whose predictions are least certain.
report::Section uncertain_section(const Assessment& assessment,
                                  const std::string& what);

/// The scores of held-out rows beside those of simple models.
report::Section score_section(const HeldOut& held_out,
                              const likelihood::QuantileCorrection& correction);

/// The scores of the rows of a table.
report::Section test_section(const Assessment& assessment,
                             const std::string& table);

/// Which columns matter: strengths and, where they were measured, what
/// shuffling does.
report::Section columns_section(const std::vector<ColumnStrength>& strengths,
                                const std::optional<HeldOut>& held_out);

/// Effects of the first few columns.
report::Section curves_section(const std::vector<ColumnCurve>& curves,
                               const std::string& target);

/// How each column was read, and the inputs of the network it became.
report::Section reading_section(
    const std::vector<data::ColumnReading>& columns);

/// The settings that tuning compared, best first; none without trials.
std::optional<report::Section> trials_section(
    const nlohmann::ordered_json& config);

}  // namespace radir::workflows
