#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/report/chart.h"
#include "report/axis.h"
#include "report/markup.h"
#include "report/svg.h"

namespace radir::report {
namespace {

using Anchor = SvgWriter::Anchor;

constexpr double kRowHeight = 24;
constexpr double kBelow = 46;  // ticks and the label of the axis
constexpr int kGrey = 7;       // of the palette

double label_width(const DotChart& chart) {
  double widest = 0;
  for (const DotRow& row : chart.rows) {
    widest = std::max(widest, kFontSize * text_width(row.name));
  }
  return std::min(widest, 0.4 * chart.width);
}

Range range_of(const DotChart& chart) {
  RangeFinder finder(chart.x.scale);
  for (const DotRow& row : chart.rows) {
    finder.add(
        {row.value, row.lower, row.upper, row.outer_lower, row.outer_upper});
  }
  for (const Guide& guide : chart.vertical) finder.add({guide.value});
  constexpr double kRoomBeside = 0.04;
  return finder.range(chart.x, kRoomBeside, "x");
}

void draw_row(SvgWriter& svg, const DotRow& row, const PixelScale& x,
              double y) {
  const std::string color = palette_color(row.faint ? kGrey : 0);
  const auto bar = [&](double from, double to, double width, double opacity) {
    const double left = x(from), right = x(to);
    if (std::isnan(left) || std::isnan(right)) return;
    svg.path(fmt::format("M{:.1f} {:.1f}H{:.1f}", left, y, right),
             fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\" "
                         "stroke-opacity=\"{:g}\"",
                         color, width, opacity));
  };
  bar(row.outer_lower, row.outer_upper, 2, 0.45);
  bar(row.lower, row.upper, 5, 0.5);
  if (!std::isnan(x(row.value))) {
    svg.circle(x(row.value), y, 4, fmt::format("fill=\"{}\"", color));
  }
}

}  // namespace

std::string to_svg(const DotChart& chart) {
  RADIR_CHECK(!chart.rows.empty(), ArgumentError,
              "dot chart: it needs at least one row");
  const Range range = range_of(chart);
  constexpr double kHeading = 34;
  const double bottom =
      kHeading + kRowHeight * static_cast<double>(chart.rows.size());
  SvgWriter svg(chart.width, static_cast<int>(bottom + kBelow), chart.title);
  draw_heading(svg, chart.title, {}, chart.width);
  const double names = label_width(chart);
  const Box box{names + 20, kHeading, chart.width - 16.0, bottom};
  const PixelScale x(chart.x.scale, range, box.left, box.right);
  constexpr double kPixelsPerTick = 75;
  const int wanted =
      std::max(2, static_cast<int>(box.width() / kPixelsPerTick));
  for (const Tick& tick : ticks(chart.x, range, wanted)) {
    const double at = x(tick.value);
    svg.rule(at, box.top, at, box.bottom, "stroke-opacity=\"0.12\"");
    svg.text(at, box.bottom + 18, tick.label, Anchor::Middle,
             "fill-opacity=\"0.75\"");
  }
  svg.rule(box.left, box.bottom, box.right, box.bottom,
           "stroke-opacity=\"0.5\"");
  for (const Guide& guide : chart.vertical) {
    svg.rule(x(guide.value), box.top, x(guide.value), box.bottom,
             "stroke-opacity=\"0.7\" stroke-dasharray=\"3 3\"");
  }
  svg.text((box.left + box.right) / 2, box.bottom + 38,
           fitted_text(chart.x.label, box.width() / kFontSize), Anchor::Middle);
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    const DotRow& row = chart.rows[i];
    const double y = box.top + kRowHeight * (static_cast<double>(i) + 0.5);
    svg.text(box.left - 10, y + 0.35 * kFontSize,
             fitted_text(row.name, (names + 4) / kFontSize), Anchor::End,
             row.faint ? "fill-opacity=\"0.6\"" : "");
    draw_row(svg, row, x, y);
  }
  return svg.finish();
}

}  // namespace radir::report
