#pragma once

#include <string>
#include <vector>

#include "radir/report/chart.h"

namespace radir::report {

struct Tick {
  double value;
  std::string label;
};

struct Range {
  double min;
  double max;
};

/// Round values inside the range, `wanted` of them or somewhat fewer.
///
/// Linear: multiples of the axis' own step, or of 1, 2 or 5 times a power of
/// ten. Logarithmic: powers of ten; over less than two decades also 2 and 5
/// times these.
std::vector<Tick> ticks(const Axis& axis, Range range, int wanted);

/// Maps values of an axis to pixels, `first` at the axis' minimum.
class PixelScale {
 public:
  PixelScale(Scale scale, Range range, double first, double last);

  /// Pixels, kept within a few pictures' width so that no coordinate becomes
  /// huge; NaN for what the axis cannot show.
  double operator()(double value) const;

 private:
  double transform(double value) const;

  Scale scale_;
  double origin_ = 0;
  double first_;
  double slope_ = 0;
};

/// Grows to the values an axis has to show.
class RangeFinder {
 public:
  explicit RangeFinder(Scale scale) : scale_(scale) {}

  void add(const std::vector<double>& values);

  /// What was added, with the axis' own bounds in place of it where given and
  /// `margin` times its length added where not. `name` ("x") is for messages.
  Range range(const Axis& axis, double margin, const char* name) const;

 private:
  Scale scale_;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace radir::report
