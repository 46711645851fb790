#include "radir/experiments/export.h"

#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/io/model_file.h"
#include "radir/io/onnx.h"
#include "radir/train/plain_network.h"

namespace radir::experiments {
namespace {

using train::Likelihood;

const char* name_of(kernels::PointWeight weights) {
  switch (weights) {
    case kernels::PointWeight::Median:
      return "median";
    case kernels::PointWeight::Mode:
      return "mode";
    case kernels::PointWeight::Mean:
      break;
  }
  return "mean";
}

/// The kind of data a model was trained on; empty when it does not say.
std::string data_kind(const std::string& preprocessing) {
  const auto json = nlohmann::json::parse(preprocessing, nullptr,
                                          /*allow_exceptions=*/false);
  const auto kind = json.find("kind");
  return kind != json.end() && kind->is_string() ? kind->get<std::string>()
                                                 : "";
}

std::string input_note(const std::string& kind) {
  if (kind == "table") {
    return "the columns of a table in the order of the metadata "
           "\"preprocessing\", which must be standardised as it says: a number "
           "as (value - mean) / scale, a category as 1 for its own input and 0 "
           "for the others";
  }
  if (kind == "images") return "pixels from 0 to 255 divided by 255";
  return "numbers as the network was trained on";
}

std::string output_note(Likelihood::Kind likelihood, bool table) {
  const std::string target =
      table ? "standardised target (times its scale plus its mean: the target)"
            : "target";
  switch (likelihood) {
    case Likelihood::Kind::Categorical:
      return "logits: their softmax gives the probabilities of the classes";
    case Likelihood::Kind::PredictedNoise:
      return "mean, then log variance, of the " + target;
    case Likelihood::Kind::Gaussian:
      break;
  }
  return "mean of the " + target;
}

std::int64_t parameter_count(const train::PlainNetwork<float>& network) {
  std::size_t count = 0;
  for (const auto& layer : network.layers) {
    count += layer.weight.size() + layer.bias.size();
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace

ExportSummary export_onnx(const std::string& model_or_run,
                          const std::string& file,
                          const ExportOptions& options) {
  const io::SavedModel saved = io::read_model(io::model_path(model_or_run));
  const auto networks = static_cast<std::int64_t>(saved.networks.size());
  RADIR_CHECK(options.network >= 1 && options.network <= networks,
              ArgumentError, model_or_run, ": the model has ", networks,
              " networks, so the one to export must be from 1 to ", networks,
              ", but is ", options.network);
  const train::Model model(saved.spec);
  const train::PlainNetwork<float> network = train::plain_network(
      model, saved.networks[static_cast<std::size_t>(options.network - 1)],
      options.weights);

  const std::string kind = data_kind(saved.preprocessing);
  io::OnnxOptions onnx;
  onnx.input_note = input_note(kind);
  onnx.output_note = output_note(saved.spec.likelihood.kind, kind == "table");
  onnx.metadata["weights"] = name_of(options.weights);
  onnx.metadata["preprocessing"] = saved.preprocessing;
  io::write_onnx(file, network, onnx);
  return {to_string(network.spec.input),
          model.output_size(),
          parameter_count(network),
          networks,
          onnx.input_note,
          onnx.output_note};
}

}  // namespace radir::experiments
