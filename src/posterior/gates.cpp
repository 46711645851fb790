#include "radir/posterior/gates.h"

#include "posterior/gated_posterior.h"
#include "posterior/point_posterior.h"
#include "radir/core/error.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"

namespace radir::posterior {
namespace {

template <typename T>
class GroupNormalJeffreysPosterior final
    : public GatedPosterior<T, NormalJeffreysGate> {
 public:
  GroupNormalJeffreysPosterior(const network::WeightShape& shape,
                               const GroupNormalJeffreysOptions& options)
      : GatedPosterior<T, NormalJeffreysGate>(shape, options, options.weights,
                                              {{}, options.initial_gate_noise},
                                              options.initial_noise) {}
};

template <typename T>
class GroupHorseshoePosterior final : public GatedPosterior<T, HorseshoeGate> {
 public:
  GroupHorseshoePosterior(const network::WeightShape& shape,
                          const GroupHorseshoeOptions& options)
      : GatedPosterior<T, HorseshoeGate>(
            shape, options, options.weights,
            {{}, 1, options.initial_gate_noise}, options.initial_noise,
            HorseshoeGate{
                {}, options.global_scale, options.initial_gate_noise}) {}
};

/// Weights that a gate multiplies.
std::int64_t weights_per_gate(const network::WeightShape& shape,
                              const GatedWeights& weights) {
  return weights.grouping == Grouping::Row ? shape.row_length()
                                           : shape.column_length();
}

template <typename T>
class HardConcretePosterior final : public GatedPosterior<T, HardConcreteGate> {
 public:
  HardConcretePosterior(const network::WeightShape& shape,
                        const HardConcreteOptions& options)
      : GatedPosterior<T, HardConcreteGate>(
            shape, options, options.weights,
            {{},
             options.price *
                 static_cast<double>(weights_per_gate(shape, options.weights)),
             options.initial_open}) {}
};

template <typename T>
class GeneralizedDropoutPosterior final : public GatedPosterior<T, BetaGate> {
 public:
  GeneralizedDropoutPosterior(const network::WeightShape& shape,
                              const GeneralizedDropoutOptions& options)
      : GatedPosterior<T, BetaGate>(shape, options, options.weights,
                                    {{},
                                     options.beta_a,
                                     options.beta_b,
                                     options.price,
                                     options.temperature,
                                     options.initial_open}) {}
};

template <typename T>
class StructuredPruningPosterior final
    : public GatedPosterior<T, TruncatedGate> {
 public:
  StructuredPruningPosterior(const network::WeightShape& shape,
                             const StructuredPruningOptions& options)
      : GatedPosterior<T, TruncatedGate>(
            shape, options, options.weights,
            {{}, options.price, options.initial_gate_noise}) {}
};

/// A family of gates over weights of either kind.
template <typename FamilyOptions, template <typename> class Posterior,
          bool kNormalWeights>
class GateFamily final : public FamilyOf<FamilyOptions, Posterior> {
 public:
  using FamilyOf<FamilyOptions, Posterior>::FamilyOf;

  void check(const Options& options) const override {
    RADIR_CHECK(
        options.get<FamilyOptions>().weights.grouping != Grouping::Double,
        UnsupportedError, "the family ", this->name(),
        " has gates of rows or of columns, not of both; choose the grouping ",
        "row or column");
  }

  Options bias_options(const Options&, double prior_scale) const override {
    if (!kNormalWeights) return point_bias_options(std::nullopt, 0);
    GaussianOptions options = posterior::bias_options(prior_scale);
    options.noise = GaussianOptions::Noise::Activations;
    return options;
  }
};

void describe_weights(SettingsVisitor& visit, GatedWeights& weights) {
  visit.choice({"grouping", "Which units have gates", {}}, weights.grouping,
               grouping_choices());
  visit.number(
      {"initial_gain",
       "Variance of the starting weights times the inputs of a unit", above(0)},
      weights.initial_gain);
}

void describe_noise(SettingsVisitor& visit, double& gate, double& weight) {
  visit.number({"initial_gate_noise",
                "Standard deviation of a gate at the start", above(0)},
               gate);
  visit.number({"initial_noise",
                "Standard deviation of the weights at the start relative to "
                "their spread",
                above(0)},
               weight);
}

}  // namespace

void describe(SettingsVisitor& visit, GroupNormalJeffreysOptions& options) {
  describe_weights(visit, options.weights);
  describe_noise(visit, options.initial_gate_noise, options.initial_noise);
}

void describe(SettingsVisitor& visit, GroupHorseshoeOptions& options) {
  describe_weights(visit, options.weights);
  visit.number(
      {"global_scale", "Scale of the factor that all units share", above(0)},
      options.global_scale);
  describe_noise(visit, options.initial_gate_noise, options.initial_noise);
}

void describe(SettingsVisitor& visit, HardConcreteOptions& options) {
  describe_weights(visit, options.weights);
  visit.number({"price", "Price of a weight behind an open gate", at_least(0)},
               options.price);
  visit.number({"initial_open", "Probability behind the gates at the start",
                inside(0, 1)},
               options.initial_open);
}

void describe(SettingsVisitor& visit, GeneralizedDropoutOptions& options) {
  describe_weights(visit, options.weights);
  visit.number(
      {"beta_a", "First parameter of the prior Beta(a, b)", between(0, 1)},
      options.beta_a);
  visit.number(
      {"beta_b", "Second parameter of the prior Beta(a, b)", between(0, 2)},
      options.beta_b);
  visit.number({"price", "Factor of the prior's log density", at_least(0)},
               options.price);
  visit.number({"temperature", "Of the concrete variables", above(0)},
               options.temperature);
  visit.number(
      {"initial_open", "Probability of the gates at the start", inside(0, 1)},
      options.initial_open);
}

void describe(SettingsVisitor& visit, StructuredPruningOptions& options) {
  describe_weights(visit, options.weights);
  visit.number({"price", "Factor of the divergence of a gate", at_least(0)},
               options.price);
  visit.number(
      {"initial_gate_noise",
       "Standard deviation of the log of a gate at the start", inside(0, 1)},
      options.initial_gate_noise);
}

const Family& family_of(const GroupNormalJeffreysOptions&) {
  static const GateFamily<GroupNormalJeffreysOptions,
                          GroupNormalJeffreysPosterior, true>
      family("group-normal-jeffreys",
             "Normal weights times normal gates of units under 1/|z|.");
  return family;
}

const Family& family_of(const GroupHorseshoeOptions&) {
  static const GateFamily<GroupHorseshoeOptions, GroupHorseshoePosterior, true>
      family("group-horseshoe",
             "Normal weights times log-normal gates of units under the "
             "horseshoe prior.");
  return family;
}

const Family& family_of(const HardConcreteOptions&) {
  static const GateFamily<HardConcreteOptions, HardConcretePosterior, false>
      family("hard-concrete",
             "Weights without noise behind hard concrete gates of units, "
             "which pay for the weights of open ones.");
  return family;
}

const Family& family_of(const GeneralizedDropoutOptions&) {
  static const GateFamily<GeneralizedDropoutOptions,
                          GeneralizedDropoutPosterior, false>
      family("generalized-dropout",
             "Weights without noise behind units that are dropped with "
             "probabilities of their own.");
  return family;
}

const Family& family_of(const StructuredPruningOptions&) {
  static const GateFamily<StructuredPruningOptions, StructuredPruningPosterior,
                          false>
      family("structured-pruning",
             "Weights without noise times log-normal gates of units under the "
             "log-uniform prior.");
  return family;
}

}  // namespace radir::posterior
