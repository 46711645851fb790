#pragma once

#include "radir/core/settings.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"

// Weights times one random factor per unit, its gate: W_ij = z_j w_ij, or
// z_i w_ij. Families differ in the law of a gate, in what it costs, and in
// whether the weights behind it are normal or without noise. One draw of the
// gates serves a batch.
//
// Gates are on the columns (inputs) or on the rows (outputs). The bias of a row
// is not multiplied by its gate: a unit whose gate is closed is the constant
// that its bias makes it.

namespace radir::posterior {

/// What the families have in common.
struct GatedWeights {
  /// Rows or columns; double grouping is not supported.
  Grouping grouping = Grouping::Column;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
};

/// Group normal-Jeffreys posterior (C. Louizos, K. Ullrich, M. Welling,
/// "Bayesian compression for deep learning", 2017): normal gates under the
/// prior 1/|z|, normal weights under N(0, 1).
struct GroupNormalJeffreysOptions {
  GatedWeights weights;
  /// Standard deviations at the start: of the gates, whose mean is 1, and of
  /// the weights relative to their spread.
  double initial_gate_noise = 0.01;
  double initial_noise = 0.1;
};

/// Group horseshoe posterior (the same article): the gate of a unit times one
/// factor of all units, both half-Cauchy under the prior, each the root of a
/// Gamma times an inverse Gamma variable with log-normal posteriors.
struct GroupHorseshoeOptions {
  GatedWeights weights;
  /// Scale of the common factor under the prior.
  double global_scale = 1e-5;
  /// Standard deviation of the log of a gate at the start, and as above.
  double initial_gate_noise = 0.05;
  double initial_noise = 0.1;
};

/// Hard concrete gates over weights without noise (C. Louizos, M. Welling,
/// D. Kingma, "Learning sparse neural networks through L0 regularization",
/// 2018). The expected number of weights behind open gates, times `price`,
/// takes the place of the divergence.
struct HardConcreteOptions {
  GatedWeights weights;
  double price = 0.1;         ///< of a weight, in nats
  double initial_open = 0.5;  ///< 1 / (1 + 1/alpha) at the start
};

/// Gates that are open with a probability of their own (S. Srinivas and
/// R. Babu, "Generalized dropout", 2016), as concrete variables, over weights
/// without noise. The negative log density of Beta(a, b) at the probabilities
/// takes the place of the divergence, less its least value.
struct GeneralizedDropoutOptions {
  GatedWeights weights;
  double beta_a = 1e-4;  ///< below 1: pushes to 0
  double beta_b = 0.5;   ///< below 1: pushes to 1; above 1: from it
  double price = 1;      ///< factor of that density, for dear units
  double temperature = 0.1;
  double initial_open = 0.63;
};

/// Log-normal gates cut to [e^-20, 1] over weights without noise
/// (K. Neklyudov, D. Molchanov, A. Ashukha, D. Vetrov, "Structured Bayesian
/// pruning", 2017), under the log-uniform prior.
struct StructuredPruningOptions {
  GatedWeights weights;
  double price = 1;  ///< factor of the divergence of a gate, for dear units
  /// Standard deviation of the log of a gate at the start.
  double initial_gate_noise = 0.0067379469990854671;  // e^-5
};

void describe(SettingsVisitor& visit, GroupNormalJeffreysOptions& options);
void describe(SettingsVisitor& visit, GroupHorseshoeOptions& options);
void describe(SettingsVisitor& visit, HardConcreteOptions& options);
void describe(SettingsVisitor& visit, GeneralizedDropoutOptions& options);
void describe(SettingsVisitor& visit, StructuredPruningOptions& options);
const Family& family_of(const GroupNormalJeffreysOptions&);
const Family& family_of(const GroupHorseshoeOptions&);
const Family& family_of(const HardConcreteOptions&);
const Family& family_of(const GeneralizedDropoutOptions&);
const Family& family_of(const StructuredPruningOptions&);

}  // namespace radir::posterior
