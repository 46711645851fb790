#include "radir/bench/calibration_tables.h"

#include <fmt/format.h>

namespace radir::bench {
namespace {

/// "91.2 ± 0.4"
std::string percent_text(const CalibrationMean& share) {
  return fmt::format("{:.1f} ± {:.1f}", 100 * share.mean,
                     100 * share.standard_error);
}

/// "0.103 ± 0.012"
std::string mean_text(const CalibrationMean& mean) {
  return fmt::format("{:.3f} ± {:.3f}", mean.mean, mean.standard_error);
}

std::vector<report::Column> key_columns() {
  return {{"process", "process"},
          {"rows", "rows"},
          {"hidden", "hidden"},
          {"method", "method"}};
}

std::vector<report::Cell> key_cells(const BenchCalibrationRow& row) {
  return {row.process, row.rows, hidden_text(row.hidden), row.method};
}

void append(std::vector<report::Column>& columns,
            std::vector<report::Column> more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

}  // namespace

report::Table calibration_table(const std::vector<BenchCalibrationRow>& rows) {
  report::Table table;
  table.columns = key_columns();
  append(table.columns, {{"coverage_50", "in 50 %"},
                         {"coverage_80", "in 80 %"},
                         {"coverage_90", "in 90 %"},
                         {"coverage_95", "in 95 %"},
                         {"interval_score", "interval score", 4},
                         {"log_likelihood", "LL", 4},
                         {"divergence", "divergence (nats)"},
                         {"rmse", "RMSE", 3},
                         {"mean_error", "error of mean", 3},
                         {"seconds", "s per fit", 2}});
  for (const BenchCalibrationRow& row : rows) {
    if (row.regions.empty()) continue;
    const CalibrationRegion& inside = row.regions.front();
    std::vector<report::Cell> cells = key_cells(row);
    for (const char* name :
         {"coverage_50", "coverage_80", "coverage_90", "coverage_95"}) {
      cells.emplace_back(percent_text(inside[name]));
    }
    cells.emplace_back(inside["interval_score"].mean);
    cells.emplace_back(inside["log_likelihood"].mean);
    cells.emplace_back(mean_text(inside["divergence"]));
    cells.emplace_back(inside["rmse"].mean);
    cells.emplace_back(inside["mean_error"].mean);
    cells.emplace_back(row.seconds);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table calibration_region_table(
    const std::vector<BenchCalibrationRow>& rows) {
  report::Table table;
  table.columns = key_columns();
  append(table.columns, {{"region", "region"},
                         {"coverage_90", "in 90 %"},
                         {"mean_error", "error of mean"},
                         {"epistemic_sd", "epistemic sd"},
                         {"ratio", "sd / error", 2},
                         {"mean_coverage_90", "mean in 90 %"},
                         {"divergence", "divergence (nats)"}});
  for (const BenchCalibrationRow& row : rows) {
    for (const CalibrationRegion& region : row.regions) {
      std::vector<report::Cell> cells = key_cells(row);
      cells.emplace_back(to_string(region.region));
      cells.emplace_back(percent_text(region["coverage_90"]));
      cells.emplace_back(mean_text(region["mean_error"]));
      cells.emplace_back(mean_text(region["epistemic_sd"]));
      cells.emplace_back(region["epistemic_sd"].mean /
                         region["mean_error"].mean);
      cells.emplace_back(percent_text(region["mean_coverage_90"]));
      cells.emplace_back(mean_text(region["divergence"]));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace radir::bench
