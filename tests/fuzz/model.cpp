#include "radir/io/model_file.h"

#include "fuzz/targets.h"
#include "radir/files/utf8.h"
#include "radir/io/safetensors.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::fuzz {
namespace {

/// The tensors of the network that the first inputs describe.
class Tensors {
 public:
  Tensors()
      : model_(spec()),
        zeros_(static_cast<std::size_t>(model_.parameter_count())) {}

  void add_to(io::SafetensorsWriter& writer) const {
    for (const train::ParameterInfo& parameter : model_.parameters()) {
      writer.add("network1." + parameter.name, parameter.shape, zeros_.data());
    }
  }

 private:
  static train::ModelSpec spec() {
    train::ModelSpec spec;
    spec.network = network::multilayer_perceptron(2, {3}, 1);
    return spec;
  }

  train::Model model_;
  std::vector<float> zeros_;
};

}  // namespace

void model(std::string_view bytes) {
  if (!files::is_utf8(bytes)) return;  // no file can hold it
  static const Tensors tensors;
  io::SafetensorsWriter writer;
  writer.set_metadata("radir.model", std::string(bytes));
  tensors.add_to(writer);
  const io::SavedModel saved = io::read_model("model", writer.bytes());
  require(saved.networks.size() == 1, "there is the one network");
}

}  // namespace radir::fuzz
