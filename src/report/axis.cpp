#include "report/axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::report {
namespace {

/// Values that differ by less, relative to the larger, are drawn as one: ticks
/// between them would not be distinguishable.
constexpr double kRounding = 1e-12;
/// Beyond these, lengths and steps overflow.
constexpr double kLargest = 1e250;
constexpr double kSmallest = 1e-250;

double magnitude(Range range) {
  return std::max(std::fabs(range.min), std::fabs(range.max));
}

bool is_one_value(Range range) {
  return range.max - range.min <=
         std::max(kRounding * magnitude(range), kSmallest);
}

/// Room to draw around a single value.
double room_around(Range range, Scale scale) {
  if (scale == Scale::Log) return range.min / 2;
  return magnitude(range) < kSmallest ? 1 : magnitude(range) / 2;
}

/// 1, 2 or 5 times a power of ten, at least `step`.
double round_up_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // The slack keeps a step of 0.1 from becoming 0.2 through rounding.
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string power_label(int exponent) {
  constexpr int kLargestPlain = 3;
  if (exponent >= -2 && exponent <= kLargestPlain) {
    return fmt::format("{:g}", std::pow(10, exponent));
  }
  return fmt::format("10^{{{}}}", exponent < 0 ? fmt::format("−{}", -exponent)
                                               : std::to_string(exponent));
}

bool inside(double value, Range range) {
  const double slack = 1e-9 * (range.max - range.min);
  return value >= range.min - slack && value <= range.max + slack;
}

std::vector<Tick> linear_ticks(Range range, double step) {
  const int decimals =
      std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  for (double index = std::ceil(range.min / step - 1e-9);
       inside(index * step, range); ++index) {
    // Adding zero turns -0 into 0.
    const double value = index * step + 0.0;
    std::string label = fmt::format("{:.{}f}", value, decimals);
    if (label.front() == '-') label.replace(0, 1, "−");
    ticks.push_back({value, std::move(label)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(Range range, int wanted) {
  const Range decades{std::log10(range.min), std::log10(range.max)};
  const int first = static_cast<int>(std::ceil(decades.min - 1e-9));
  const int last = static_cast<int>(std::floor(decades.max + 1e-9));
  std::vector<Tick> ticks;
  if (decades.max - decades.min < 2) {
    for (int exponent = first - 1; exponent <= last; ++exponent) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, exponent);
        if (inside(std::log10(value), decades)) {
          ticks.push_back({value, fmt::format("{:g}", value)});
        }
      }
    }
    return ticks;
  }
  const int stride = (last - first) / wanted + 1;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride == 0) {
      ticks.push_back({std::pow(10, exponent), power_label(exponent)});
    }
  }
  return ticks;
}

}  // namespace

std::vector<Tick> ticks(const Axis& axis, Range range, int wanted) {
  if (axis.scale == Scale::Log) return log_ticks(range, wanted);
  return linear_ticks(range,
                      axis.tick_step > 0
                          ? axis.tick_step
                          : round_up_step((range.max - range.min) / wanted));
}

PixelScale::PixelScale(Scale scale, Range range, double first, double last)
    : scale_(scale), first_(first) {
  origin_ = transform(range.min);
  slope_ = (last - first) / (transform(range.max) - origin_);
}

double PixelScale::operator()(double value) const {
  constexpr double kFarOutside = 5000;
  const double pixel = first_ + slope_ * (transform(value) - origin_);
  return std::isfinite(pixel) ? std::clamp(pixel, -kFarOutside, kFarOutside)
                              : std::numeric_limits<double>::quiet_NaN();
}

double PixelScale::transform(double value) const {
  return scale_ == Scale::Log ? std::log10(value) : value;
}

void RangeFinder::add(const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value) || (scale_ == Scale::Log && value <= 0)) continue;
    const double least = scale_ == Scale::Log ? kSmallest : -kLargest;
    const double shown = std::clamp(value, least, kLargest);
    min_ = std::min(min_, shown);
    max_ = std::max(max_, shown);
  }
}

Range RangeFinder::range(const Axis& axis, double margin,
                         const char* name) const {
  const bool has_min = !std::isnan(axis.min);
  const bool has_max = !std::isnan(axis.max);
  RADIR_CHECK((has_min && has_max) || min_ <= max_, ArgumentError,
              "chart: no value can be drawn on the ", name,
              " axis; it needs a finite value (above 0 on a logarithmic "
              "scale), or both bounds");
  Range range{has_min ? axis.min : min_, has_max ? axis.max : max_};
  if (range.min <= range.max && is_one_value(range)) {
    const double room = room_around(range, axis.scale);
    if (!has_min) range.min -= room;
    if (!has_max) range.max += room;
  }
  RADIR_CHECK(!is_one_value(range) && magnitude(range) <= 2 * kLargest,
              ArgumentError, "chart: the ", name, " axis runs from ", range.min,
              " to ", range.max,
              "; the first must be below the second and "
              "both finite");
  RADIR_CHECK(axis.scale == Scale::Linear || range.min > 0, ArgumentError,
              "chart: the logarithmic ", name, " axis starts at ", range.min,
              "; it must start above 0");
  if (axis.scale == Scale::Log) {
    const double factor =
        std::pow(range.max, margin) / std::pow(range.min, margin);
    return {has_min ? range.min : range.min / factor,
            has_max ? range.max : range.max * factor};
  }
  const double room = margin * (range.max - range.min);
  return {has_min ? range.min : range.min - room,
          has_max ? range.max : range.max + room};
}

}  // namespace radir::report
