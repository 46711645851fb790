#include "radir/network/cost.h"

namespace radir::network {

Cost cost(const NetworkSpec& network) {
  const auto shapes = layer_shapes(network.input, network.layers);
  Cost result;
  std::int64_t selecting = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const LayerSpec& layer = network.layers[i];
    const Shape& in = shapes[i];
    const Shape& out = shapes[i + 1];
    std::int64_t parameters = 0;
    if (const auto* dense = std::get_if<Dense>(&layer)) {
      parameters = (in.size() + (dense->bias ? 1 : 0)) * dense->outputs;
    } else if (const auto* conv = std::get_if<Conv2d>(&layer)) {
      parameters =
          (in.channels / conv->groups * conv->kernel.h * conv->kernel.w +
           (conv->bias ? 1 : 0)) *
          conv->outputs;
    } else {
      if (std::holds_alternative<Select>(layer) && i > 0) {
        selecting += (in.size() + 1) * out.size();
      }
      continue;
    }
    result.layers.push_back({"layer" + std::to_string(i + 1),
                             network::to_string(layer),
                             parameters * out.height * out.width, parameters});
    result.flops += result.layers.back().flops;
    result.parameters += parameters;
  }
  result.article_flops = result.flops + selecting;
  result.article_parameters = result.parameters + selecting;
  return result;
}

}  // namespace radir::network
