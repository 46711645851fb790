#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/report/table.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// A column matters where its effect is beyond so many standard errors and this
/// share of the error.
constexpr double kErrors = 2.5;
constexpr double kLeastShare = 0.01;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

report::Cell cell(const TableMetrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) return value;
  }
  return {};
}

struct Line {
  const char* metric;
  const char* title;
};
constexpr std::array<Line, 7> kNumberLines = {
    {{"rmse", "typical error (RMSE)"},
     {"median_absolute_error", "median absolute error"},
     {"crps", "CRPS"},
     {"log_likelihood", "log-likelihood per row"},
     {"coverage_90", "share in 90 % intervals"},
     {"width_90", "width of 90 % intervals"},
     {"calibration_error", "calibration error"}}};
constexpr std::array<Line, 6> kClassLines = {{{"accuracy", "accuracy"},
                                              {"auc", "AUC"},
                                              {"nll", "log-loss"},
                                              {"brier", "Brier score"},
                                              {"ece", "calibration error"},
                                              {"error", "error"}}};

/// "a, b and c", at most so many.
std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  const std::size_t shown = std::min(names.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (names.size() > shown) {
    text += fmt::format(" and {} more", names.size() - shown);
  }
  return text;
}

std::string columns_clause(const HeldOut& held_out) {
  if (held_out.columns.empty()) return "";
  const auto names = columns_that_matter(held_out);
  constexpr std::size_t kMostNamed = 6;
  if (names.empty()) return "; no input matters beyond chance";
  return fmt::format("; {} {} matter{}: {}", names.size(),
                     names.size() == 1 ? "input" : "inputs",
                     names.size() == 1 ? "s" : "", listed(names, kMostNamed));
}

}  // namespace

std::string describe(const HeldOut& held_out) {
  const std::int64_t rows =
      held_out.assessment.rows + held_out.assessment.left_out;
  const bool chains = is_sampler(held_out.method);
  const std::string by =
      fmt::format("{} {}{}", held_out.fits, chains ? "chain" : "network",
                  held_out.fits == 1 ? "" : "s");
  if (held_out.parts > 1) {
    return fmt::format(
        "all {} rows, each predicted by a fit without it ({} fits of {}, {})",
        rows, held_out.parts, by, held_out.method);
  }
  return fmt::format("{} of {} rows, predicted by a fit to the others ({}, {})",
                     rows, held_out.table_rows, by, held_out.method);
}

report::Table score_table(const HeldOut& held_out) {
  report::Table table;
  table.columns = {{"score", "held-out rows"},
                   {"model", "network"},
                   {"linear", "linear"},
                   {"constant", "constant"}};
  const auto add = [&](const Line& line) {
    const report::Cell own = cell(held_out.assessment.metrics, line.metric);
    if (std::holds_alternative<std::monostate>(own)) return;
    table.rows.push_back({std::string(line.title), own,
                          cell(held_out.linear, line.metric),
                          cell(held_out.constant, line.metric)});
  };
  if (held_out.assessment.classes) {
    for (const Line& line : kClassLines) add(line);
  } else {
    for (const Line& line : kNumberLines) add(line);
  }
  return table;
}

std::vector<std::string> columns_that_matter(const HeldOut& held_out) {
  const Assessment& found = held_out.assessment;
  const double error = found.metric(found.classes ? "nll" : "rmse").value_or(0);
  std::vector<ColumnEffect> effects;
  for (const ColumnEffect& effect : held_out.columns) {
    if (effect.rise > kErrors * effect.error &&
        effect.rise > kLeastShare * error) {
      effects.push_back(effect);
    }
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const ColumnEffect& a, const ColumnEffect& b) {
                     return a.rise > b.rise;
                   });
  std::vector<std::string> names;
  for (const ColumnEffect& effect : effects) names.push_back(effect.column);
  return names;
}

std::string headline(const HeldOut& held_out) {
  const Assessment& found = held_out.assessment;
  const auto metric = [&](const char* name) {
    return found.metric(name).value_or(0);
  };
  const std::string rows = fmt::format("{} held-out rows", found.rows);
  std::string text;
  if (found.classes) {
    text = fmt::format(
        "The right class for {} of {}; its probability is off by {} on average",
        percent(metric("accuracy")), rows, percent(metric("ece")));
  } else {
    text = fmt::format("Typical error ± {}; the 90 % intervals held {} of {}",
                       report::figure_text(metric("rmse")),
                       percent(metric("coverage_90")), rows);
  }
  return text + columns_clause(held_out) + ".";
}

Json summary_json(const HeldOut& held_out) {
  Json columns = Json::array();
  for (const ColumnEffect& effect : held_out.columns) {
    columns.push_back({{"column", effect.column},
                       {"rise", effect.rise},
                       {"error", effect.error}});
  }
  return {{"parts", held_out.parts},
          {"table_rows", held_out.table_rows},
          {"rows", held_out.assessment.rows},
          {"method", held_out.method},
          {"fits", held_out.fits},
          {"target", held_out.target},
          {"metrics", metrics_json(held_out.assessment.metrics)},
          {"linear", metrics_json(held_out.linear)},
          {"constant", metrics_json(held_out.constant)},
          {"shuffled_columns", columns},
          {"headline", headline(held_out)}};
}

Json to_json(const HeldOut& held_out) {
  Json json = summary_json(held_out);
  json.erase("rows");
  json.erase("metrics");
  json["assessment"] = to_json(held_out.assessment);
  return json;
}

HeldOut held_out_from_json(const std::string& where, const std::string& text) {
  const Json document =
      files::parse_json<Json>(where, text, files::JsonLimits());
  files::JsonObject json(document, where);
  HeldOut result;
  result.parts = json.integer("parts");
  result.table_rows = json.integer("table_rows");
  result.method = json.text("method");
  result.fits = json.integer("fits");
  result.target = json.text("target");
  result.linear = metrics_from_json(json.at("linear"), where + ": linear");
  result.constant =
      metrics_from_json(json.at("constant"), where + ": constant");
  for (files::JsonObject& column : json.objects("shuffled_columns")) {
    constexpr double kMost = 1e300;
    result.columns.push_back({column.text("column"),
                              column.number("rise", -kMost, kMost),
                              column.number("error", 0, kMost)});
    column.finish();
  }
  json.text("headline");
  result.assessment = assessment_from_json(json.object("assessment"));
  json.finish();
  return result;
}

}  // namespace radir::workflows
