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

  // The prior (posterior::Options).
  double local_scale = 0.01;
  double global_scale = 1e-3;
  double direction_gap = 0.01;
  /// How hard the prior presses: degrees of freedom of the radii's half-t
  /// prior, for 60,000 training images (in proportion for more or fewer), in
  /// the units that cost least; others get more by the power `cost_power` of
  /// the ratio of their costs: 0 treats all alike (fewer parameters), more
  /// presses on what is dear to run (fewer FLOPs).
  double pressure = 14;
  double cost_power = 2.0 / 3;

  /// Passes over the images in which units are removed, and between removals.
  std::int64_t epochs = 30;
  std::int64_t prune_every = 3;
  /// Passes after the last removal, with the posterior of the survivors.
  std::int64_t fine_tune_epochs = 120;
  /// Passes after that in which the means alone are trained; 0: none.
  std::int64_t mean_epochs = 0;
  std::int64_t batch = 100;
  /// Training images are shifted at random by up to so many pixels in both
  /// directions; 0: not at all, as in the article.
  std::int64_t shift = 1;
  /// Strength of the random linear maps that every second training image goes
  /// through (random_warp); 0: none.
  double warp = 0;
  double learning_rate = 1e-3;
  double mean_learning_rate = 6e-3;  ///< where the means alone are trained
  double radius_rate = 40;           ///< train::StepSettings::scale_rate
  /// Share of the pruning epochs over which the weight of the KL term rises.
  double kl_warmup = 0.3;

  /// One threshold of the scores for all layers; none: found for each. Either
  /// way no removal may cost more than 0.1 points of training accuracy.
  std::optional<double> threshold;
  /// For the network after the last removal. The shares of units that meet it
  /// are found on images kept out of the training.
  prune::Budget budget;
  /// The most units to keep after that, as prune::select_best takes them; none
  /// given: no such limit.
  std::vector<std::int64_t> keep;

  /// Draws of the weights behind the figures of a Bayesian network.
  std::int64_t samples = 50;
  std::uint64_t seed = 0;
};

/// Throws ArgumentError that names the first setting that makes no sense.
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

/// What is known of one network, all errors as fractions.
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

/// One removal of units in the course of training.
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

  /// The Bayesian network that came out, and the one of plain numbers: the
  /// means, or what became of them where these were trained on.
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

/// Told of every epoch: share of the work done, and a line about it.
using CompressProgress = std::function<void(double share, const std::string&)>;

/// Trains, removes units on the way, shrinks and fine-tunes. With `run` it can
/// be stopped and gone on with. Throws ArgumentError when settings make no
/// sense or images do not fit the network, or when no network meets a budget
/// (naming the nearest).
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
