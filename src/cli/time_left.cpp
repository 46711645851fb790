#include "cli/time_left.h"

#include <algorithm>

namespace radir::cli {
namespace {

/// Seconds in which a resumed run has told what it had done.
constexpr double kFirstMoments = 0.2;
/// Seconds between the samples kept, at least.
constexpr double kSpacing = 0.05;
/// The part of the time so far that counts, and the seconds it has at least.
constexpr double kWindow = 0.3;
constexpr double kLeastWindow = 2;

}  // namespace

std::optional<double> TimeLeft::add(double seconds, double share) {
  if (!first_) first_ = seconds;
  if (seconds - *first_ < kFirstMoments) {
    samples_ = {{seconds, share}};
    return std::nullopt;
  }
  const double window = std::max(kLeastWindow, kWindow * (seconds - *first_));
  while (samples_.size() > 1 && samples_[1].seconds <= seconds - window) {
    samples_.pop_front();
  }
  const Sample from = samples_.front();
  if (seconds - samples_.back().seconds >= kSpacing) {
    samples_.push_back({seconds, share});
  }
  if (share <= from.share) return std::nullopt;
  return (seconds - from.seconds) * (1 - share) / (share - from.share);
}

}  // namespace radir::cli
