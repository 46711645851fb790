#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace radir::report {

// Every text below (titles, labels, names) may hold _{subscripts} and
// ^{superscripts}; everything else is taken literally.

enum class Scale { Linear, Log };

/// How the points of a series are drawn.
enum class Mark {
  Line,        ///< a solid line through the points
  Dashed,      ///< a dashed line
  Dotted,      ///< a dotted line
  Points,      ///< a dot at each point
  Band,        ///< the area between `y` and `upper`
  OpenPoints,  ///< a circle at each point
  Bars,        ///< a thin upright bar from `y` to `upper` at each point
};

/// One axis. A bound that is left NaN is taken from the data.
struct Axis {
  std::string label;
  Scale scale = Scale::Linear;
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double tick_step = 0;  ///< between ticks of a linear axis; 0: chosen
};

/// Points to draw. A value that is not finite, or not positive on a
/// logarithmic axis, interrupts the line.
struct Series {
  static constexpr int kByPosition = -1;

  std::string name;  ///< shown in the legend unless empty
  std::vector<double> x;
  std::vector<double> y;
  Mark mark = Mark::Line;
  std::vector<double> upper = {};  ///< upper edge, Mark::Band and Bars only
  int color = kByPosition;         ///< index into the palette
  double width = 2;                ///< of the line, in pixels
};

/// A straight line across the chart at a value of one axis, with a label.
struct Guide {
  double value = 0;
  std::string label;
};

/// A chart in the plane.
struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Guide> horizontal = {};  ///< lines at values of y
  std::vector<Guide> vertical = {};    ///< lines at values of x
  int width = 560;
  int height = 380;
};

/// Functions on the unit circle: each series holds angles in radians (x) and
/// values >= 0 (y), drawn outwards from the circle.
struct CircleChart {
  std::string title;
  std::vector<Series> series;
  double direction = 0;              ///< angle of the arrow
  std::string direction_label = {};  ///< no arrow when empty
  int width = 560;
  int height = 380;
};

/// One line of a dot chart: a value with an interval around it and, if wanted,
/// a wider one.
struct DotRow {
  std::string name;
  double value = 0;
  double lower = 0;
  double upper = 0;
  /// The wider interval; none where both are NaN.
  double outer_lower = std::numeric_limits<double>::quiet_NaN();
  double outer_upper = std::numeric_limits<double>::quiet_NaN();
  bool faint = false;  ///< drawn in grey
};

/// Named values below each other, each with its intervals. As high as its rows
/// need.
struct DotChart {
  std::string title;
  Axis x;
  std::vector<DotRow> rows;
  std::vector<Guide> vertical = {};  ///< lines at values of x
  int width = 560;
};

/// The chart as one <svg> element. It takes the text colour of the page around
/// it and its series colours from the CSS variables --radir-0 ... --radir-7,
/// with built-in colours where these are not defined.
///
/// Throws ArgumentError when a series has x, y and upper of different lengths,
/// when nothing can be drawn on an axis, or when a bound is out of order (or
/// not positive on a logarithmic axis).
std::string to_svg(const Chart& chart);
std::string to_svg(const CircleChart& chart);
std::string to_svg(const DotChart& chart);

/// Counts of `values` in `bins` equal bins over their range, as the outline of
/// a histogram (Mark::Band). Values that are not finite are left out.
/// Throws ArgumentError without a finite value or a bin.
Series histogram(std::string name, const std::vector<double>& values,
                 std::size_t bins);

/// `count` values from `first` to `last`, equally spaced on the scale.
/// Throws ArgumentError for fewer than two, or bounds <= 0 with Scale::Log.
std::vector<double> spaced(double first, double last, std::size_t count,
                           Scale scale = Scale::Linear);

}  // namespace radir::report
