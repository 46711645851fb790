#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/report/chart.h"
#include "report/svg.h"

namespace radir::report {
namespace {

/// A circle in the picture, and how far a value of 1 reaches out of it.
struct Disc {
  double x;
  double y;
  double radius;
  double reach;

  double x_at(double angle, double value) const {
    return x + (radius + reach * value) * std::cos(angle);
  }
  // Pixels count downwards, angles upwards.
  double y_at(double angle, double value) const {
    return y - (radius + reach * value) * std::sin(angle);
  }
};

/// The smallest rectangle around the circle and all curves, in units of the
/// circle's radius, when the largest value reaches `reach` radii out.
Box extent(const std::vector<Series>& all, double reach_per_value) {
  const Disc unit{0, 0, 1, reach_per_value};
  Box box{-1.05, -1.05, 1.05, 1.05};
  for (const Series& series : all) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const double x = unit.x_at(series.x[i], series.y[i]);
      const double y = unit.y_at(series.x[i], series.y[i]);
      if (std::isnan(x) || std::isnan(y)) continue;
      box.left = std::min(box.left, x);
      box.right = std::max(box.right, x);
      box.top = std::min(box.top, y);
      box.bottom = std::max(box.bottom, y);
    }
  }
  return box;
}

double largest_value(const std::vector<Series>& all) {
  double largest = 0;
  for (const Series& series : all) {
    RADIR_CHECK(series.x.size() == series.y.size(), ArgumentError,
                "circle chart: series \"", series.name, "\" has ",
                series.x.size(), " angles and ", series.y.size(),
                " values; it needs as many of each");
    for (const double value : series.y) {
      RADIR_CHECK(std::isnan(value) || (value >= 0 && std::isfinite(value)),
                  ArgumentError, "circle chart: series \"", series.name,
                  "\" holds ", value, "; values must be finite and >= 0");
      if (value > largest) largest = value;
    }
  }
  RADIR_CHECK(largest > 0, ArgumentError,
              "circle chart: no value above 0 to draw");
  return largest;
}

void draw_arrow(SvgWriter& svg, const Disc& disc, double angle,
                const std::string& label) {
  constexpr double kHead = 9;
  constexpr double kHeadHalfAngle = 0.42;
  const double tip_x = disc.x_at(angle, 0);
  const double tip_y = disc.y_at(angle, 0);
  svg.rule(disc.x, disc.y, tip_x, tip_y, "stroke-width=\"1.5\"");
  PathBuilder head;
  for (const double turn : {-kHeadHalfAngle, 0.0, kHeadHalfAngle}) {
    const double length = turn == 0 ? 0 : kHead;
    head.add(tip_x - length * std::cos(angle + turn),
             tip_y + length * std::sin(angle + turn));
  }
  head.close();
  svg.path(head.data(), "");
  svg.text((disc.x + tip_x) / 2, (disc.y + tip_y) / 2 - 7, label,
           SvgWriter::Anchor::Middle);
}

}  // namespace

std::string to_svg(const CircleChart& chart) {
  constexpr double kReachInRadii = 2.2;  // of the largest value
  constexpr double kRoom = 12;
  SvgWriter svg(chart.width, chart.height, chart.title);
  const double top =
      draw_heading(svg, chart.title, chart.series, chart.width) + kRoom;
  const double per_value = kReachInRadii / largest_value(chart.series);
  const Box needed = extent(chart.series, per_value);
  const double radius =
      std::min((chart.width - 2 * kRoom) / needed.width(),
               (chart.height - top - kRoom) / needed.height());
  const Disc disc{chart.width / 2.0 - radius * (needed.left + needed.right) / 2,
                  (top + chart.height - kRoom) / 2 -
                      radius * (needed.top + needed.bottom) / 2,
                  radius, radius * per_value};

  svg.circle(disc.x, disc.y, disc.radius,
             "fill=\"currentColor\" fill-opacity=\"0.05\" "
             "stroke=\"currentColor\" stroke-opacity=\"0.45\"");
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    PathBuilder curve;
    for (std::size_t j = 0; j < series.x.size(); ++j) {
      curve.add(disc.x_at(series.x[j], series.y[j]),
                disc.y_at(series.x[j], series.y[j]));
    }
    svg.path(curve.data(), stroke_attributes(series, i));
  }
  if (!chart.direction_label.empty()) {
    draw_arrow(svg, disc, chart.direction, chart.direction_label);
  }
  return svg.finish();
}

}  // namespace radir::report
