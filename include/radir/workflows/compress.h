#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/network/cost.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/prune/curve.h"
#include "radir/prune/shrink.h"
#include "radir/train/model.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// Everything that decides how an image classifier is trained and shrunk.
struct CompressSettings {
  std::string network_name;  ///< for reports
  network::NetworkSpec network;

  // The prior (posterior::RadialDirectionalOptions).
  double local_scale = 0.01;
  double global_scale = 1e-3;
  double direction_gap = 0.01;
  /// Price of a unit under the prior: degrees of freedom of the half-t prior of
  /// its radii, for 60,000 training images (in proportion for other numbers)
  /// and the cheapest units. The price of other units is multiplied by the
  /// ratio of the costs to the power `cost_power`: 0 treats all units alike
  /// (fewer parameters), a higher power penalises expensive units more (fewer
  /// FLOPs).
  double pressure = 14;
  double cost_power = 2.0 / 3;

  /// Epochs during which units are removed, and epochs between removals.
  std::int64_t epochs = 30;
  std::int64_t prune_every = 3;
  /// Epochs of fine-tuning the posterior after the last removal.
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
  double radius_rate = 40;           ///< train::StepSettings::scale_rate
  /// Share of the pruning epochs over which the weight of the KL term rises.
  double kl_warmup = 0.3;

  /// One threshold of the scores for all layers; none: found for each. Either
  /// way no removal may cost more than 0.1 points of training accuracy.
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

/// Throws ArgumentError that names the first setting that is invalid.
void check(const CompressSettings& settings);

/// The settings as a JSON object, every one resolved.
std::string to_json(const CompressSettings& settings);

/// What to_json wrote, without the network. Throws IoError when something is
/// missing or of another type.
CompressSettings compress_settings_from_json(const std::string& text);

/// The Bayesian network the settings ask for: double grouping, rows only where
/// a layer has a single input channel.
train::ModelSpec model_spec(const CompressSettings& settings,
                            std::int64_t images);

/// Figures of one network; errors are fractions.
struct NetworkFigures {
  std::string architecture;  ///< "4-7-110-66"
  network::Cost cost;
  double train_error = 0;  ///< of the mean weights
  double test_error = 0;
  double test_nll = 0;
  /// Of the mixture over draws of the weights.
  double bayes_test_error = 0;
  double bayes_test_nll = 0;
  double bayes_test_ece = 0;
  double microseconds_per_image = 0;  ///< mean weights, one thread
};

/// One removal of units during training.
struct Removal {
  std::int64_t epoch = 0;
  std::string architecture;  ///< afterwards
  std::int64_t flops = 0;
  std::int64_t parameters = 0;
  double nll = 0;  ///< of the epoch before it, nats per image
  double kl = 0;
  /// Share of the training images (10,000 at most) that the mean weights put
  /// in a wrong class, before and after.
  double train_error_before = 0;
  double train_error = 0;
  std::vector<double> thresholds;  ///< per layer with weights
};

struct CompressResult {
  NetworkFigures unpruned;  ///< before the first removal
  NetworkFigures pruned;    ///< after the last
  std::optional<NetworkFigures> fine_tuned;
  std::optional<NetworkFigures> mean_tuned;
  std::vector<Removal> removals;
  /// Where there is a budget, with errors on images kept out of the training.
  std::vector<prune::CurvePoint> curve;

  /// The resulting Bayesian network, and the network with fixed weights: the
  /// means, after their own training if there was any.
  train::ModelSpec spec;
  std::vector<float> parameters;
  network::PlainNetwork<float> plain;
  /// Largest difference of outputs between the masked and the shrunk network,
  /// relative to the largest output, over all removals.
  double masked_difference = 0;
  double seconds = 0;

  /// What `plain` is: the last of the figures above.
  const NetworkFigures& final_figures() const;
};

/// Called after every epoch with the share of the work done and a line of text.
using CompressProgress = std::function<void(double share, const std::string&)>;

/// Trains, removes units during training, shrinks and fine-tunes. With `run` it
/// can be stopped and resumed. Throws ArgumentError when settings are invalid,
/// images do not fit the network, or no network meets a budget (naming the
/// nearest).
CompressResult compress(const data::ImageSplit& images,
                        const CompressSettings& settings,
                        const CompressProgress& progress = nullptr,
                        ThreadPool* pool = nullptr,
                        const ResumableRun* run = nullptr);

/// The figures, removals and curve as a JSON object.
std::string to_json(const CompressResult& result);

/// What to_json wrote: all but the networks themselves. Throws IoError when
/// something is missing or of another type.
CompressResult compress_result_from_json(const std::string& text);

/// Lists of JSON objects.
std::string to_json(const std::vector<Removal>& removals);
std::string to_json(const std::vector<prune::CurvePoint>& curve);

/// The figures as a JSON object: architecture, flops, parameters, test_error,
/// and so on, with a list of layers.
std::string to_json(const NetworkFigures& figures);

}  // namespace radir::workflows
