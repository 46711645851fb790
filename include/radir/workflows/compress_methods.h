#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "radir/network/spec.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/train/model.h"
#include "radir/train/penalty.h"
#include "radir/workflows/compress_settings.h"

namespace radir::workflows {

/// The number of training images for which prices are as given (of rdp,
/// CompressSettings::pressure): what the images say grows with their number,
/// and so must what is to balance it.
constexpr double kPriceImages = 60000;

/// Where a layer with weights stands, for the options of its posterior.
struct PrunedLayer {
  /// The side that has gates: rows of convolutions, columns of dense layers.
  posterior::Grouping side = posterior::Grouping::Column;
  bool last = false;
  /// Price of a unit of that side, 1 for the cheapest unit of the network; it
  /// grows with the unit's FLOPs to the power 2/3.
  double unit_price = 1;
  std::int64_t weights_per_unit = 1;
  double images = 1;  ///< training images by kPriceImages
};

/// A way to find the units that a network does not need, as people name it.
struct CompressMethod {
  std::string name;     ///< "bc-gnj"
  std::string summary;  ///< in a line
  /// The posterior of a layer; null for rdp, which has settings of its own.
  posterior::Options (*options)(const PrunedLayer&) = nullptr;
  /// Score below which a unit goes, the method's own rule; none: the gap
  /// between two groups of scores.
  std::optional<double> threshold = {};
  /// Factor of the learning rate of gates and of the scales of weights behind
  /// them; rdp has CompressSettings::radius_rate.
  double gate_rate = 1;
  /// Whether the FLOPs of all layers together are its penalty.
  bool has_flops_target = false;
};

/// All methods, rdp first.
const std::vector<CompressMethod>& compress_methods();

/// The method of this name. Throws UnsupportedError that lists those there are.
const CompressMethod& compress_method(const std::string& name);

/// The Bayesian network of any method but rdp.
train::ModelSpec gated_model_spec(const CompressMethod& method,
                                  const network::NetworkSpec& network,
                                  std::int64_t images);

/// The penalty of all layers together, for so many training images; null for a
/// method without.
std::shared_ptr<const train::Penalty> method_penalty(
    const CompressSettings& settings, const train::Model& model,
    std::int64_t images);

/// Throws ArgumentError for a setting that the method does not have, or needs.
void check_method_settings(const CompressSettings& settings);

}  // namespace radir::workflows
