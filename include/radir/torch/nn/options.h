#pragma once

#include <cstdint>
#include <optional>

#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"

namespace radir::nn {

using posterior::DirectionPrior;
using posterior::Grouping;

/// The families whose options can be set one by one here; LayerOptions::weight
/// takes any.
enum class Family { RadialDirectional, Gaussian };

/// Options of the given family, which take over those that both families have.
posterior::Options as_family(const posterior::Options& options, Family family);

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
/// See posterior::RadialDirectionalOptions, posterior::GaussianOptions and
/// LayerSettings for what each one means.
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
  /// Takes over the options that both families have.
  Derived& family(Family x) {
    settings_.weight = as_family(settings_.weight, x);
    return static_cast<Derived&>(*this);
  }
  // Of both families:
  Derived& learn_prior(bool x) {
    return set(&Radial::learn_prior, &Gaussian::learn_prior, x);
  }
  Derived& gaussian_prior_scale(double x) {
    return set(&Radial::gaussian_prior_scale, &Gaussian::prior_scale, x);
  }
  Derived& initial_gain(double x) {
    return set(&Radial::initial_gain, &Gaussian::initial_gain, x);
  }
  Derived& initial_noise(double x) {
    return set(&Radial::initial_noise, &Gaussian::initial_noise, x);
  }
  // Of the radial-directional family; ArgumentError with another:
  Derived& grouping(Grouping x) { return set(radial().grouping, x); }
  Derived& local_scale(double x) { return set(radial().local_scale, x); }
  Derived& degrees_of_freedom(double x) {
    return set(radial().degrees_of_freedom, x);
  }
  /// std::nullopt: the radii of the layer share no factor.
  Derived& global_scale(std::optional<double> x) {
    return set(radial().global_scale, x);
  }
  Derived& direction_prior(DirectionPrior x) {
    return set(radial().direction_prior, x);
  }
  Derived& direction_gap(double x) { return set(radial().direction_gap, x); }
  Derived& prior_concentration(double x) {
    return set(radial().prior_concentration, x);
  }
  Derived& concentration_per_group(bool x) {
    return set(radial().concentration_per_group, x);
  }

 private:
  using Radial = posterior::RadialDirectionalOptions;
  using Gaussian = posterior::GaussianOptions;

  Radial& radial() { return settings_.weight.template get<Radial>(); }

  template <typename Value>
  Derived& set(Value Radial::*radial_field, Value Gaussian::*gaussian_field,
               Value value) {
    if (auto* gaussian = settings_.weight.template get_if<Gaussian>()) {
      return set(gaussian->*gaussian_field, value);
    }
    return set(radial().*radial_field, value);
  }
  template <typename Field, typename Value>
  Derived& set(Field& field, const Value& value) {
    field = value;
    return static_cast<Derived&>(*this);
  }

  LayerSettings settings_;
};

}  // namespace radir::nn
