#include "radir/workflows/loss_curves.h"

#include <map>

#include "radir/report/chart.h"
#include "radir/report/table.h"
#include "radir/train/trainer.h"

namespace radir::workflows {
namespace {

/// Most points per curve; more would not be visible.
constexpr std::size_t kDrawnEpochs = 400;

report::Chart loss_chart(const std::vector<LossCurve>& curves,
                         const char* title, double train::EpochReport::*value) {
  report::Chart result;
  result.title = title;
  result.width = 420;
  result.height = 330;
  result.x.label = "epoch";
  result.y.label = "nats per example";
  for (const LossCurve& curve : curves) {
    report::Series series;
    if (curves.size() > 1) series.name = curve.name;
    const std::size_t stride = 1 + curve.epochs.size() / kDrawnEpochs;
    for (std::size_t i = 0; i < curve.epochs.size(); i += stride) {
      series.x.push_back(static_cast<double>(curve.epochs[i].epoch));
      series.y.push_back(curve.epochs[i].*value);
    }
    if (series.x.size() == 1) series.mark = report::Mark::Points;
    result.series.push_back(std::move(series));
  }
  return result;
}

}  // namespace

std::vector<LossCurve> loss_curves(const std::vector<MetricsLine>& lines) {
  std::map<std::int64_t, LossCurve> curves;
  for (const MetricsLine& line : lines) {
    curves[line.network].epochs.push_back(line.report);
  }
  std::vector<LossCurve> result;
  for (auto& [network, curve] : curves) {
    curve.name = "network " + std::to_string(network);
    result.push_back(std::move(curve));
  }
  return result;
}

report::Section loss_section(const std::vector<LossCurve>& curves) {
  report::Section section{"Loss", {}};
  if (curves.empty()) {
    section.blocks.push_back(report::Paragraph{"No epoch is finished yet."});
    return section;
  }
  report::Table table;
  table.columns = {{"network", "network"},
                   {"epoch", "epochs"},
                   {"nll", "negative log-likelihood"},
                   {"kl", "divergence from the prior"},
                   {"seconds", "seconds", 3}};
  for (const LossCurve& curve : curves) {
    const train::EpochReport& last = curve.epochs.back();
    table.rows.push_back(
        {curve.name, last.epoch, last.nll, last.kl, last.seconds});
  }
  section.blocks.push_back(report::Figure{
      {report::to_svg(loss_chart(curves, "Negative log-likelihood",
                                 &train::EpochReport::nll)),
       report::to_svg(loss_chart(curves, "Divergence from the prior",
                                 &train::EpochReport::kl))},
      "The two parts of the loss, per example: how badly sampled weights "
      "explain "
      "the training data (mean of the epoch), and how far they are from the "
      "prior (at its end).",
      /*small=*/true});
  section.blocks.push_back(
      report::TableBlock{std::move(table), "At the last epoch shown."});
  return section;
}

}  // namespace radir::workflows
