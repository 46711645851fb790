#include "radir/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "radir/core/error.h"
#include "radir/core/text_stream.h"
#include "radir/math/constants.h"

namespace radir::train {
namespace {

using math::detail::kPi;

void check_share(double share, const char* what) {
  RADIR_CHECK(share >= 0 && share <= 1, ArgumentError, "KL schedule: ", what,
              " is a share of the training between 0 and 1, but got ", share);
}

}  // namespace

KlSchedule KlSchedule::constant(double weight) {
  RADIR_CHECK(weight >= 0 && std::isfinite(weight), ArgumentError,
              "KL schedule: weight must be finite and >= 0, but got ", weight);
  KlSchedule schedule;
  schedule.weight = weight;
  return schedule;
}

KlSchedule KlSchedule::warmup(double period, double delay, double weight) {
  check_share(period, "the warm-up");
  check_share(delay, "the delay");
  KlSchedule schedule = constant(weight);
  schedule.kind = Kind::Warmup;
  schedule.period = period;
  schedule.delay = delay;
  return schedule;
}

KlSchedule KlSchedule::cyclic(double period, double weight) {
  check_share(period, "the cycle");
  RADIR_CHECK(period > 0, ArgumentError,
              "KL schedule: a cycle cannot have length 0");
  KlSchedule schedule = constant(weight);
  schedule.kind = Kind::Cyclic;
  schedule.period = period;
  return schedule;
}

double KlSchedule::operator()(double progress) const {
  switch (kind) {
    case Kind::Warmup: {
      const double since = progress - delay;
      if (since >= period) return weight;
      return since <= 0 ? 0 : weight * since / period;
    }
    case Kind::Cyclic: {
      const double cycles = progress / period;
      return weight * std::min(1.0, 2 * (cycles - std::floor(cycles)));
    }
    case Kind::Constant:
      break;
  }
  return weight;
}

double LearningRateSchedule::operator()(double progress) const {
  if (progress < warmup) return progress / warmup;
  const double share = warmup < 1 ? (progress - warmup) / (1 - warmup) : 1;
  switch (kind) {
    case Kind::Cosine:
      return final_factor +
             (1 - final_factor) * 0.5 * (1 + std::cos(kPi * share));
    case Kind::Linear:
      return final_factor + (1 - final_factor) * (1 - share);
    case Kind::Constant:
      break;
  }
  return 1;
}

std::string to_string(const KlSchedule& schedule) {
  std::ostringstream text = text_stream();
  switch (schedule.kind) {
    case KlSchedule::Kind::Warmup:
      text << "warm-up over " << schedule.period << " after " << schedule.delay
           << ", ";
      break;
    case KlSchedule::Kind::Cyclic:
      text << "cycles of " << schedule.period << ", ";
      break;
    case KlSchedule::Kind::Constant:
      break;
  }
  text << "weight " << schedule.weight;
  return text.str();
}

std::string to_string(const LearningRateSchedule& schedule) {
  std::ostringstream text = text_stream();
  switch (schedule.kind) {
    case LearningRateSchedule::Kind::Cosine:
      text << "cosine to " << schedule.final_factor;
      break;
    case LearningRateSchedule::Kind::Linear:
      text << "linear to " << schedule.final_factor;
      break;
    case LearningRateSchedule::Kind::Constant:
      text << "constant";
      break;
  }
  if (schedule.warmup > 0) text << " after a warm-up of " << schedule.warmup;
  return text.str();
}

}  // namespace radir::train
