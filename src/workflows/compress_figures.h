#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"
#include "radir/workflows/compress_result.h"

namespace radir::workflows {

/// As prune::architecture says it of all units.
std::string architecture_of(const network::NetworkSpec& network);

/// All but what the draws of a Bayesian network and a clock say.
NetworkFigures figures_of(const network::PlainNetwork<float>& network,
                          const data::ImageRows& train,
                          const data::ImageRows& test, ThreadPool* pool);

/// Figures of the mean weights, and those of a mixture over draws.
struct Mixture {
  std::int64_t samples = 0;
  std::uint64_t seed = 0;
};
NetworkFigures figures_of(const train::Model& model,
                          const std::vector<float>& parameters,
                          const data::ImageRows& train,
                          const data::ImageRows& test, const Mixture& mixture,
                          ThreadPool* pool);

/// Medians of several networks, run in turn so that they share what the machine
/// does besides.
std::vector<double> microseconds_per_image(
    const std::vector<const network::PlainNetwork<float>*>& networks,
    const data::ImageRows& images);

/// Largest difference of outputs on some images, relative to the largest output
/// of the first network.
double output_difference(const network::PlainNetwork<float>& a,
                         const network::PlainNetwork<float>& b,
                         const data::ImageRows& images);

}  // namespace radir::workflows
