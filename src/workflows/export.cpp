#include "radir/workflows/export.h"

#include <map>

#include "radir/core/error.h"
#include "radir/data/data_kind.h"
#include "radir/io/model_file.h"
#include "radir/io/onnx.h"
#include "radir/likelihood/likelihood.h"
#include "radir/network/plain_network.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/workflows/torchscript.h"

namespace radir::workflows {
namespace {

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

std::string input_note(const std::string& kind) {
  if (kind == data::kTableKind) {
    return "the columns of a table in the order of the metadata "
           "\"preprocessing\", which must be standardised as it says: a number "
           "as (value - mean) / scale, a category as 1 for its own input and 0 "
           "for the others (docs/files.md: dates, many levels, missing values)";
  }
  if (kind == data::kImageKind) return "pixels from 0 to 255 divided by 255";
  return "numbers as the network was trained on";
}

std::string output_note(const likelihood::Likelihood& likelihood, bool table) {
  return likelihood.describe_outputs(
      table ? "standardised target (times its scale plus its mean: the target, "
              "or, with \"log\" in the metadata, its logarithm; docs/files.md)"
            : "target");
}

std::int64_t parameter_count(const network::PlainNetwork<float>& network) {
  std::size_t count = 0;
  for (const auto& layer : network.layers) {
    count += layer.weight.size() + layer.bias.size();
  }
  return static_cast<std::int64_t>(count);
}

/// A network ready to be written, and what goes with it.
struct Export {
  network::PlainNetwork<float> network;
  std::map<std::string, std::string> metadata;
  ExportSummary summary;
};

Export network_of(const std::string& name, const io::SavedModel& saved,
                  const ExportOptions& options) {
  const auto networks = static_cast<std::int64_t>(saved.networks.size());
  RADIR_CHECK(options.network >= 1 && options.network <= networks,
              ArgumentError, name, ": the model has ", networks,
              " networks, so the one to export must be from 1 to ", networks,
              ", but is ", options.network);
  const train::Model model(saved.spec);
  Export result;
  result.network = train::point_network(
      model, saved.networks[static_cast<std::size_t>(options.network - 1)],
      options.weights);
  result.metadata = {{"weights", name_of(options.weights)},
                     {"preprocessing", saved.preprocessing}};
  const std::string kind = data::data_kind(saved.preprocessing);
  result.summary = {to_string(result.network.spec.input),
                    model.output_size(),
                    parameter_count(result.network),
                    networks,
                    input_note(kind),
                    output_note(model.likelihood(), kind == data::kTableKind)};
  return result;
}

Export read_network(const std::string& model_or_run,
                    const ExportOptions& options) {
  return network_of(model_or_run, io::read_model(io::model_path(model_or_run)),
                    options);
}

ExportSummary write_onnx(const Export& network, const std::string& file) {
  io::OnnxOptions onnx;
  onnx.input_note = network.summary.input_note;
  onnx.output_note = network.summary.output_note;
  onnx.metadata = network.metadata;
  io::write_onnx(file, network.network, onnx);
  return network.summary;
}

}  // namespace

ExportSummary export_onnx(const std::string& model, const std::string& file,
                          const ExportOptions& options) {
  return write_onnx(read_network(model, options), file);
}

ExportSummary export_onnx(const std::string& name, const io::SavedModel& model,
                          const std::string& file,
                          const ExportOptions& options) {
  return write_onnx(network_of(name, model, options), file);
}

ExportSummary export_torchscript(const std::string& model,
                                 const std::string& file,
                                 const ExportOptions& options) {
  Export network = read_network(model, options);
  network.metadata["radir.input"] = network.summary.input_note;
  network.metadata["radir.output"] = network.summary.output_note;
  write_torchscript(file, network.network, network.metadata);
  return network.summary;
}

}  // namespace radir::workflows
