#include "fuzz/targets.h"
#include "radir/io/network_file.h"
#include "radir/network/spec.h"

namespace radir::fuzz {

void network(std::string_view bytes) {
  const network::NetworkSpec spec = io::read_network_text("network", bytes);
  // What is accepted has shapes from end to end.
  require(network::layer_shapes(spec.input, spec.layers).size() ==
              spec.layers.size() + 1,
          "every layer has a shape");
}

}  // namespace radir::fuzz
