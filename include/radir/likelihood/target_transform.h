#pragma once

namespace radir::likelihood {

/// The scale on which a number is predicted: its own, or, for a skewed number
/// that is not negative, a logarithmic one,
///
///   g(y) = log(1 + y / offset)   for 0 <= y <= end,
///
/// which goes on as a straight line of the same slope on both sides. Far below
/// the offset it is linear, far above it is the logarithm. Because of the line
/// beyond the end, a mixture of Student's t distributions of g(y) gives y a
/// mean and a variance; because of that below 0, every number has a density.
class TargetTransform {
 public:
  /// The number's own scale.
  TargetTransform() = default;
  /// Throws ArgumentError unless both are finite and above 0.
  static TargetTransform logarithm(double offset, double end);

  bool is_none() const { return offset_ == 0; }
  double offset() const { return offset_; }
  double end() const { return end_; }

  /// g(value).
  double apply(double value) const;
  /// The number y with g(y) = transformed.
  double invert(double transformed) const;
  /// log g'(value).
  double log_slope(double value) const;

  struct Moments {
    double mean = 0;
    double variance = 0;
  };
  /// Of y where g(y) is normal. In closed form; error of the mean below 1e-8
  /// standard deviations of y, relative error of the variance below 1e-7. A
  /// deviation below 3e-4 right at a bend: 1e-4 and 1e-3.
  Moments moments(double location, double deviation) const;

 private:
  double offset_ = 0;  // 0: none
  double end_ = 0;
  double top_ = 0;  // g(end)
};

}  // namespace radir::likelihood
