#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "radir/data/uci.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/uci_methods.h"
#include "radir/workflows/table_methods.h"

namespace radir::reproduce {
namespace {

/// The published columns of a method.
struct PublishedNames {
  const char* method;
  std::vector<const char*> columns;
};

const std::vector<PublishedNames>& published_names() {
  static const std::vector<PublishedNames> names = {
      {"vi", {"VI"}},
      {"pbp", {"PBP"}},
      {"dropout", {"Dropout 2016", "Dropout, converged"}},
      {"vmg", {"VMG"}},
      {"ensemble", {"Deep ensembles"}}};
  return names;
}

std::vector<std::pair<std::string, double>> published_of(
    const std::string& method, const std::string& set) {
  std::vector<std::pair<std::string, double>> result;
  const auto& sets = data::uci_set_names();
  const auto at = static_cast<std::size_t>(
      std::find(sets.begin(), sets.end(), set) - sets.begin());
  for (const PublishedNames& names : published_names()) {
    if (names.method != method) continue;
    for (const PublishedColumn& column : published_uci()) {
      if (std::find(names.columns.begin(), names.columns.end(), column.name) !=
          names.columns.end()) {
        result.emplace_back(column.name, column.log_likelihoods[at]);
      }
    }
  }
  return result;
}

using MethodResults = std::vector<UciMethodResult>;

MethodResults results_of(const MethodResults& all, const std::string& set,
                         const std::string& method) {
  MethodResults result;
  for (const UciMethodResult& one : all) {
    if (one.set == set && one.method == method) result.push_back(one);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.split < b.split; });
  return result;
}

template <typename Value>
UciMean mean_of(const MethodResults& results, const Value& value) {
  std::vector<double> values;
  for (const UciMethodResult& result : results) values.push_back(value(result));
  return mean_and_error(values);
}

UciMethodSummary summary_of(const MethodResults& results,
                            const MethodResults& rdp) {
  UciMethodSummary summary;
  summary.set = results.front().set;
  summary.method = results.front().method;
  summary.splits = static_cast<std::int64_t>(results.size());
  summary.log_likelihood =
      mean_of(results, [](const auto& r) { return r.score.log_likelihood; });
  summary.rmse = mean_of(results, [](const auto& r) { return r.score.rmse; });
  summary.coverage_90 =
      mean_of(results, [](const auto& r) { return r.score.coverage_90; });
  summary.interval_log_likelihood = mean_of(
      results, [](const auto& r) { return r.score.interval_log_likelihood; });
  summary.interval_coverage_90 = mean_of(
      results, [](const auto& r) { return r.score.interval_coverage_90; });
  summary.crps = mean_of(results, [](const auto& r) { return r.score.crps; });
  summary.seen = mean_of(results, [](const auto& r) { return r.score.seen; });
  summary.seconds =
      mean_of(results, [](const auto& r) { return r.seconds; }).mean;
  summary.published = published_of(summary.method, summary.set);
  summary.compared = rdp.size() == results.size() && summary.method != "rdp";
  if (!summary.compared) return summary;
  std::vector<double> differences;
  for (std::size_t i = 0; i < results.size(); ++i) {
    differences.push_back(results[i].score.log_likelihood -
                          rdp[i].score.log_likelihood);
  }
  summary.less_rdp = mean_and_error(differences);
  const auto count = static_cast<double>(results.size());
  const double deviation = summary.less_rdp.standard_error * std::sqrt(count);
  summary.corrected_error = deviation * std::sqrt(1 / count + 1.0 / 9);
  return summary;
}

std::string mean_text(const UciMean& mean, int digits = 3) {
  return fmt::format("{:.{}f} ± {:.{}f}", mean.mean, digits,
                     mean.standard_error, digits);
}

std::string names_and_values(
    const std::vector<std::pair<std::string, double>>& columns) {
  std::string text;
  for (const auto& [name, value] : columns) {
    text += fmt::format("{}{:.2f}{}", text.empty() ? "" : ", ", value,
                        columns.size() > 1 ? " (" + name + ")" : "");
  }
  return text;
}

}  // namespace

std::vector<UciMethodSummary> summaries(const MethodResults& results) {
  std::vector<UciMethodSummary> all;
  for (const std::string& set : data::uci_set_names()) {
    const MethodResults rdp = results_of(results, set, "rdp");
    std::vector<std::string> names = {"article"};
    for (const workflows::TableMethod& method : workflows::table_methods()) {
      names.push_back(method.name);
    }
    for (const std::string& name : names) {
      const MethodResults own = results_of(results, set, name);
      if (!own.empty()) all.push_back(summary_of(own, rdp));
    }
  }
  return all;
}

report::Table uci_method_table(const MethodResults& results) {
  report::Table table;
  table.columns = {{"set", "set"},
                   {"method", "method"},
                   {"splits", "splits"},
                   {"log_likelihood", "log-likelihood"},
                   {"published", "published"},
                   {"less_rdp", "less rdp"},
                   {"corrected_error", "corrected error", 2},
                   {"rmse", "RMSE"},
                   {"coverage_90", "in 90 % interval"},
                   {"interval_coverage_90", "… at the resolution"},
                   {"interval_log_likelihood", "log-likelihood of intervals"},
                   {"crps", "CRPS"},
                   {"seen", "inputs seen in training"},
                   {"seconds", "s per split", 3}};
  for (const UciMethodSummary& one : summaries(results)) {
    std::vector<report::Cell> row = {one.set, one.method, one.splits,
                                     mean_text(one.log_likelihood)};
    row.emplace_back(one.published.empty()
                         ? report::Cell{}
                         : report::Cell{names_and_values(one.published)});
    row.emplace_back(one.compared ? report::Cell{mean_text(one.less_rdp)}
                                  : report::Cell{});
    row.emplace_back(one.compared ? report::Cell{one.corrected_error}
                                  : report::Cell{});
    row.emplace_back(mean_text(one.rmse, 4));
    row.emplace_back(mean_text(one.coverage_90, 2));
    row.emplace_back(mean_text(one.interval_coverage_90, 2));
    row.emplace_back(mean_text(one.interval_log_likelihood));
    row.emplace_back(mean_text(one.crps, 4));
    row.emplace_back(mean_text(one.seen, 2));
    row.emplace_back(one.seconds);
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Page uci_method_page(const MethodResults& results) {
  report::Chart chart;
  chart.title = "Measured and published";
  chart.x.label = "published test log-likelihood";
  chart.y.label = "measured";
  report::Series equal;
  equal.name = "equal";
  equal.mark = report::Mark::Dashed;
  for (const workflows::TableMethod& method : workflows::table_methods()) {
    report::Series series;
    series.name = method.name;
    series.mark = report::Mark::Points;
    for (const UciMethodSummary& one : summaries(results)) {
      if (one.method != method.name || one.published.empty()) continue;
      series.x.push_back(one.published.back().second);
      series.y.push_back(one.log_likelihood.mean);
      equal.x.push_back(one.published.back().second);
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  std::sort(equal.x.begin(), equal.x.end());
  equal.y = equal.x;

  report::Page page;
  page.title = "Methods on the UCI sets";
  page.lead =
      "Test log-likelihood per row in original units, mean over splits and "
      "standard error. Every method has the same networks, data and number of "
      "trials, and one noise level; all choices are made inside the training "
      "part of each split.";
  report::Section section;
  section.title = "All methods";
  section.blocks.emplace_back(report::TableBlock{
      uci_method_table(results),
      "Published figures are of other programs, and often of other settings "
      "and ways of choosing them. \"less rdp\" is the mean difference on the "
      "same splits; the corrected error counts that splits overlap."});
  if (!equal.x.empty()) {
    chart.series.push_back(std::move(equal));
    section.blocks.emplace_back(report::Figure{
        {to_svg(chart)},
        "One point per set and method. Above the line, this program's figure "
        "is the better one."});
  }
  page.sections.push_back(std::move(section));
  return page;
}

}  // namespace radir::reproduce
