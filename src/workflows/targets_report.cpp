#include "workflows/targets_report.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "radir/core/shell_text.h"
#include "radir/core/version.h"
#include "radir/files/json_object.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/run_findings.h"
#include "radir/workflows/train_targets.h"

namespace radir::workflows {
namespace {

namespace fs = std::filesystem;
using Json = files::JsonObject::Json;

/// What the folder of one target says.
struct TargetState {
  bool finished = false;
  std::string method;
  std::optional<HeldOut> held_out;
};

TargetState state_of(const io::TargetRun& run) {
  TargetState state;
  if (!io::RunFolder::is_begun(run.path)) return state;
  const io::RunFolder folder = io::RunFolder::look_at(run.path);
  state.finished = folder.is_finished();
  if (!state.finished) return state;
  const Json method = Json::parse(folder.config()).value("method", Json());
  if (method.is_string()) state.method = method.get<std::string>();
  state.held_out = read_held_out(folder);
  return state;
}

/// Of a metric with this sign; nothing where it was not computed.
report::Cell score(const std::optional<HeldOut>& held_out, const char* metric,
                   double sign = 1) {
  if (!held_out) return {};
  const std::optional<double> value = held_out->assessment.metric(metric);
  return value ? report::Cell(sign * *value) : report::Cell();
}

std::vector<report::Cell> score_row(const io::TargetRun& run) {
  const TargetState state = state_of(run);
  const std::optional<HeldOut>& held_out = state.held_out;
  const bool classes = held_out && held_out->assessment.classes;
  return {
      run.target,
      state.finished ? state.method : std::string("not finished"),
      held_out ? report::Cell(held_out->assessment.rows) : report::Cell(),
      score(held_out, "rmse"),
      score(held_out, "coverage_90"),
      score(held_out, "accuracy"),
      classes ? score(held_out, "nll", -1) : score(held_out, "log_likelihood")};
}

/// Takes out the columns of which no row has a value.
void drop_empty_columns(report::Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    const auto is_empty = [c](const std::vector<report::Cell>& row) {
      return std::holds_alternative<std::monostate>(row[c]);
    };
    if (!std::all_of(table.rows.begin(), table.rows.end(), is_empty)) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
}

/// What one target's page says in a sentence, and the way there.
report::Section target_section(const io::TargetRun& run) {
  report::Section section{run.target, {}};
  const TargetState state = state_of(run);
  if (state.held_out) {
    section.blocks.push_back(report::Paragraph{headline(*state.held_out)});
  } else {
    section.blocks.push_back(report::Paragraph{
        state.finished ? "No rows were held out." : "Not finished."});
  }
  const fs::path page = fs::path(run.path) / "report.html";
  if (fs::exists(page)) {
    const fs::path folder = page.parent_path();
    section.blocks.push_back(report::Link{
        "The page of " + run.target,
        (folder.parent_path().filename() / folder.filename() / page.filename())
            .generic_string()});
  }
  return section;
}

}  // namespace

report::Table target_scores(const std::string& run) {
  report::Table table;
  table.columns = {{"target", "target"},
                   {"method", "method"},
                   {"rows", "held-out rows"},
                   {"rmse", "typical error (RMSE)"},
                   {"coverage_90", "share in 90 % intervals"},
                   {"accuracy", "accuracy"},
                   {"log_likelihood", "log-likelihood per row"}};
  for (const io::TargetRun& target : io::target_runs(run)) {
    table.rows.push_back(score_row(target));
  }
  drop_empty_columns(table);
  return table;
}

RunReport targets_page(const std::string& path, const std::string& name,
                       const std::vector<io::TargetRun>& runs) {
  const auto finished = std::count_if(
      runs.begin(), runs.end(),
      [](const io::TargetRun& run) { return state_of(run).finished; });
  const bool all = finished == static_cast<std::ptrdiff_t>(runs.size());
  RunReport result;
  result.state = (all ? "finished, " : "unfinished, ") +
                 std::to_string(finished) + " of " +
                 std::to_string(runs.size()) + " targets";
  if (!all) {
    result.missing =
        "targets that are not finished have no scores; resume with: radir "
        "train --resume " +
        shell_word(path);
  }
  report::Page page;
  page.title = "Run " + name;
  page.lead = "radir train: " + result.state +
              ". Each target has a model of its own that knows nothing of the "
              "other targets: given the inputs, they are predicted as "
              "independent.";
  page.sections.push_back(
      {"Targets",
       {report::TableBlock{target_scores(path),
                           "Scores of held-out rows, in units of each target. "
                           "The log-likelihood of classes is minus their "
                           "log-loss."}}});
  if (!all)
    page.sections.back().blocks.push_back(
        report::Paragraph{"Not finished: " + result.missing + "."});
  for (const io::TargetRun& run : runs) {
    page.sections.push_back(target_section(run));
  }
  page.footer = std::string("radir ") + version() + ".";
  result.page = report::to_html(page);
  return result;
}

}  // namespace radir::workflows
