#include "radir/workflows/export.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/files/byte_source.h"
#include "radir/io/model_file.h"
#include "radir/io/onnx.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/train/step.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/table_model.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using kernels::PointWeight;
using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!io::has_onnx()) GTEST_SKIP() << "built without ONNX";
    saved_.spec.network = network::multilayer_perceptron(3, {4}, 2);
    const train::Model model(saved_.spec);
    for (std::uint64_t seed : {1, 2}) {
      saved_.networks.push_back(
          train::initial_state<float>(model, seed, 10).parameters);
    }
  }

  ExportSummary write(const ExportOptions& options = {}) {
    io::write_model(folder_ / "model.safetensors", saved_);
    return export_onnx(folder_.path(), onnx_, options);
  }

  /// The weights of the first layer, exported and as they should be.
  void expect_weights(std::size_t network, PointWeight weights) {
    write({static_cast<std::int64_t>(network + 1), weights});
    const auto expected = train::point_network(
        train::Model(saved_.spec), saved_.networks[network], weights);
    EXPECT_EQ(io::read_onnx(onnx_).layers[0].weight, expected.layers[0].weight);
  }

  TemporaryFolder folder_;
  std::string onnx_ = folder_ / "n.onnx";
  io::SavedModel saved_;
};

TEST_F(Export, WritesTheNetworkThatIsAskedFor) {
  const ExportSummary summary = write();
  EXPECT_EQ(summary.input, "3");
  EXPECT_EQ(summary.outputs, 2);
  EXPECT_EQ(summary.parameters, 4 * 4 + 2 * 5);
  EXPECT_EQ(summary.networks, 2);
  expect_weights(0, PointWeight::Mean);
  expect_weights(1, PointWeight::Mean);
  expect_weights(1, PointWeight::Median);
  expect_weights(1, PointWeight::Mode);
  for (std::int64_t network : {0, 3}) {
    expect_error<ArgumentError>([&] { write({network}); },
                                "has 2 networks, so the one to export must be "
                                "from 1 to 2");
  }
}

TEST_F(Export, TheFileSaysWhatGoesInAndWhatComesOut) {
  const auto notes = [&](likelihood::Kind kind, const std::string& data) {
    saved_.spec.likelihood.kind = kind;
    const train::Model model(saved_.spec);
    saved_.networks = {train::initial_state<float>(model, 1, 10).parameters};
    saved_.preprocessing = data;
    write({1, PointWeight::Mode});
    io::OnnxOptions options;
    io::read_onnx(onnx_, &options);
    EXPECT_EQ(options.metadata["preprocessing"], data);
    EXPECT_EQ(options.metadata["weights"], "mode");
    return options;
  };
  const auto table = notes(likelihood::Kind::Gaussian, R"({"kind":"table"})");
  EXPECT_TRUE(contains(table.input_note, "must be standardised"));
  EXPECT_TRUE(contains(table.output_note, "mean of the standardised target"));
  const auto noise =
      notes(likelihood::Kind::PredictedNoise, R"({"kind":"table"})");
  EXPECT_TRUE(contains(noise.output_note, "mean, then log variance"));
  const auto images =
      notes(likelihood::Kind::Categorical, R"({"kind":"images"})");
  EXPECT_TRUE(contains(images.input_note, "divided by 255"));
  EXPECT_TRUE(contains(images.output_note, "logits"));
  const auto plain = notes(likelihood::Kind::Gaussian, "{}");
  EXPECT_TRUE(contains(plain.input_note, "as the network was trained on"));
  EXPECT_EQ(plain.output_note, "mean of the target");
}

/// The tests of this layer have no module beside them.
TEST_F(Export, SaysWhatTorchScriptNeeds) {
  write();
  expect_error<UnsupportedError>(
      [&] { export_torchscript(folder_.path(), folder_ / "n.pt"); },
      "radir_torchscript.so, which could not be loaded; build with "
      "RADIR_WITH_TORCH=ON");
  EXPECT_TRUE(testing::read_bytes(folder_ / "n.pt").empty());
}

TEST_F(Export, PredictionsHaveNamesThatNoColumnHas) {
  const data::Table table = data::read_table(files::memory_byte_source(
      "rows", "mean,size,y\n1,2,3\n2,1,4\n3,5,9\n4,4,8\n"));
  TableSettings settings;
  settings.method = "rdp";
  settings.steps = 10;
  settings.hidden = {2};
  const TableModel model = fit_table(table, "y", settings);
  TablePredictionOptions options;
  options.samples = 3;
  const ExportSummary summary =
      export_predictions(model, folder_ / "all.onnx", options);
  EXPECT_EQ(summary.input, "2 columns");
  EXPECT_EQ(summary.outputs, 7);
  EXPECT_EQ(summary.parameters, 3 * (2 * 2 + 2 + 2 + 1));
  EXPECT_TRUE(contains(summary.output_note, "output.mean: mean"));
  EXPECT_TRUE(contains(summary.output_note, "; sd: "));
  EXPECT_TRUE(contains(summary.output_note, "quantiles 0.05, 0.5, 0.95"));
  const std::string bytes = testing::read_bytes(folder_ / "all.onnx");
  EXPECT_TRUE(contains(bytes, "output.mean"));
  EXPECT_TRUE(contains(bytes, summary.input_note));
  // It is no network.
  expect_error<UnsupportedError>([&] { io::read_onnx(folder_ / "all.onnx"); },
                                 "all.onnx");
  options.quantiles = {0};
  expect_error<ArgumentError>(
      [&] { export_predictions(model, folder_ / "no.onnx", options); },
      "above 0 and below 1");
  expect_error<IoError>([&] { export_predictions(model, "/nowhere/all.onnx"); },
                        "/nowhere");
}

}  // namespace
}  // namespace radir::workflows
