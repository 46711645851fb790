#include "workflows/table_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "radir/data/column_code.h"
#include "radir/data/column_reading.h"
#include "radir/data/table.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/report/chart.h"
#include "radir/report/table.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/trials.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// 90 % of a normal distribution, in standard deviations.
constexpr double kNinety = 1.645;
constexpr std::size_t kMostColumns = 20;

std::string strength_chart(const std::vector<ColumnStrength>& strengths,
                           const std::vector<std::string>& matter,
                           bool measured) {
  report::DotChart chart;
  chart.title = "Strength";
  chart.x.label = "length of the weights";
  chart.x.min = 0;
  chart.width = kPanelWidth;
  for (const std::size_t c : strength_order(strengths)) {
    if (chart.rows.size() == kMostColumns) break;
    const ColumnStrength& strength = strengths[c];
    report::DotRow row{strength.column, strength.mean, strength.lower,
                       strength.upper};
    row.faint = measured && std::find(matter.begin(), matter.end(),
                                      strength.column) == matter.end();
    chart.rows.push_back(std::move(row));
  }
  return report::to_svg(chart);
}

std::string shuffle_chart(const HeldOut& held_out,
                          const std::vector<std::string>& matter) {
  report::DotChart chart;
  chart.title = "Rise of the error when shuffled";
  chart.x.label = held_out.assessment.classes
                      ? "log-loss (nats)"
                      : "typical error of " + held_out.target;
  chart.width = kPanelWidth;
  chart.vertical = {{0, ""}};
  std::vector<ColumnEffect> effects = held_out.columns;
  std::stable_sort(effects.begin(), effects.end(),
                   [](const ColumnEffect& a, const ColumnEffect& b) {
                     return a.rise > b.rise;
                   });
  for (const ColumnEffect& effect : effects) {
    if (chart.rows.size() == kMostColumns) break;
    report::DotRow row{effect.column, effect.rise,
                       effect.rise - kNinety * effect.error,
                       effect.rise + kNinety * effect.error};
    row.faint =
        std::find(matter.begin(), matter.end(), effect.column) == matter.end();
    chart.rows.push_back(std::move(row));
  }
  return report::to_svg(chart);
}

report::Chart curve_chart(const ColumnCurve& curve, const std::string& target) {
  report::Chart chart;
  chart.title = curve.column;
  chart.x.label = curve.column;
  chart.y.label = curve.classes.empty() ? target : "mean probability";
  chart.width = kPanelWidth;
  chart.height = kPanelHeight;
  for (std::size_t c = 0; c < curve.classes.size(); ++c) {
    chart.series.push_back({curve.classes[c], curve.values,
                            curve.probabilities[c], report::Mark::Line});
  }
  if (!curve.classes.empty()) return chart;
  report::Series rows{"single rows",      curve.values, {},
                      report::Mark::Band, {},           7};
  report::Series mean{"mean, with its band", curve.values, {},
                      report::Mark::Band,    {},           0};
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    const double all = std::hypot(curve.epistemic[i], curve.aleatoric[i]);
    rows.y.push_back(curve.mean[i] - kNinety * all);
    rows.upper.push_back(curve.mean[i] + kNinety * all);
    mean.y.push_back(curve.mean[i] - kNinety * curve.epistemic[i]);
    mean.upper.push_back(curve.mean[i] + kNinety * curve.epistemic[i]);
  }
  chart.series = {
      rows, mean, {"", curve.values, curve.mean, report::Mark::Line, {}, 0}};
  return chart;
}

std::string level_chart(const ColumnCurve& curve, const std::string& target) {
  report::DotChart chart;
  chart.title = curve.column;
  chart.width = kPanelWidth;
  const bool classes = !curve.classes.empty();
  // Of two classes one says all; of several the first is shown.
  const std::size_t shown = curve.classes.size() == 2 ? 1 : 0;
  chart.x.label =
      classes ? "mean probability of " + curve.classes[shown] : target;
  for (std::size_t l = 0; l < curve.levels.size(); ++l) {
    report::DotRow row;
    row.name = curve.levels[l];
    row.value = classes ? curve.probabilities[shown][l] : curve.mean[l];
    row.lower = row.upper = row.value;
    if (!classes) {
      const double all = std::hypot(curve.epistemic[l], curve.aleatoric[l]);
      row.lower -= kNinety * curve.epistemic[l];
      row.upper += kNinety * curve.epistemic[l];
      row.outer_lower = row.value - kNinety * all;
      row.outer_upper = row.value + kNinety * all;
    }
    chart.rows.push_back(std::move(row));
  }
  return report::to_svg(chart);
}

}  // namespace

report::Section score_section(
    const HeldOut& held_out, const likelihood::QuantileCorrection& correction) {
  return {"Scores",
          {report::TableBlock{
              score_table(held_out),
              "Held out: " + describe(held_out) + ". The linear model is " +
                  (held_out.assessment.classes ? "logistic regression"
                                               : "ridge regression") +
                  "; the constant predicts the same for every row. " +
                  (correction.is_none()
                       ? "The model of this run is fitted to all rows."
                       : "The intervals here are those before the "
                         "correction. " +
                             describe(correction))}}};
}

report::Section test_section(const Assessment& assessment,
                             const std::string& table) {
  report::Table scores;
  scores.columns = {{"metric", "metric"}, {"value", "value"}};
  for (const auto& [name, value] : assessment.metrics) {
    scores.rows.push_back({name, value});
  }
  return {"Scores of new rows",
          {report::TableBlock{
              std::move(scores),
              fmt::format("{} rows of {}, predicted by the model of this run.",
                          assessment.rows, table)}}};
}

report::Section columns_section(const std::vector<ColumnStrength>& strengths,
                                const std::optional<HeldOut>& held_out) {
  report::Section section{"Which columns matter", {}};
  const bool measured = held_out && !held_out->columns.empty();
  const std::vector<std::string> matter =
      measured ? columns_that_matter(*held_out) : std::vector<std::string>();
  report::Figure figure;
  figure.small = true;
  if (measured) figure.panels.push_back(shuffle_chart(*held_out, matter));
  figure.panels.push_back(strength_chart(strengths, matter, measured));
  figure.caption =
      "Strength: length of a column's weights in the first layer, each unit "
      "weighted by what leads from it to the output; dot: mean, bar: 90 % of "
      "draws of the weights.";
  if (measured) {
    figure.caption =
        "Shuffled: how much the held-out error rises when the values of a "
        "column are exchanged between rows, with a 90 % interval from the "
        "rows; grey: within chance. " +
        figure.caption;
  }
  if (strengths.size() > kMostColumns) {
    figure.caption += fmt::format(" The first {} of {} columns are shown.",
                                  kMostColumns, strengths.size());
  }
  section.blocks.push_back(std::move(figure));
  return section;
}

report::Section curves_section(const std::vector<ColumnCurve>& curves,
                               const std::string& target) {
  report::Figure figure;
  figure.small = true;
  for (const ColumnCurve& curve : curves) {
    figure.panels.push_back(curve.levels.empty()
                                ? report::to_svg(curve_chart(curve, target))
                                : level_chart(curve, target));
  }
  figure.caption =
      "The prediction as one column changes and the others stay as they are, "
      "averaged over rows.";
  if (!curves.empty() && curves.front().classes.empty()) {
    figure.caption +=
        " Dark: 90 % band of that mean, from the uncertain weights. Light: 90 "
        "% of single rows, noise included.";
  }
  return {"Effect of the first columns", {std::move(figure)}};
}

report::Section reading_section(
    const std::vector<data::ColumnReading>& columns) {
  report::Table table;
  table.columns = {
      {"column", "column"}, {"read", "read as"}, {"inputs", "inputs"}};
  for (const data::ColumnReading& column : columns) {
    const bool is_input = column.role == data::ColumnRole::Input;
    table.rows.push_back(
        {column.name, column.text(),
         is_input ? report::Cell(column.inputs) : report::Cell()});
  }
  return {"How each column was read",
          {report::TableBlock{std::move(table), "Columns of the table"}}};
}

std::optional<report::Section> trials_section(const Json& config) {
  report::Table table = trials_table(config);
  if (table.rows.empty()) return std::nullopt;
  std::vector<report::Block> blocks = {report::TableBlock{
      std::move(table),
      "Scores of validation rows, the last round and the best first, and the "
      "settings in which the trials differ."}};
  const std::string note = error_note(config);
  if (!note.empty()) blocks.push_back(report::Paragraph{note});
  return report::Section{"Tuning trials", std::move(blocks)};
}

}  // namespace radir::workflows
