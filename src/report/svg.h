#pragma once

#include <string>
#include <string_view>

#include "radir/report/chart.h"

namespace radir::report {

inline constexpr double kFontSize = 12.5;

/// A rectangle of the picture, in pixels.
struct Box {
  double left;
  double top;
  double right;
  double bottom;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// Builds an <svg> element from simple shapes.
class SvgWriter {
 public:
  enum class Anchor { Start, Middle, End };

  /// Opens the picture; `title` is what a screen reader says.
  SvgWriter(int width, int height, std::string_view title);

  void text(double x, double y, std::string_view text,
            Anchor anchor = Anchor::Start, std::string_view attributes = "");
  /// A straight line in the colour of the text.
  void rule(double x1, double y1, double x2, double y2,
            std::string_view attributes);
  /// `data` in SVG path syntax.
  void path(std::string_view data, std::string_view attributes);
  void circle(double x, double y, double radius, std::string_view attributes);

  /// What is drawn until end_clip() shows inside the box only.
  void begin_clip(const Box& box);
  void end_clip();

  std::string finish();

 private:
  std::string out_;
};

/// Colour number `index` of the palette, as a CSS value.
std::string palette_color(int index);

/// The palette number of series `position` of a chart.
int color_of(const Series& series, std::size_t position);

/// Attributes of a line of the series: colour, width and dashes.
std::string stroke_attributes(const Series& series, std::size_t position);

/// Points joined by straight lines; a NaN interrupts the line.
class PathBuilder {
 public:
  void add(double x, double y);
  void close();
  /// The next point starts a new line.
  void lift() { pen_down_ = false; }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
  std::string last_point_;
  bool pen_down_ = false;
};

/// Draws the title and, if more than one series has a name, the legend, at the
/// top of a picture of the given width. Returns the height used.
double draw_heading(SvgWriter& svg, std::string_view title,
                    const std::vector<Series>& series, double width);

}  // namespace radir::report
