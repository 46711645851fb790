#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/files/json_object.h"
#include "radir/network/cost.h"
#include "radir/network/plain_network.h"
#include "radir/prune/curve.h"
#include "radir/train/model.h"

namespace radir::workflows {

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

/// Scores of the units of one layer: of those that were removed, when they
/// were, and of the others after the last removal.
struct LayerScores {
  std::vector<double> removed;
  std::vector<double> kept;
};

struct CompressResult {
  NetworkFigures unpruned;  ///< before the first removal
  NetworkFigures pruned;    ///< after the last
  std::optional<NetworkFigures> fine_tuned;
  std::optional<NetworkFigures> mean_tuned;
  std::vector<Removal> removals;
  /// Of each layer with weights, before any budget; not in to_json.
  std::vector<LayerScores> scores;
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

  /// The figures that there are, in the order of the work, with the names
  /// reports use.
  std::vector<std::pair<const char*, const NetworkFigures*>> networks() const;
  /// What `plain` is: the last of them.
  const NetworkFigures& final_figures() const;
};

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

/// What to_json(figures) wrote. Throws IoError when it is none of those.
NetworkFigures figures_from_json(files::JsonObject json);

}  // namespace radir::workflows
