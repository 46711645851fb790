#include "fuzz/targets.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/compress_report.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/loss_curves.h"

namespace radir::fuzz {
namespace {

using namespace workflows;

void metrics_lines(std::string_view bytes) {
  const auto lines = read_metrics_lines("metrics.jsonl", bytes);
  std::string text;
  for (const MetricsLine& line : lines) text += to_json(line) + "\n";
  const auto again = read_metrics_lines("again", text);
  require(again.size() == lines.size(), "lines survive a round trip");
  loss_section(loss_curves(lines));
}

void compress_figures(std::string_view bytes) {
  const CompressResult result = compress_result_from_json(std::string(bytes));
  const std::string text = to_json(result);
  require(to_json(compress_result_from_json(text)) == text,
          "figures of a compression survive a round trip");
  compress_report(CompressSettings(), "data", result);
}

void held_out(std::string_view bytes) {
  const HeldOut found = held_out_from_json("holdout.json", std::string(bytes));
  const std::string text = to_json(found).dump();
  require(to_json(held_out_from_json("again", text)).dump() == text,
          "scores of held-out rows survive a round trip");
  score_table(found);
}

void effects(std::string_view bytes) {
  const auto curves =
      column_curves_from_json("effects.json", std::string(bytes));
  const std::string text = to_json(curves).dump();
  require(to_json(column_curves_from_json("again", text)).dump() == text,
          "effects of columns survive a round trip");
}

}  // namespace

void record(std::string_view bytes) {
  feed(metrics_lines, bytes);
  feed(compress_figures, bytes);
  feed(held_out, bytes);
  feed(effects, bytes);
}

}  // namespace radir::fuzz
