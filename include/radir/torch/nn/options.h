#pragma once

#include <cstdint>
#include <optional>

#include "radir/posterior/options.h"

namespace radir::nn {

using posterior::DirectionPrior;
using posterior::Family;
using posterior::Grouping;

/// Which weights a layer's forward() uses. train() and eval() do not change it.
enum class Mode {
  Sample,  ///< a fresh draw at every call, one for the whole batch
  Mean,    ///< E[W]
  Median,  ///< median of the radii times the mean directions
  Mode,    ///< mode of the radii times the mean directions
  Frozen,  ///< one draw, kept until set_mode is called again
};

const char* to_string(Mode mode);

/// What every Bayesian layer can be told, whatever its shape.
struct LayerSettings {
  posterior::Options weight;
  bool bias = true;
  /// Prior standard deviation of the bias, whose posterior is Gaussian.
  double bias_prior_scale = 1;
  /// Names the layer's random numbers; no value: drawn from torch's default
  /// generator when the layer is made, so that torch::manual_seed repeats runs.
  std::optional<std::uint64_t> seed;
  /// Whether forward() refuses inputs that are not finite.
  bool validate = true;
};

/// Named options that chain, for the options of a layer to inherit:
///
///   BayesLinearOptions(13, 50).grouping(Grouping::Row).seed(7)
///
/// See posterior::Options and LayerSettings for what each one means.
template <typename Derived>
class LayerOptions {
 public:
  const LayerSettings& settings() const { return settings_; }

  Derived& bias(bool x) { return set(settings_.bias, x); }
  Derived& bias_prior_scale(double x) {
    return set(settings_.bias_prior_scale, x);
  }
  Derived& seed(std::uint64_t x) { return set(settings_.seed, x); }
  Derived& validate(bool x) { return set(settings_.validate, x); }

  /// Everything about the weight's posterior at once.
  Derived& weight(const posterior::Options& x) {
    return set(settings_.weight, x);
  }
  Derived& family(Family x) { return set(settings_.weight.family, x); }
  Derived& grouping(Grouping x) { return set(settings_.weight.grouping, x); }
  Derived& local_scale(double x) {
    return set(settings_.weight.local_scale, x);
  }
  Derived& degrees_of_freedom(double x) {
    return set(settings_.weight.degrees_of_freedom, x);
  }
  /// std::nullopt: the radii of the layer share no factor.
  Derived& global_scale(std::optional<double> x) {
    return set(settings_.weight.global_scale, x);
  }
  Derived& direction_prior(DirectionPrior x) {
    return set(settings_.weight.direction_prior, x);
  }
  Derived& direction_gap(double x) {
    return set(settings_.weight.direction_gap, x);
  }
  Derived& prior_concentration(double x) {
    return set(settings_.weight.prior_concentration, x);
  }
  Derived& concentration_per_group(bool x) {
    return set(settings_.weight.concentration_per_group, x);
  }
  Derived& learn_prior(bool x) { return set(settings_.weight.learn_prior, x); }
  Derived& gaussian_prior_scale(double x) {
    return set(settings_.weight.gaussian_prior_scale, x);
  }
  Derived& initial_gain(double x) {
    return set(settings_.weight.initial_gain, x);
  }
  Derived& initial_noise(double x) {
    return set(settings_.weight.initial_noise, x);
  }

 private:
  template <typename Field, typename Value>
  Derived& set(Field& field, const Value& value) {
    field = value;
    return static_cast<Derived&>(*this);
  }

  LayerSettings settings_;
};

}  // namespace radir::nn
