#include "radir/report/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "report/axis.h"
#include "report/markup.h"
#include "report/svg.h"

namespace radir::report {
namespace {

using Anchor = SvgWriter::Anchor;

constexpr double kMargin = 0.05;  // free space beside the data on the y axis

void check_lengths(const Series& series) {
  RADIR_CHECK(series.x.size() == series.y.size(), ArgumentError,
              "chart: series \"", series.name, "\" has ", series.x.size(),
              " values of x and ", series.y.size(),
              " of y; it needs as many of each");
  const bool has_upper = series.mark == Mark::Band || series.mark == Mark::Bars;
  const std::size_t upper = has_upper ? series.x.size() : 0;
  RADIR_CHECK(series.upper.size() == upper, ArgumentError, "chart: series \"",
              series.name, "\" has ", series.upper.size(),
              " upper values where ", upper,
              " are needed; only a band and bars have them, one for each x");
}

/// Where a chart draws its data.
struct Frame {
  Box box;
  PixelScale x;
  PixelScale y;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;
};

Frame make_frame(const Chart& chart, double top) {
  RangeFinder x_finder(chart.x.scale);
  RangeFinder y_finder(chart.y.scale);
  for (const Series& series : chart.series) {
    check_lengths(series);
    x_finder.add(series.x);
    y_finder.add(series.y);
    y_finder.add(series.upper);
  }
  for (const Guide& guide : chart.horizontal) y_finder.add({guide.value});
  for (const Guide& guide : chart.vertical) x_finder.add({guide.value});
  const Range x = x_finder.range(chart.x, 0, "x");
  const Range y = y_finder.range(chart.y, kMargin, "y");

  constexpr int kPixelsPerXTick = 75;
  constexpr int kPixelsPerYTick = 40;
  std::vector<Tick> x_ticks =
      ticks(chart.x, x, std::max(2, chart.width / kPixelsPerXTick));
  std::vector<Tick> y_ticks =
      ticks(chart.y, y, std::max(2, chart.height / kPixelsPerYTick));

  double widest = 0;
  for (const Tick& tick : y_ticks) {
    widest = std::max(widest, kFontSize * text_width(tick.label));
  }
  const Box box{widest + 18, top + 30.0, chart.width - 16.0,
                chart.height - 46.0};
  return {box, PixelScale(chart.x.scale, x, box.left, box.right),
          PixelScale(chart.y.scale, y, box.bottom, box.top), std::move(x_ticks),
          std::move(y_ticks)};
}

void draw_axes(SvgWriter& svg, const Chart& chart, const Frame& frame) {
  const Box& box = frame.box;
  for (const Tick& tick : frame.x_ticks) {
    const double x = frame.x(tick.value);
    svg.rule(x, box.top, x, box.bottom, "stroke-opacity=\"0.12\"");
    svg.text(x, box.bottom + 18, tick.label, Anchor::Middle,
             "fill-opacity=\"0.75\"");
  }
  for (const Tick& tick : frame.y_ticks) {
    const double y = frame.y(tick.value);
    svg.rule(box.left, y, box.right, y, "stroke-opacity=\"0.12\"");
    svg.text(box.left - 7, y + 0.35 * kFontSize, tick.label, Anchor::End,
             "fill-opacity=\"0.75\"");
  }
  svg.rule(box.left, box.bottom, box.right, box.bottom,
           "stroke-opacity=\"0.5\"");
  svg.text((box.left + box.right) / 2, box.bottom + 38,
           fitted_text(chart.x.label, box.width() / kFontSize), Anchor::Middle);
  // Beside the axis a label would have to be turned; above it, it reads.
  svg.text(8, box.top - 11,
           fitted_text(chart.y.label, (box.right - 8) / kFontSize));
}

void draw_guides(SvgWriter& svg, const Chart& chart, const Frame& frame) {
  constexpr const char* kStyle =
      "stroke-opacity=\"0.7\" stroke-dasharray=\"3 3\"";
  const Box& box = frame.box;
  for (const Guide& guide : chart.horizontal) {
    const double y = frame.y(guide.value);
    svg.rule(box.left, y, box.right, y, kStyle);
    svg.text(box.right - 4, y - 5, guide.label, Anchor::End,
             "font-size=\"11.5\" fill-opacity=\"0.85\"");
  }
  for (const Guide& guide : chart.vertical) {
    const double x = frame.x(guide.value);
    svg.rule(x, box.top, x, box.bottom, kStyle);
    svg.text(x + 5, box.top + 13, guide.label, Anchor::Start,
             "font-size=\"11.5\" fill-opacity=\"0.85\"");
  }
}

void draw_band(SvgWriter& svg, const Series& series, std::size_t position,
               const Frame& frame) {
  PathBuilder area;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    area.add(frame.x(series.x[i]), frame.y(series.upper[i]));
  }
  for (std::size_t i = series.x.size(); i-- > 0;) {
    area.add(frame.x(series.x[i]), frame.y(series.y[i]));
  }
  area.close();
  svg.path(area.data(), fmt::format("fill=\"{}\" fill-opacity=\"0.35\"",
                                    palette_color(color_of(series, position))));
}

void draw_points(SvgWriter& svg, const Series& series, std::size_t position,
                 const Frame& frame) {
  const std::string color = palette_color(color_of(series, position));
  const std::string style =
      series.mark == Mark::OpenPoints
          ? fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"",
                        color)
          : fmt::format("fill=\"{}\"", color);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = frame.x(series.x[i]);
    const double y = frame.y(series.y[i]);
    if (!std::isnan(x) && !std::isnan(y)) {
      svg.circle(x, y, 1.2 * series.width, style);
    }
  }
}

void draw_bars(SvgWriter& svg, const Series& series, std::size_t position,
               const Frame& frame) {
  PathBuilder bars;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    bars.add(frame.x(series.x[i]), frame.y(series.y[i]));
    bars.add(frame.x(series.x[i]), frame.y(series.upper[i]));
    bars.lift();
  }
  svg.path(bars.data(), fmt::format("{} stroke-opacity=\"0.35\"",
                                    stroke_attributes(series, position)));
}

void draw_line(SvgWriter& svg, const Series& series, std::size_t position,
               const Frame& frame) {
  PathBuilder line;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    line.add(frame.x(series.x[i]), frame.y(series.y[i]));
  }
  svg.path(line.data(), stroke_attributes(series, position));
}

void draw_series(SvgWriter& svg, const Series& series, std::size_t position,
                 const Frame& frame) {
  switch (series.mark) {
    case Mark::Band:
      return draw_band(svg, series, position, frame);
    case Mark::Bars:
      return draw_bars(svg, series, position, frame);
    case Mark::Points:
    case Mark::OpenPoints:
      return draw_points(svg, series, position, frame);
    case Mark::Line:
    case Mark::Dashed:
    case Mark::Dotted:
      return draw_line(svg, series, position, frame);
  }
}

}  // namespace

std::string to_svg(const Chart& chart) {
  SvgWriter svg(chart.width, chart.height, chart.title);
  const double top = draw_heading(svg, chart.title, chart.series, chart.width);
  const Frame frame = make_frame(chart, top);
  draw_axes(svg, chart, frame);
  svg.begin_clip(frame.box);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    draw_series(svg, chart.series[i], i, frame);
  }
  svg.end_clip();
  draw_guides(svg, chart, frame);
  return svg.finish();
}

Series histogram(std::string name, const std::vector<double>& values,
                 std::size_t bins) {
  RADIR_CHECK(bins > 0, ArgumentError,
              "histogram: got no bin; it needs at least one");
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  RADIR_CHECK(!finite.empty(), ArgumentError, "histogram: none of the ",
              values.size(), " values is finite; it needs at least one");
  const auto [least, greatest] =
      std::minmax_element(finite.begin(), finite.end());
  // A single value gets a bin of width 1 around it.
  const double room = *least == *greatest ? 0.5 : 0;
  const double first = *least - room;
  const double width = (*greatest + room - first) / static_cast<double>(bins);

  std::vector<double> counts(bins, 0);
  for (const double value : finite) {
    const auto bin = static_cast<std::size_t>((value - first) / width);
    ++counts[std::min(bin, bins - 1)];
  }
  Series outline;
  outline.name = std::move(name);
  outline.mark = Mark::Band;
  for (std::size_t i = 0; i < bins; ++i) {
    for (const std::size_t edge : {i, i + 1}) {
      outline.x.push_back(first + width * static_cast<double>(edge));
      outline.y.push_back(0);
      outline.upper.push_back(counts[i]);
    }
  }
  return outline;
}

std::vector<double> spaced(double first, double last, std::size_t count,
                           Scale scale) {
  RADIR_CHECK(count >= 2, ArgumentError, "spaced: got a count of ", count,
              "; it needs at least 2");
  const bool log = scale == Scale::Log;
  RADIR_CHECK(!log || (first > 0 && last > 0), ArgumentError,
              "spaced: got the bounds ", first, " and ", last,
              "; a logarithmic scale needs both above 0");
  const double begin = log ? std::log(first) : first;
  const double end = log ? std::log(last) : last;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(count - 1);
    const double value = (1 - t) * begin + t * end;
    values[i] = log ? std::exp(value) : value;
  }
  values.front() = first;
  values.back() = last;
  return values;
}

}  // namespace radir::report
