#include "radir/workflows/compress_report.h"

#include "radir/core/version.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"

namespace radir::workflows {
namespace {

using report::Cell;

report::Table figures_table(const CompressResult& result) {
  report::Table table;
  table.columns = {{"network", "network"},
                   {"architecture", "architecture"},
                   {"flops", "FLOPs"},
                   {"parameters", "parameters"},
                   {"train_error", "training error (%)", 3},
                   {"test_error", "test error (%)", 3},
                   {"bayes_test_error", "… of the mixture (%)", 3},
                   {"bayes_test_nll", "… its NLL", 3},
                   {"microseconds", "µs per image", 3}};
  for (const auto& [name, figures] : result.networks()) {
    const bool bayes = figures->bayes_test_nll > 0;
    table.rows.push_back(
        {std::string(name), figures->architecture, figures->cost.flops,
         figures->cost.parameters, 100 * figures->train_error,
         100 * figures->test_error,
         bayes ? Cell(100 * figures->bayes_test_error) : Cell(),
         bayes ? Cell(figures->bayes_test_nll) : Cell(),
         figures->microseconds_per_image});
  }
  return table;
}

report::Table layer_table(const CompressResult& result) {
  report::Table table;
  table.columns = {{"layer", "layer"},
                   {"flops_before", "FLOPs before"},
                   {"layer_after", "after"},
                   {"flops_after", "FLOPs after"},
                   {"parameters_before", "parameters before"},
                   {"parameters_after", "parameters after"}};
  const auto& before = result.unpruned.cost;
  const auto& after = result.pruned.cost;
  for (std::size_t l = 0; l < before.layers.size(); ++l) {
    table.rows.push_back({before.layers[l].layer, before.layers[l].flops,
                          after.layers[l].layer, after.layers[l].flops,
                          before.layers[l].parameters,
                          after.layers[l].parameters});
  }
  table.rows.push_back({std::string("all"), before.flops, Cell(), after.flops,
                        before.parameters, after.parameters});
  table.rows.push_back({std::string("all, as the article counts"),
                        before.article_flops, Cell(), after.article_flops,
                        before.article_parameters, after.article_parameters});
  return table;
}

std::vector<double> column(const std::vector<Removal>& removals,
                           double (*value)(const Removal&)) {
  std::vector<double> result;
  for (const Removal& removal : removals) result.push_back(value(removal));
  return result;
}

report::Figure course(const std::vector<Removal>& removals) {
  const auto epochs = column(
      removals, [](const Removal& r) { return static_cast<double>(r.epoch); });
  report::Chart size;
  size.title = "Size";
  size.x.label = "epoch";
  size.y.label = "count";
  size.y.scale = report::Scale::Log;
  size.series = {
      {"FLOPs", epochs,
       column(removals,
              [](const Removal& r) { return static_cast<double>(r.flops); })},
      {"parameters", epochs, column(removals, [](const Removal& r) {
         return static_cast<double>(r.parameters);
       })}};
  report::Chart error;
  error.title = "Training error";
  error.x.label = "epoch";
  error.y.label = "per cent";
  error.y.min = 0;
  error.series = {
      {"before the removal", epochs,
       column(removals,
              [](const Removal& r) { return 100 * r.train_error_before; })},
      {"after", epochs,
       column(removals, [](const Removal& r) { return 100 * r.train_error; }),
       report::Mark::Points}};
  return {{report::to_svg(size), report::to_svg(error)},
          "What every removal left, and what it cost: the mean weights, on up "
          "to 10,000 training images."};
}

}  // namespace

std::string compress_report(const CompressSettings& settings,
                            const std::string& data,
                            const CompressResult& result) {
  const NetworkFigures& last = result.final_figures();
  char lead[400];
  std::snprintf(
      lead, sizeof lead,
      "%s on %s: from %s to %s, %.1f times fewer FLOPs and %.1f times fewer "
      "parameters, %.1f times faster per image; test error %.2f %%.",
      settings.network_name.c_str(), data.c_str(),
      result.unpruned.architecture.c_str(), last.architecture.c_str(),
      static_cast<double>(result.unpruned.cost.flops) /
          static_cast<double>(last.cost.flops),
      static_cast<double>(result.unpruned.cost.parameters) /
          static_cast<double>(last.cost.parameters),
      result.unpruned.microseconds_per_image / last.microseconds_per_image,
      100 * last.test_error);
  report::Page page;
  page.title = "Compression of " + settings.network_name;
  page.lead = lead;
  page.sections.push_back(
      {"Networks",
       {report::TableBlock{
            figures_table(result),
            "Errors of the mean weights, and of the mixture over draws of the "
            "posterior. \"Unpruned\" is the network before the first removal, "
            "\"pruned\" the one after the last, before any fine-tuning."},
        report::TableBlock{layer_table(result),
                           "Cost by layer, biases included."}}});
  if (!result.removals.empty()) {
    page.sections.push_back({"Removals", {course(result.removals)}});
  }
  page.footer = std::string("radir ") + version() + ", seed " +
                std::to_string(settings.seed) + "; settings in config.json.";
  return report::to_html(page);
}

}  // namespace radir::workflows
