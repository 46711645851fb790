#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/io/model_file.h"
#include "radir/prune/curve.h"
#include "radir/report/table.h"

namespace radir::workflows {

/// Figures of one layer with weights.
struct LayerInspection {
  std::string name;       ///< "layer1"
  std::string layer;      ///< "conv 20 5x5"
  std::string posterior;  ///< as posterior::WeightPosterior::describe says
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  /// Inputs that the network does not need, by the automatic
  /// threshold; 0 where they cannot be removed.
  std::int64_t removable_inputs = 0;
  std::int64_t flops = 0;
  std::int64_t parameters = 0;
  double weight_rms = 0;  ///< root mean square of the mean weights
  /// Root mean square deviation of the weights relative to weight_rms: where
  /// the uncertainty is.
  double relative_noise = 0;
};

struct ModelInspection {
  std::string input;         ///< "1x28x28"
  std::string likelihood;    ///< "categorical"
  std::string architecture;  ///< "20-50-800-500"
  std::int64_t networks = 0;
  std::int64_t flops = 0;
  std::int64_t parameters = 0;              ///< weights and biases
  std::int64_t variational_parameters = 0;  ///< numbers in the file, a network
  std::vector<LayerInspection> layers;
};

/// Inspects the first network of a model.
ModelInspection inspect(const io::SavedModel& model);

nlohmann::ordered_json to_json(const LayerInspection& layer);

/// The layers, a row each.
report::Table layer_table(const ModelInspection& inspection);

/// Which units to remove, chosen by the first network of a model.
struct PruneOptions {
  /// One threshold of the scores for all layers; none: found for each.
  std::optional<double> threshold;
  /// Of FLOPs and parameters; where given, it decides instead.
  prune::Budget budget;
};

/// The model with the units removed from all its networks (those that the first
/// one does not need), its posterior restricted to the rest; its quantiles are
/// no longer corrected. Throws
/// ArgumentError when no network meets the budget, naming the nearest, and
/// UnsupportedError for a model of sampled networks.
io::SavedModel prune_model(const io::SavedModel& model,
                           const PruneOptions& options);

/// The input columns of a model of a table: those that its network reads, and
/// the others.
struct KeptColumns {
  std::vector<std::string> kept;
  std::vector<std::string> removed;
};

/// Removes the columns that the network of a table does not read from its
/// preprocessing and its inputs: tables to predict need not have them. The
/// predictions stay. A model of images has none, and stays as it is.
KeptColumns drop_unused_columns(io::SavedModel& model);

}  // namespace radir::workflows
