#include "radir/core/error.h"
#include "radir/io/onnx.h"
#include "radir/network/plain_network.h"

// Takes the place of the writer and the reader where RADIR_WITH_ONNX is OFF.

namespace radir::io {
namespace {

[[noreturn]] void throw_absent(const std::string& path) {
  detail::throw_error<UnsupportedError>(
      path, ": this program was built without ONNX; install libonnx-dev and ",
      "build it with RADIR_WITH_ONNX=ON");
}

}  // namespace

bool has_onnx() { return false; }

void write_onnx(const std::string& path, const network::PlainNetwork<float>&,
                const OnnxOptions&) {
  throw_absent(path);
}

network::PlainNetwork<float> read_onnx(const std::string& path, OnnxOptions*) {
  throw_absent(path);
}

network::PlainNetwork<float> read_onnx(const std::string& name,
                                       std::string_view, OnnxOptions*) {
  throw_absent(name);
}

}  // namespace radir::io
