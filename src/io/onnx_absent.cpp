#include "radir/core/error.h"
#include "radir/io/onnx.h"
#include "radir/io/onnx_graph.h"
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

class OnnxGraph::Impl {};

OnnxGraph::OnnxGraph() { throw_absent("a file of predictions"); }
OnnxGraph::~OnnxGraph() = default;
OnnxGraph::OnnxGraph(OnnxGraph&&) noexcept = default;
OnnxGraph& OnnxGraph::operator=(OnnxGraph&&) noexcept = default;

// No graph gets so far.
void OnnxGraph::add_input(const std::string&, OnnxElement, std::int64_t,
                          const std::string&) {}
void OnnxGraph::add_output(const std::string&, const std::string&, OnnxElement,
                           std::int64_t, const std::string&) {}
std::string OnnxGraph::constant(const std::vector<float>&, const Dims&) {
  return "";
}
std::string OnnxGraph::constant(const std::vector<double>&, const Dims&) {
  return "";
}
std::string OnnxGraph::constant(const std::vector<std::int64_t>&, const Dims&) {
  return "";
}
std::string OnnxGraph::constant(const std::vector<std::string>&, const Dims&) {
  return "";
}
std::string OnnxGraph::node(const char*, const Values&, const Attributes&,
                            const char*) {
  return "";
}
std::string OnnxGraph::cast(const std::string&, OnnxElement) { return ""; }
OnnxGraph::Values OnnxGraph::loop(
    std::int64_t, const Values& start,
    const std::function<LoopStep(const Values&)>&) {
  return start;
}
void OnnxGraph::write(const std::string& path, const std::string&,
                      const std::map<std::string, std::string>&) const {
  throw_absent(path);
}

}  // namespace radir::io
