#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "radir/likelihood/class_scores.h"
#include "radir/likelihood/regression_scores.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "workflows/table_report.h"

namespace radir::workflows {
namespace {

constexpr int kRedColor = 1;   // of the palette
constexpr int kGreyColor = 7;  // of the palette

report::Chart small_chart(std::string title, std::string x, std::string y) {
  report::Chart chart;
  chart.title = std::move(title);
  chart.x.label = std::move(x);
  chart.y.label = std::move(y);
  chart.width = kPanelWidth;
  chart.height = kPanelHeight;
  return chart;
}

report::Series diagonal(double from, double to) {
  return {"", {from, to}, {from, to}, report::Mark::Dashed,
          {}, kGreyColor, 1.5};
}

/// The points with targets inside their interval, or outside of it.
report::Series points(const Assessment& found, bool inside) {
  report::Series series{inside ? "inside its interval" : "outside",
                        {},
                        {},
                        report::Mark::Points,
                        {},
                        inside ? 0 : kRedColor,
                        1.8};
  for (const AssessedRow& row : found.sample) {
    if ((row.actual >= row.lower && row.actual <= row.upper) != inside) {
      continue;
    }
    series.x.push_back(row.actual);
    series.y.push_back(row.predicted);
  }
  return series;
}

std::string prediction_chart(const Assessment& found,
                             const std::string& target) {
  report::Chart chart =
      small_chart("Predicted against actual", "actual " + target, "predicted");
  report::Series bars{"90 % interval", {}, {}, report::Mark::Bars, {}, 0, 1};
  double least = INFINITY, greatest = -INFINITY;
  for (const AssessedRow& row : found.sample) {
    bars.x.push_back(row.actual);
    bars.y.push_back(row.lower);
    bars.upper.push_back(row.upper);
    least = std::min(least, row.actual);
    greatest = std::max(greatest, row.actual);
  }
  // Room for the points at both ends.
  const double room = 0.03 * (greatest - least);
  chart.x.min = least < greatest ? least - room : NAN;
  chart.x.max = least < greatest ? greatest + room : NAN;
  chart.series = {diagonal(least, greatest), bars, points(found, true),
                  points(found, false)};
  return report::to_svg(chart);
}

std::string calibration_chart(const Assessment& found) {
  report::Chart chart = small_chart("Calibration", "predicted probability",
                                    "share of targets below the quantile");
  chart.x.min = chart.y.min = 0;
  chart.x.max = chart.y.max = 1;
  report::Series curve{"held", {0}, {0}, report::Mark::Line, {}, 0, 2};
  for (std::size_t i = 0; i < found.below.size(); ++i) {
    curve.x.push_back(static_cast<double>(i + 1) /
                      static_cast<double>(found.below.size() + 1));
    curve.y.push_back(found.below[i]);
  }
  curve.x.push_back(1);
  curve.y.push_back(1);
  // What chance does to a perfect model: two standard errors.
  report::Series chance{"chance", {},         {}, report::Mark::Band,
                        {},       kGreyColor, 1};
  for (int i = 0; i <= 40; ++i) {
    const double p = i / 40.0;
    const double error =
        2 * std::sqrt(p * (1 - p) / static_cast<double>(found.rows));
    chance.x.push_back(p);
    chance.y.push_back(std::max(0.0, p - error));
    chance.upper.push_back(std::min(1.0, p + error));
  }
  chart.series = {chance, diagonal(0, 1), curve};
  return report::to_svg(chart);
}

std::vector<std::string> residual_charts(const Assessment& found) {
  report::Chart against =
      small_chart("Residuals", "predicted", "actual less predicted");
  report::Series dots{"", {}, {}, report::Mark::Points, {}, 0, 1.8};
  std::vector<double> residuals;
  for (const AssessedRow& row : found.sample) {
    dots.x.push_back(row.predicted);
    dots.y.push_back(row.actual - row.predicted);
    residuals.push_back(row.actual - row.predicted);
  }
  against.series = {dots};
  against.horizontal = {{0, ""}};
  report::Chart counts = small_chart("Distribution of the residuals",
                                     "actual less predicted", "rows");
  counts.series = {report::histogram("", residuals, 25)};
  return {report::to_svg(against), report::to_svg(counts)};
}

report::Table coverage_table(const Assessment& found) {
  report::Table table;
  table.columns = {{"interval", "interval"},
                   {"held", "held, %", 3},
                   {"width", "mean width"}};
  const bool by_resolution = resolution_matters(found.metrics);
  if (by_resolution) {
    table.columns.push_back(
        {"interval_held", "at the resolution of the target, %", 3});
  }
  for (const int level : likelihood::kIntervalLevels) {
    const std::string name = std::to_string(level);
    const auto held = found.metric("coverage_" + name);
    const auto width = found.metric("width_" + name);
    if (!held || !width) continue;
    std::vector<report::Cell> row = {name + " %", 100 * *held, *width};
    if (by_resolution) {
      const auto share = found.metric("interval_coverage_" + name);
      row.emplace_back(share ? report::Cell{100 * *share} : report::Cell{});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string class_name(const ClassTables& tables, double index) {
  const auto classes = static_cast<double>(tables.classes.size());
  if (index < 0 || index >= classes) return "?";
  return tables.classes[static_cast<std::size_t>(index)];
}

report::Section class_section(const Assessment& found,
                              const std::string& what) {
  report::Section section{"Classes of " + what, {}};
  const ClassTables& tables = *found.classes;
  if (auto confusion = confusion_table(tables)) {
    section.blocks.push_back(report::TableBlock{
        std::move(*confusion), "Rows by true and by most probable class."});
  }
  report::Chart chart =
      small_chart("Calibration", "probability of the predicted class",
                  "share that was right");
  chart.x.min = chart.y.min = 0;
  chart.x.max = chart.y.max = 1;
  report::Series dots{"", {}, {}, report::Mark::Points, {}, 0, 3};
  report::Series bars{"", {}, {}, report::Mark::Bars, {}, 0, 2};
  for (const likelihood::ConfidenceBin& bin : tables.calibration) {
    const double error =
        2 * std::sqrt(std::max(bin.accuracy * (1 - bin.accuracy), 0.01) /
                      static_cast<double>(bin.count));
    dots.x.push_back(bin.confidence);
    dots.y.push_back(bin.accuracy);
    bars.x.push_back(bin.confidence);
    bars.y.push_back(std::max(0.0, bin.accuracy - error));
    bars.upper.push_back(std::min(1.0, bin.accuracy + error));
  }
  chart.series = {diagonal(0, 1), bars, dots};
  section.blocks.push_back(report::Figure{
      {report::to_svg(chart)},
      "On the dashed line, a predicted probability of 80 % is right in 80 % "
      "of the cases. Bars: two standard errors, from the number of rows.",
      true});
  return section;
}

}  // namespace

std::vector<report::Section> assessment_sections(const Assessment& found,
                                                 const std::string& target,
                                                 const std::string& what) {
  std::vector<report::Section> sections;
  if (found.classes) {
    sections.push_back(class_section(found, what));
  } else if (!found.sample.empty()) {
    report::Section predictions{"Predictions of " + what, {}};
    const std::string drawn =
        found.rows > static_cast<std::int64_t>(found.sample.size())
            ? fmt::format(" {} of {} rows are drawn.", found.sample.size(),
                          found.rows)
            : "";
    predictions.blocks.push_back(report::Figure{
        {prediction_chart(found, target), calibration_chart(found)},
        "Left: each row with its 90 % interval; on the dashed line, the "
        "prediction is exact. Right: how often targets were below a predicted "
        "quantile; inside the grey band, the difference may be chance." +
            drawn,
        true});
    predictions.blocks.push_back(report::TableBlock{
        coverage_table(found),
        "Central intervals: the share of rows they held, which should be their "
        "name, and their mean width in units of the target."});
    sections.push_back(std::move(predictions));
    sections.push_back(
        {"Residuals of " + what,
         {report::Figure{residual_charts(found),
                         "A trend or a funnel on the left says what the model "
                         "misses." +
                             drawn,
                         true}}});
  }
  return sections;
}

report::Section uncertain_section(const Assessment& found,
                                  const std::string& what) {
  report::Table table;
  if (found.classes) {
    table.columns = {{"row", "row"},
                     {"predicted", "predicted"},
                     {"probability", "its probability", 3},
                     {"actual", "actual"},
                     {"entropy", "entropy (nats)", 3},
                     {"epistemic", "of it epistemic", 3}};
  } else {
    table.columns = {{"row", "row"},
                     {"predicted", "predicted"},
                     {"sd", "±", 3},
                     {"actual", "actual"},
                     {"epistemic", "± from the weights", 3},
                     {"aleatoric", "± from noise", 3}};
  }
  for (const AssessedRow& row : found.uncertain) {
    const double all = row.uncertainty(found.classes.has_value());
    if (found.classes) {
      table.rows.push_back(
          {row.row + 1, class_name(*found.classes, row.predicted), row.lower,
           class_name(*found.classes, row.actual), all, row.epistemic});
    } else {
      table.rows.push_back({row.row + 1, row.predicted, all, row.actual,
                            row.epistemic, row.aleatoric});
    }
  }
  return {"Most uncertain " + what,
          {report::TableBlock{
              std::move(table),
              "Rows of the table, counted from 1. The part from the weights "
              "shrinks with more data like these rows; noise does not."}}};
}

}  // namespace radir::workflows
