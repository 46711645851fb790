#pragma once

#include <vector>

#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/prune/selection.h"
#include "radir/train/model.h"

// Removal of units. A removed unit gets no input any more, so that it is
// constant: its bias, after a ReLU where one follows. What the constant adds to
// the layer that reads it goes into that layer's bias; where that is not exact
// (the layer pads with zeros) or there is no bias to take it, it is dropped.
// An input of a dense layer can go alone, its maker staying: its weights there
// become zero.

namespace radir::prune {

/// The network with the weights of all removed units set to zero, the shape
/// unchanged: the reference for shrink().
template <typename T>
network::PlainNetwork<T> mask(const network::PlainNetwork<T>& network,
                              const Selection& selection);

/// The description of the smaller network.
network::NetworkSpec shrink(const network::NetworkSpec& network,
                            const Selection& selection);

/// The smaller network with the same outputs as the masked one.
template <typename T>
network::PlainNetwork<T> shrink(const network::PlainNetwork<T>& network,
                                const Selection& selection);

template <typename T>
struct ShrunkModel {
  train::ModelSpec spec;
  std::vector<T> parameters;
};

/// The smaller Bayesian network: the surviving part of each posterior
/// (posterior::WeightPosterior::restrict_to). Its mean weights are those of the
/// shrunk network of the means.
template <typename T>
ShrunkModel<T> shrink(const train::Model& model,
                      const std::vector<T>& parameters,
                      const Selection& selection);

}  // namespace radir::prune
