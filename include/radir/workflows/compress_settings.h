#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/network/spec.h"
#include "radir/prune/curve.h"
#include "radir/train/model.h"

namespace radir::workflows {

/// Everything that decides how an image classifier is trained and shrunk.
struct CompressSettings {
  std::string network_name;  ///< for reports
  network::NetworkSpec network;

  /// How units that are not needed are found: one of compress_methods().
  std::string method = "rdp";
  /// Factor of the divergence or penalty of a method other than rdp; none: 1.
  std::optional<double> strength;

  // The prior of the method rdp (posterior::RadialDirectionalOptions).
  double local_scale = 0.01;
  double global_scale = 1e-3;
  double direction_gap = 0.01;
  /// Price of a unit under the prior: degrees of freedom of the half-t prior of
  /// its radii, for 60,000 training images (in proportion for other numbers)
  /// and the cheapest units. The price of other units is multiplied by the
  /// ratio of the costs to the power `cost_power`: 0 treats all units alike
  /// (fewer parameters), a higher power penalises expensive units more (fewer
  /// FLOPs). 0: the article's half-Cauchy prior, whatever a unit costs.
  double pressure = 14;
  double cost_power = 2.0 / 3;

  /// Epochs during which units are removed, and epochs between removals.
  std::int64_t epochs = 30;
  std::int64_t prune_every = 3;
  /// Each removal takes the epoch with the lowest training loss of so many
  /// before it; 0: the last.
  std::int64_t selection_window = 0;
  /// Epochs of fine-tuning after the last removal: of the posterior with the
  /// method rdp, of the mean weights without noise with the others.
  std::int64_t fine_tune_epochs = 120;
  /// Epochs of training only the means after that; 0: none.
  std::int64_t mean_epochs = 0;
  std::int64_t batch = 100;
  /// Largest random shift of training images in both directions, in pixels; 0
  /// as in the article.
  std::int64_t shift = 1;
  /// Strength of the random linear map of every second training image
  /// (random_warp); 0: none.
  double warp = 0;
  double learning_rate = 1e-3;
  double mean_learning_rate = 6e-3;  ///< when only the means are trained
  double radius_rate = 40;           ///< StepSettings::scale_rate of rdp
  /// Share of the pruning epochs over which the weight of the KL term rises.
  double kl_warmup = 0.3;

  /// One threshold of the scores for all layers; none: the method's, or found
  /// for each. Either way no removal may cost more than 0.1 points of training
  /// accuracy.
  std::optional<double> threshold;
  /// For the network after the last removal. The shares of units that meet it
  /// are found on images kept out of the training.
  prune::Budget budget;
  /// Largest number of units of each layer after that, as for
  /// prune::select_best; empty: no limit.
  std::vector<std::int64_t> keep;

  /// Weight samples for the figures of a Bayesian network.
  std::int64_t samples = 50;
  std::uint64_t seed = 0;
};

/// Every setting but the network and its name.
void describe_compression(SettingsVisitor& visit, CompressSettings& settings);
/// Those and the name of the network.
void describe(SettingsVisitor& visit, CompressSettings& settings);

/// Throws ArgumentError that names the first setting that is invalid.
void check(const CompressSettings& settings);

/// The settings as a JSON object, every one resolved.
std::string to_json(const CompressSettings& settings);

/// What to_json wrote, without the network. Throws IoError when something is
/// missing or of another type.
CompressSettings compress_settings_from_json(const std::string& text);

/// The Bayesian network the settings ask for. With rdp: double grouping, rows
/// only where a layer has a single input channel.
train::ModelSpec model_spec(const CompressSettings& settings,
                            std::int64_t images);

}  // namespace radir::workflows
