#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace radir::testing {

/// The distribution of the cosine w = mu.x under a von Mises-Fisher
/// distribution, by numerical integration in y = atanh(w), where its density is
/// proportional to exp(kappa tanh y - (m-1) log cosh y). No Bessel function is
/// used.
class VmfCosineLaw {
 public:
  VmfCosineLaw(double m, double kappa) : m_(m), kappa_(kappa) {
    const double mode_cosine =
        2 * kappa / (m - 1 + std::sqrt(4 * kappa * kappa + (m - 1) * (m - 1)));
    const double mode = std::atanh(mode_cosine);
    const double width = 1 / std::sqrt((1 - mode_cosine * mode_cosine) *
                                       (2 * kappa * mode_cosine + m - 1));
    peak_ = log_weight(mode);
    low_ = edge(mode, -width);
    step_ = (edge(mode, width) - low_) / kIntervals;
    cumulative_.push_back(0);
    for (int i = 0; i < kIntervals; ++i) {  // Simpson's rule on each interval
      const double y = low_ + i * step_;
      const double area =
          weight(y) + 4 * weight(y + step_ / 2) + weight(y + step_);
      cumulative_.push_back(cumulative_.back() + area);
    }
  }

  /// P(w <= 1 - one_minus_cosine).
  double probability(double one_minus_cosine) const {
    const double y =
        0.5 * (std::log(2 - one_minus_cosine) - std::log(one_minus_cosine));
    const double place =
        std::clamp((y - low_) / step_, 0.0, static_cast<double>(kIntervals));
    const int i = std::min(static_cast<int>(place), kIntervals - 1);
    const double share = place - i;
    const double below = cumulative_[static_cast<std::size_t>(i)];
    const double above = cumulative_[static_cast<std::size_t>(i) + 1];
    return (below + share * (above - below)) / cumulative_.back();
  }

 private:
  static constexpr int kIntervals = 4000;

  double log_weight(double y) const {
    const double size = std::fabs(y);
    const double log_cosh =
        size + std::log1p(std::exp(-2 * size)) - std::log(2);
    return kappa_ * std::tanh(y) - (m_ - 1) * log_cosh;
  }
  double weight(double y) const { return std::exp(log_weight(y) - peak_); }

  /// Where, going from the mode in steps that grow, the weight is negligible.
  double edge(double mode, double step) const {
    double y = mode;
    for (; log_weight(y) > peak_ - 40; step *= 1.1) y += step;
    return y;
  }

  double m_;
  double kappa_;
  double peak_;
  double low_;
  double step_;
  std::vector<double> cumulative_;
};

}  // namespace radir::testing
