#include <fmt/format.h>

#include <algorithm>

#include "radir/network/cost.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/lenet_methods.h"
#include "reproduce/lenet_run.h"

namespace radir::reproduce {
namespace {

using MethodRuns = std::vector<LenetMethodRun>;

/// The runs of one line, by seed.
std::vector<LenetRun> runs_of(const MethodRuns& all, const std::string& line) {
  std::vector<LenetRun> result;
  for (const LenetMethodRun& one : all) {
    if (one.line == line) result.push_back(one.run);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.seed < b.seed; });
  return result;
}

template <typename Value>
UciMean mean_of(const std::vector<LenetRun>& runs, const Value& value) {
  std::vector<double> values;
  for (const LenetRun& run : runs) values.push_back(value(run));
  return mean_and_error(values);
}

LenetMethodSummary summary_of(const std::string& line,
                              const std::vector<LenetRun>& runs,
                              const std::vector<LenetRun>& rdp) {
  LenetMethodSummary summary;
  summary.line = line;
  summary.seeds = static_cast<std::int64_t>(runs.size());
  summary.architecture = median_run(runs).fine_tuned.architecture;
  summary.pruned_error =
      mean_of(runs, [](const LenetRun& r) { return r.pruned.test_error; });
  summary.error =
      mean_of(runs, [](const LenetRun& r) { return r.fine_tuned.test_error; });
  summary.flops = mean_of(runs, [](const LenetRun& r) {
    return static_cast<double>(r.fine_tuned.cost.flops);
  });
  summary.parameters = mean_of(runs, [](const LenetRun& r) {
    return static_cast<double>(r.fine_tuned.cost.parameters);
  });
  summary.seconds =
      mean_of(runs, [](const LenetRun& r) { return r.seconds; }).mean;
  summary.compared = line != "rdp" && rdp.size() == runs.size();
  if (!summary.compared) return summary;
  std::vector<double> differences;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    differences.push_back(runs[i].fine_tuned.test_error -
                          rdp[i].fine_tuned.test_error);
  }
  summary.less_rdp = mean_and_error(differences);
  return summary;
}

std::string per_cent(const UciMean& mean) {
  return fmt::format("{:.2f} ± {:.2f}", 100 * mean.mean,
                     100 * mean.standard_error);
}

std::string count(const UciMean& mean) {
  return fmt::format("{:.0f} ± {:.0f}", mean.mean, mean.standard_error);
}

/// Errors against FLOPs; what was published with open marks.
report::Chart error_chart(bool dense, const MethodRuns& runs) {
  report::Chart chart;
  chart.title = "Error and FLOPs";
  chart.x.label = "FLOPs per image";
  chart.x.scale = report::Scale::Log;
  chart.y.label = "test error (%)";
  int color = 0;
  for (const LenetLine& line : lenet_lines(dense)) {
    report::Series measured;
    measured.name = line.name;
    measured.mark = report::Mark::Points;
    measured.width = 4;
    measured.color = color;
    for (const LenetRun& run : runs_of(runs, line.name)) {
      measured.x.push_back(static_cast<double>(run.fine_tuned.cost.flops));
      measured.y.push_back(100 * run.fine_tuned.test_error);
    }
    if (measured.x.empty()) continue;
    chart.series.push_back(std::move(measured));
    report::Series published;
    published.mark = report::Mark::OpenPoints;
    published.width = 4;
    published.color = color++;
    for (const PublishedNetwork& network : line.published) {
      published.x.push_back(static_cast<double>(published_cost(network).flops));
      published.y.push_back(100 * network.error);
    }
    if (!published.x.empty()) chart.series.push_back(std::move(published));
  }
  return chart;
}

}  // namespace

std::vector<LenetMethodSummary> lenet_summaries(bool dense,
                                                const MethodRuns& runs) {
  std::vector<LenetMethodSummary> result;
  const std::vector<LenetRun> rdp = runs_of(runs, "rdp");
  for (const LenetLine& line : lenet_lines(dense)) {
    const std::vector<LenetRun> own = runs_of(runs, line.name);
    if (!own.empty()) result.push_back(summary_of(line.name, own, rdp));
  }
  return result;
}

report::Table lenet_method_table(bool dense, const MethodRuns& runs) {
  report::Table table;
  table.columns = {{"method", "method"},
                   {"seeds", "seeds"},
                   {"architecture", "architecture"},
                   {"pruned_error", "pruned only (%)"},
                   {"error", "test error (%)"},
                   {"less_rdp", "less rdp"},
                   {"flops", "FLOPs"},
                   {"parameters", "parameters"},
                   {"seconds", "s per seed", 3}};
  const auto summaries = lenet_summaries(dense, runs);
  for (const LenetLine& line : lenet_lines(dense)) {
    const auto found =
        std::find_if(summaries.begin(), summaries.end(),
                     [&](const auto& one) { return one.line == line.name; });
    if (found == summaries.end()) continue;
    table.rows.push_back(
        {found->line, found->seeds, found->architecture,
         per_cent(found->pruned_error), per_cent(found->error),
         found->compared ? report::Cell{per_cent(found->less_rdp)}
                         : report::Cell{},
         count(found->flops), count(found->parameters), found->seconds});
    for (const PublishedNetwork& network : line.published) {
      const network::Cost cost = published_cost(network);
      table.rows.push_back({"published: " + network.method, report::Cell{},
                            joined(network.units), report::Cell{},
                            fmt::format("{:.2f}", 100 * network.error),
                            report::Cell{}, std::to_string(cost.flops),
                            std::to_string(cost.parameters), report::Cell{}});
    }
  }
  return table;
}

report::Page lenet_method_page(bool dense, const MethodRuns& runs) {
  report::Page page;
  page.title = std::string("Methods of compression on ") +
               (dense ? "LeNet-300-100" : "LeNet-5");
  page.lead =
      "MNIST; the same network, images, epochs, shrinking, fine-tuning and "
      "counting for all methods. Mean over seeds and standard error.";
  report::Section section;
  section.title = "All methods";
  section.blocks.emplace_back(report::TableBlock{
      lenet_method_table(dense, runs),
      "The architecture is that of the median error. \"pruned only\" is the "
      "error after the last removal, without fine-tuning; \"less rdp\" the "
      "mean difference of the errors with the same seeds. Published figures "
      "are of other programs and settings; their FLOPs and parameters are "
      "counted here, by one formula."});
  section.blocks.emplace_back(report::Figure{
      {to_svg(error_chart(dense, runs))},
      "A point for each seed, an open one for each published network."});
  page.sections.push_back(std::move(section));
  report::Section scores;
  scores.title = "Scores of units";
  for (const LenetLine& line : lenet_lines(dense)) {
    const std::vector<LenetRun> own = runs_of(runs, line.name);
    if (own.empty()) continue;
    report::Figure figure = score_figure(own.front());
    if (figure.panels.empty()) continue;
    figure.caption = line.name + ". " + figure.caption;
    scores.blocks.emplace_back(std::move(figure));
  }
  if (!scores.blocks.empty()) page.sections.push_back(std::move(scores));
  return page;
}

}  // namespace radir::reproduce
