#include "fuzz/targets.h"
#include "radir/io/network_file.h"

namespace radir::fuzz {

void network(std::string_view bytes) {
  const train::NetworkSpec spec = io::read_network_text("network", bytes);
  // What is accepted has shapes from end to end.
  require(kernels::layer_shapes(spec.input, spec.layers).size() ==
              spec.layers.size() + 1,
          "every layer has a shape");
}

}  // namespace radir::fuzz
