#include "radir/train/model.h"

#include <sstream>

#include "radir/core/error.h"
#include "radir/core/text_stream.h"
#include "radir/posterior/family.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"

namespace radir::train {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;

}  // namespace

std::int64_t ParameterInfo::size() const {
  std::int64_t product = 1;
  for (std::int64_t extent : shape) product *= extent;
  return product;
}

Model::Model(ModelSpec spec)
    : spec_(std::move(spec)),
      likelihood_(likelihood::make_likelihood(spec_.likelihood)) {
  const auto shapes =
      network::layer_shapes(spec_.network.input, spec_.network.layers);
  output_size_ = shapes.back().size();
  for (std::size_t i = 0; i < spec_.network.layers.size(); ++i) {
    auto weight = network::layer_weight(spec_.network.layers[i], shapes[i]);
    if (!weight) continue;
    WeightedLayer layer;
    layer.index = i;
    layer.name = "layer" + std::to_string(i + 1);
    layer.shape = weight->shape;
    layer.tensor_shape = std::move(weight->tensor_shape);
    layer.bias_size = weight->bias_size;
    layers_.push_back(std::move(layer));
  }
  RADIR_CHECK(!layers_.empty(), ArgumentError,
              "model: the network has no layer with weights");
  RADIR_CHECK(
      spec_.weights.size() == 1 || spec_.weights.size() == layers_.size(),
      ArgumentError, "model: posterior options must be given once or for each ",
      "of the ", layers_.size(), " layers with weights, but there are ",
      spec_.weights.size());
  target_size_ = likelihood_->target_size(output_size_);

  for (std::size_t i = 0; i < layers_.size(); ++i) {
    WeightedLayer& layer = layers_[i];
    layer.weight = spec_.weights[spec_.weights.size() == 1 ? 0 : i];
    layer.bias = layer.weight.family().bias_options(layer.weight,
                                                    spec_.bias_prior_scale);
    layer.first_weight_parameter = parameters_.size();
    add_posterior(layer.name + ".weight", layer.shape, layer.tensor_shape,
                  layer.weight);
    layer.first_bias_parameter = parameters_.size();
    if (layer.bias_size > 0) {
      add_posterior(layer.name + ".bias", {1, layer.bias_size, 1, 1},
                    {layer.bias_size}, layer.bias);
    }
  }
  likelihood_offset_ = parameter_count_;
  for (const char* name : likelihood_->parameter_names()) {
    add_parameter(std::string("likelihood.") + name, {1});
  }
}

void Model::add_parameter(std::string name, std::vector<std::int64_t> shape,
                          bool trainable, bool is_scale) {
  parameters_.push_back({std::move(name), parameter_count_, std::move(shape),
                         trainable, is_scale});
  parameter_count_ += parameters_.back().size();
}

void Model::add_posterior(const std::string& name,
                          const network::WeightShape& shape,
                          const std::vector<std::int64_t>& tensor_shape,
                          const posterior::Options& options) {
  const posterior::WeightPosterior<float> posterior(shape, options);
  has_noise_ = has_noise_ || posterior.noise() != posterior::Noise::None;
  for (const auto& block : posterior.parameter_blocks()) {
    add_parameter(name + "." + block.name,
                  block.weight_shaped() ? tensor_shape
                                        : std::vector<std::int64_t>{block.size},
                  block.trainable, block.is_scale);
  }
}

std::string Model::describe() const {
  std::ostringstream text = text_stream();
  const auto shapes =
      network::layer_shapes(spec_.network.input, spec_.network.layers);
  text << "input " << to_string(spec_.network.input) << "\n";
  auto weighted = layers_.begin();
  for (std::size_t i = 0; i < spec_.network.layers.size(); ++i) {
    text << "layer " << i + 1 << ": " << to_string(spec_.network.layers[i])
         << " -> " << to_string(shapes[i + 1]);
    if (weighted != layers_.end() && weighted->index == i) {
      const posterior::WeightPosterior<float> posterior(weighted->shape,
                                                        weighted->weight);
      text << ", " << posterior.describe();
      ++weighted;
    }
    text << "\n";
  }
  text << "likelihood: " << likelihood::to_string(spec_.likelihood.kind) << ", "
       << parameter_count_ << " parameters\n";
  return text.str();
}

}  // namespace radir::train
