#pragma once

#include <vector>

namespace radir::data {

struct Point {
  double x;
  double y;
};

/// A pen stroke through control points, straight or smooth between them.
struct Stroke {
  enum class Kind { Straight, Smooth };
  Kind kind;
  std::vector<Point> points;
};

/// One way of writing a digit, in a box from (0, 0), top left, to (1, 1).
using Glyph = std::vector<Stroke>;

inline constexpr int kDigitClasses = 10;

/// The ways of writing a digit from 0 to 9.
const std::vector<Glyph>& digit_glyphs(int digit);

}  // namespace radir::data
