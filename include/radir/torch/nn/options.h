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

/// Which weights a layer's forward() uses.
///
/// Auto follows train() and eval(), as dropout does: training needs draws, and
/// whoever evaluates a network expects the same outputs for the same inputs.
/// The mean weights are not the posterior predictive distribution, which
/// sample_forward estimates in either state. Every other mode holds until it is
/// changed, whatever the state.
enum class Mode {
  Auto,    ///< Sample while training, Mean in evaluation: the default
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

// Defines, as TORCH_ARG does, `name()`, which reads an option, and `name(x)`,
// which sets it and chains. `place` is where the option is kept.
#define RADIR_LAYER_OPTION(Type, name, place) \
 public:                                      \
  const Type& name() const { return place; }  \
  Derived& name(const Type& x) {              \
    place = x;                                \
    return static_cast<Derived&>(*this);      \
  }

/// Named options that chain, for the options of a layer to inherit:
///
///   auto options = BayesLinearOptions(13, 50).grouping(Grouping::Row).seed(7);
///   options.bias();  // true
///
/// See posterior::RadialDirectionalOptions, posterior::GaussianOptions and
/// LayerSettings for what each one means.
template <typename Derived>
class LayerOptions {
 public:
  const LayerSettings& settings() const { return settings_; }

  RADIR_LAYER_OPTION(bool, bias, settings_.bias)
  RADIR_LAYER_OPTION(double, bias_prior_scale, settings_.bias_prior_scale)
  RADIR_LAYER_OPTION(std::optional<std::uint64_t>, seed, settings_.seed)
  RADIR_LAYER_OPTION(bool, validate, settings_.validate)

  /// Everything about the weight's posterior at once.
  RADIR_LAYER_OPTION(posterior::Options, weight, settings_.weight)

  /// The family of the weight's posterior, radial-directional unless it is
  /// Gaussian.
  Family family() const {
    return settings_.weight.template get_if<Gaussian>() != nullptr
               ? Family::Gaussian
               : Family::RadialDirectional;
  }
  /// Takes over the options that both families have.
  Derived& family(Family x) {
    settings_.weight = as_family(settings_.weight, x);
    return static_cast<Derived&>(*this);
  }

  // Of both families:
  RADIR_LAYER_OPTION(bool, learn_prior,
                     shared(&Radial::learn_prior, &Gaussian::learn_prior))
  RADIR_LAYER_OPTION(double, gaussian_prior_scale,
                     shared(&Radial::gaussian_prior_scale,
                            &Gaussian::prior_scale))
  RADIR_LAYER_OPTION(double, initial_gain,
                     shared(&Radial::initial_gain, &Gaussian::initial_gain))
  RADIR_LAYER_OPTION(double, initial_noise,
                     shared(&Radial::initial_noise, &Gaussian::initial_noise))
  // Of the radial-directional family; ArgumentError with another:
  RADIR_LAYER_OPTION(Grouping, grouping, radial().grouping)
  RADIR_LAYER_OPTION(double, local_scale, radial().local_scale)
  RADIR_LAYER_OPTION(double, degrees_of_freedom, radial().degrees_of_freedom)
  /// std::nullopt: the radii of the layer share no factor.
  RADIR_LAYER_OPTION(std::optional<double>, global_scale, radial().global_scale)
  RADIR_LAYER_OPTION(DirectionPrior, direction_prior, radial().direction_prior)
  RADIR_LAYER_OPTION(double, direction_gap, radial().direction_gap)
  RADIR_LAYER_OPTION(std::optional<double>, prior_concentration,
                     radial().prior_concentration)
  RADIR_LAYER_OPTION(bool, concentration_per_group,
                     radial().concentration_per_group)

 private:
  using Radial = posterior::RadialDirectionalOptions;
  using Gaussian = posterior::GaussianOptions;

  Radial& radial() { return settings_.weight.template get<Radial>(); }
  const Radial& radial() const {
    return settings_.weight.template get<Radial>();
  }

  template <typename Value>
  Value& shared(Value Radial::*radial_field, Value Gaussian::*gaussian_field) {
    auto* const gaussian = settings_.weight.template get_if<Gaussian>();
    return gaussian != nullptr ? gaussian->*gaussian_field
                               : radial().*radial_field;
  }
  template <typename Value>
  const Value& shared(Value Radial::*radial_field,
                      Value Gaussian::*gaussian_field) const {
    const auto* const gaussian = settings_.weight.template get_if<Gaussian>();
    return gaussian != nullptr ? gaussian->*gaussian_field
                               : radial().*radial_field;
  }

  LayerSettings settings_;
};

#undef RADIR_LAYER_OPTION

}  // namespace radir::nn
