#include "radir/network/cost.h"
#include "radir/network/spec.h"

namespace radir::network {
namespace {

/// What the article adds for a layer after the first: a selection counts as the
/// multiplication by a matrix.
struct ArticleExtra {
  const Shape& in;
  const Shape& out;

  std::int64_t operator()(const Dense&) const { return 0; }
  std::int64_t operator()(const Conv2d&) const { return 0; }
  std::int64_t operator()(const MaxPool2d&) const { return 0; }
  std::int64_t operator()(const Relu&) const { return 0; }
  std::int64_t operator()(const Flatten&) const { return 0; }
  std::int64_t operator()(const Select&) const {
    return (in.size() + 1) * out.size();
  }
};

}  // namespace

Cost cost(const NetworkSpec& network) {
  const auto shapes = layer_shapes(network.input, network.layers);
  Cost result;
  std::int64_t extra = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const LayerSpec& layer = network.layers[i];
    const Shape& out = shapes[i + 1];
    if (i > 0) extra += std::visit(ArticleExtra{shapes[i], out}, layer);
    const auto weight = network::layer_weight(layer, shapes[i]);
    if (!weight) continue;
    const std::int64_t parameters = weight->shape.size() + weight->bias_size;
    result.layers.push_back({"layer" + std::to_string(i + 1),
                             network::to_string(layer),
                             parameters * out.height * out.width, parameters});
    result.flops += result.layers.back().flops;
    result.parameters += parameters;
  }
  result.article_flops = result.flops + extra;
  result.article_parameters = result.parameters + extra;
  return result;
}

}  // namespace radir::network
