#include "report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>

#include "report/markup.h"

namespace radir::report {

SvgWriter::SvgWriter(int width, int height, std::string_view title) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\" "
      "font-size=\"{}\" fill=\"currentColor\">\n",
      width, height, escape(plain_text(title)), kFontSize);
}

void SvgWriter::text(double x, double y, std::string_view text, Anchor anchor,
                     std::string_view attributes) {
  constexpr std::array<const char*, 3> kAnchors = {"start", "middle", "end"};
  fmt::format_to(std::back_inserter(out_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}"
                 "</text>\n",
                 x, y, kAnchors[static_cast<std::size_t>(anchor)], attributes,
                 svg_text(text));
}

void SvgWriter::rule(double x1, double y1, double x2, double y2,
                     std::string_view attributes) {
  path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y1, x2, y2),
       fmt::format("fill=\"none\" stroke=\"currentColor\" {}", attributes));
}

void SvgWriter::path(std::string_view data, std::string_view attributes) {
  fmt::format_to(std::back_inserter(out_), "<path d=\"{}\" {}/>\n", data,
                 attributes);
}

void SvgWriter::circle(double x, double y, double radius,
                       std::string_view attributes) {
  fmt::format_to(std::back_inserter(out_),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>\n", x,
                 y, radius, attributes);
}

void SvgWriter::begin_clip(const Box& box) {
  // A nested picture clips by itself and, unlike <clipPath>, needs no name
  // that would have to be unique in the page.
  fmt::format_to(std::back_inserter(out_),
                 "<svg x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" "
                 "height=\"{3:.1f}\" viewBox=\"{0:.1f} {1:.1f} {2:.1f} "
                 "{3:.1f}\">\n",
                 box.left, box.top, box.width(), box.height());
}

void SvgWriter::end_clip() { out_ += "</svg>\n"; }

std::string SvgWriter::finish() { return std::move(out_) + "</svg>\n"; }

std::string palette_color(int index) {
  // Used where a page does not define its own; readable on white and on black.
  constexpr std::array<const char*, 8> kColors = {
      "#2f6fde", "#e0662b", "#1f9d62", "#b04bc4",
      "#b98a12", "#d43a6a", "#159aa8", "#7a7f87"};
  const std::size_t slot = static_cast<std::size_t>(index) % kColors.size();
  return fmt::format("var(--radir-{}, {})", slot, kColors[slot]);
}

int color_of(const Series& series, std::size_t position) {
  return series.color == Series::kByPosition ? static_cast<int>(position)
                                             : series.color;
}

std::string stroke_attributes(const Series& series, std::size_t position) {
  const char* dashes = series.mark == Mark::Dashed ? " stroke-dasharray=\"7 4\""
                       : series.mark == Mark::Dotted
                           ? " stroke-dasharray=\"1 5\""
                           : "";
  return fmt::format(
      "fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\" "
      "stroke-linejoin=\"round\" stroke-linecap=\"round\"{}",
      palette_color(color_of(series, position)), series.width, dashes);
}

void PathBuilder::add(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) {
    pen_down_ = false;
    return;
  }
  std::string point = fmt::format("{:.1f} {:.1f}", x, y);
  if (pen_down_ && point == last_point_) return;
  data_ += pen_down_ ? 'L' : 'M';
  data_ += point;
  last_point_ = std::move(point);
  pen_down_ = true;
}

void PathBuilder::close() {
  if (pen_down_) data_ += 'Z';
  pen_down_ = false;
}

namespace {

constexpr double kSwatchWidth = 22;

void draw_swatch(SvgWriter& svg, const Series& series, std::size_t position,
                 double x, double y) {
  const std::string color = palette_color(color_of(series, position));
  const double middle = y - 0.33 * kFontSize;
  if (series.mark == Mark::Points) {
    svg.circle(x + kSwatchWidth / 2, middle, 3.5,
               fmt::format("fill=\"{}\"", color));
  } else if (series.mark == Mark::Bars) {
    svg.path(fmt::format("M{:.1f} {:.1f}v14", x + kSwatchWidth / 2, middle - 7),
             stroke_attributes(series, position) + " stroke-opacity=\"0.6\"");
  } else if (series.mark == Mark::Band) {
    svg.path(fmt::format("M{:.1f} {:.1f}h{:g}v9h-{:g}Z", x, middle - 4.5,
                         kSwatchWidth, kSwatchWidth),
             fmt::format("fill=\"{}\" fill-opacity=\"0.35\"", color));
  } else {
    svg.path(
        fmt::format("M{:.1f} {:.1f}h{:g}", x + 1, middle, kSwatchWidth - 2),
        stroke_attributes(series, position));
  }
}

}  // namespace

double draw_heading(SvgWriter& svg, std::string_view title,
                    const std::vector<Series>& series, double width) {
  constexpr double kLeft = 8;
  constexpr double kRowHeight = 19;
  double bottom = 6;
  if (!title.empty()) {
    // Bold letters are a tenth wider.
    constexpr double kTitleSize = 15 * 1.1;
    svg.text(kLeft, 20,
             fitted_text(std::string(title), (width - 2 * kLeft) / kTitleSize),
             SvgWriter::Anchor::Start, "font-size=\"15\" font-weight=\"600\"");
    bottom = 28;
  }
  std::size_t named = 0;
  for (const Series& one : series) named += one.name.empty() ? 0 : 1;
  if (named < 2) return bottom;

  double x = kLeft;
  double y = bottom + 14;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].name.empty()) continue;
    constexpr double kBeside = kSwatchWidth + 6 + 14;
    const std::string name =
        fitted_text(series[i].name, (width - kLeft - kBeside) / kFontSize);
    const double needed = kBeside + kFontSize * text_width(name);
    if (x > kLeft && x + needed > width) {
      x = kLeft;
      y += kRowHeight;
    }
    draw_swatch(svg, series[i], i, x, y);
    svg.text(x + kSwatchWidth + 6, y, name);
    x += needed;
  }
  return y + 8;
}

}  // namespace radir::report
