#pragma once

#include <vector>

#include "radir/kernels/rdp.h"
#include "radir/network/plain_network.h"
#include "radir/train/model.h"

namespace radir::train {

/// The network of one set of weights that stands for the posterior.
template <typename T>
network::PlainNetwork<T> point_network(
    const Model& model, const std::vector<T>& parameters,
    kernels::PointWeight kind = kernels::PointWeight::Mean);

}  // namespace radir::train
