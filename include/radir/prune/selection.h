#pragma once

#include <string>
#include <vector>

#include "radir/network/wiring.h"
#include "radir/train/model.h"

namespace radir::prune {

/// Numbers for the inputs of each layer with weights; empty for a layer whose
/// inputs cannot be removed.
using Scores = std::vector<std::vector<double>>;

/// How much each unit matters: the score of the row that makes it plus that of
/// the column that reads it, both log-modes of radii in radial-directional
/// layers (posterior::WeightPosterior::unit_scores); what has no row (an input
/// of the network) or no column counts by the other alone. Of gates, a unit
/// that has one on both sides has the lower score.
///
/// Scaling a row by any number and the column behind it by its inverse leaves
/// the network and the sum as they are, but for the nonlinearities.
template <typename T>
Scores unit_scores(const train::Model& model, const std::vector<T>& parameters);

/// The units that stay: of each layer with weights the inputs, increasing. A
/// layer keeps those outputs that make a kept input of the next one; the last
/// one keeps all.
struct Selection {
  std::vector<std::vector<std::int64_t>> inputs;
};

/// A selection that keeps all units.
Selection all_units(const network::Wiring& wiring);

/// The inputs whose score is at least the threshold of their layer; where fewer
/// than two are, the two of the highest scores, since a direction needs two
/// dimensions. Layers without scores keep all.
Selection select(const network::Wiring& wiring, const Scores& scores,
                 const std::vector<double>& thresholds);

/// At most as many units of the highest scores as `units` says, in the order of
/// architecture(); of the filters before a dense layer those that have the best
/// features. Layers without scores keep all. Throws ArgumentError unless there
/// is a number for each, of at least two.
Selection select_best(const network::Wiring& wiring, const Scores& scores,
                      const std::vector<std::int64_t>& units);

/// The outputs of a layer that stay.
std::vector<std::int64_t> kept_outputs(const network::Wiring& wiring,
                                       const Selection& selection,
                                       std::size_t layer);

/// "4-7-110-66": the kept units in order, those of the network's input only
/// where its inputs can be removed, and both filters and features between a
/// convolution and a dense layer.
std::string architecture(const network::Wiring& wiring,
                         const Selection& selection);

}  // namespace radir::prune
