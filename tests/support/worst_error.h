#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace radir::testing {

/// Collects errors in units of eps over many rows, remembers the worst one and
/// prints it.
///
///   WorstError<double> worst("bessel_ratio", 4);  // at most 4 eps
///   worst.add(got, want, [&] { return table.describe(i); });
///   worst.verify();
template <typename T>
class WorstError {
 public:
  WorstError(std::string what, double allowed_eps)
      : what_(std::move(what)), allowed_eps_(allowed_eps) {}

  /// Error relative to |want|.
  template <typename Describe>
  void add(T got, double want, Describe describe) {
    add_scaled(got, want, std::fabs(want), describe);
  }

  /// Error relative to `scale`; a NaN or infinity counts as infinitely wrong.
  template <typename Describe>
  void add_scaled(T got, double want, double scale, Describe describe) {
    const double difference = std::fabs(static_cast<double>(got) - want);
    double error = difference == 0 ? 0 : difference / scale;
    error /= static_cast<double>(std::numeric_limits<T>::epsilon());
    if (!(error < std::numeric_limits<double>::infinity())) {
      error = std::numeric_limits<double>::infinity();
    }
    ++count_;
    sum_ += error;
    if (count_ == 1 || error > worst_) {
      worst_ = error;
      char numbers[80];
      std::snprintf(numbers, sizeof numbers, "got %.17g, want %.17g at ",
                    static_cast<double>(got), want);
      row_ = numbers + describe();
    }
  }

  /// Prints the worst row and fails the test when it is over the limit, or
  /// when nothing was compared.
  void verify() const {
    const char* type = sizeof(T) == 8 ? "double" : "float";
    std::printf(
        "%s<%s>: worst %.3g eps (allowed %g), mean %.3g, %zu values; %s\n",
        what_.c_str(), type, worst_, allowed_eps_,
        sum_ / static_cast<double>(count_), count_, row_.c_str());
    EXPECT_GT(count_, 0u) << what_;
    EXPECT_LE(worst_, allowed_eps_) << what_ << " <" << type << ">: " << row_;
  }

 private:
  std::string what_;
  double allowed_eps_;
  double worst_ = 0;
  double sum_ = 0;
  std::size_t count_ = 0;
  std::string row_;
};

}  // namespace radir::testing
