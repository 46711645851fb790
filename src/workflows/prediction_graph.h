#pragma once

#include <string>
#include <vector>

#include "radir/data/column_code.h"
#include "radir/data/table_encoder.h"
#include "radir/io/onnx_graph.h"
#include "radir/likelihood/target_transform.h"

// Parts of the ONNX file of predictions (export_predictions.cpp). Each function
// appends nodes to the graph and returns the name of their result.

namespace radir::workflows {

/// Raw columns become the inputs of the network: float [batch, inputs]. A row
/// that has no prediction for a missing value becomes NaN.
std::string encode_columns(io::OnnxGraph& graph,
                           const data::TableEncoder& encoder);

/// Components of a predictive mixture (likelihood::MixtureComponent), in
/// original units.
struct MixtureValues {
  std::string location;  ///< double [components, batch]
  std::string scale;     ///< double [components, batch] or [components, 1]
  /// double [components, 1]; empty: normal distributions.
  std::string degrees_of_freedom;
  // double [components, batch], or empty: all weights are equal and all offsets
  // zero.
  std::string weight;
  std::string offset;
};

/// double [batch, 1] each.
struct MixtureMoments {
  std::string mean;
  std::string sd;
  std::string epistemic_sd;
  std::string aleatoric_sd;
};

MixtureMoments mixture_moments(io::OnnxGraph& graph,
                               const MixtureValues& mixture);
/// Of the number whose transform the mixture describes; its components are
/// draws.
MixtureMoments transformed_moments(
    io::OnnxGraph& graph, const MixtureValues& mixture,
    const likelihood::TargetTransform& transform);
/// The numbers with these transformed values.
std::string inverse_transform(io::OnnxGraph& graph, const std::string& values,
                              const likelihood::TargetTransform& transform);

/// double [batch, probabilities]: to 1e-7 of the standard deviation.
std::string mixture_quantiles(io::OnnxGraph& graph,
                              const MixtureValues& mixture,
                              const MixtureMoments& moments,
                              const std::vector<double>& probabilities);

}  // namespace radir::workflows
