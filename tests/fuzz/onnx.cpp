#include "radir/io/onnx.h"

#include "fuzz/targets.h"
#include "radir/network/spec.h"

namespace radir::fuzz {

void onnx(std::string_view bytes) {
  io::OnnxOptions options;
  const network::PlainNetwork<float> network =
      io::read_onnx("network", bytes, &options);
  require(
      network::layer_shapes(network.spec.input, network.spec.layers).size() ==
          network.spec.layers.size() + 1,
      "every layer has a shape");
}

}  // namespace radir::fuzz
