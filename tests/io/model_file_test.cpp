#include "radir/io/model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/io/safetensors.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/compiled_step.h"
#include "radir/train/step.h"
#include "support/expect_error.h"
#include "support/largest_allocation.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::ordered_json;

std::vector<float> parameters_of(const train::ModelSpec& spec,
                                 std::uint64_t seed) {
  return train::initial_state<float>(train::Model(spec), seed, 10).parameters;
}

/// Two networks with unusual options in every field.
SavedModel table_model() {
  SavedModel model;
  model.spec.network = network::multilayer_perceptron(3, {4}, 2);
  posterior::RadialDirectionalOptions first;
  first.grouping = posterior::Grouping::Row;
  first.local_scale = 0.5;
  first.degrees_of_freedom = 4;
  first.column_degrees_of_freedom = 9;
  first.global_scale.reset();
  first.direction_prior = posterior::DirectionPrior::MeanDirection;
  first.direction_gap = 0.02;
  first.prior_concentration = 12.5;
  first.concentration_per_group = true;
  first.initial_noise = 0.3;
  first.estimator = math::VmfEstimator::ClosedForm1;
  posterior::GaussianOptions second;
  second.prior_scale = 0.7;
  second.initial_gain = 1;
  model.spec.weights = {first, second};
  model.spec.bias_prior_scale = 0.25;
  model.spec.likelihood.kind = likelihood::Kind::PredictedNoise;
  model.spec.likelihood.prior_shape = 3;
  model.networks = {parameters_of(model.spec, 1), parameters_of(model.spec, 2)};
  model.seed = 0xffffffffffffffffu;
  model.preprocessing = R"({"kind":"table"})";
  model.metrics = R"({"nll":1.5})";
  return model;
}

TEST(ModelFile, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const SavedModel written = table_model();
  write_model(folder / "model.safetensors", written);
  const SavedModel read = read_model(model_path(folder.path()));
  EXPECT_EQ(read.networks, written.networks);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.preprocessing, written.preprocessing);
  EXPECT_EQ(read.training, "{}");
  EXPECT_EQ(read.metrics, written.metrics);
  EXPECT_EQ(read.program_version, version());
  // Everything else shows in the bytes a second writing gives.
  write_model(folder / "again", read);
  EXPECT_EQ(testing::read_bytes(folder / "again"),
            testing::read_bytes(folder / "model.safetensors"));
  const auto& first =
      read.spec.weights[0].get<posterior::RadialDirectionalOptions>();
  EXPECT_EQ(first.estimator, math::VmfEstimator::ClosedForm1);
  EXPECT_EQ(first.global_scale, std::nullopt);
  EXPECT_EQ(read.spec.weights[1].get<posterior::GaussianOptions>().prior_scale,
            0.7);
}

TEST(ModelFile, HoldsWeightsOfAMixtureWhereThereAreSome) {
  const TemporaryFolder folder;
  SavedModel model = table_model();
  // Version 0.1 reads files without them, and refuses the others.
  const std::string equal = model_bytes(model);
  EXPECT_EQ(equal.find("\\\"weights\\\":"), std::string::npos);
  model.weights = {0.1, 0.9};
  EXPECT_NE(model_bytes(model).find("\\\"weights\\\":[0.1,0.9]"),
            std::string::npos);
  EXPECT_EQ(read_model("file", model_bytes(model)).weights, model.weights);
  EXPECT_TRUE(read_model("file", equal).weights.empty());
  for (const std::vector<double>& wrong :
       {std::vector<double>{1}, {0.5, 0.6}, {-0.5, 1.5}, {NAN, 1}}) {
    model.weights = wrong;
    expect_error<ArgumentError>([&] { model_bytes(model); },
                                "one weight for each of 2 networks");
  }
}

TEST(ModelFile, HoldsConvolutionalNetworks) {
  const TemporaryFolder folder;
  SavedModel model;
  model.spec.network = network::lenet5();
  model.spec.likelihood.kind = likelihood::Kind::Categorical;
  model.networks = {parameters_of(model.spec, 1)};
  write_model(folder / "m", model);
  const SavedModel read = read_model(folder / "m");
  EXPECT_EQ(train::Model(read.spec).describe(),
            train::Model(model.spec).describe());
  EXPECT_EQ(read.networks, model.networks);
}

TEST(ModelFile, HoldsNetworksWithInputsLeftOut) {
  const TemporaryFolder folder;
  SavedModel model;
  model.spec.network = {{2, 3, 3},
                        {network::Select{{1, 4, 17}}, network::Dense{2}}};
  model.networks = {parameters_of(model.spec, 1)};
  write_model(folder / "m", model);
  const SavedModel read = read_model(folder / "m");
  EXPECT_EQ(std::get<network::Select>(read.spec.network.layers[0]).indices,
            (std::vector<std::int64_t>{1, 4, 17}));
  EXPECT_EQ(read.networks, model.networks);
}

TEST(ModelFile, WritingRefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto write = [&](SavedModel model) {
    return [&folder, model] { write_model(folder / "m", model); };
  };
  SavedModel model = table_model();
  model.networks[1].pop_back();
  expect_error<ArgumentError>(write(model), "network 2 has");
  model.networks.clear();
  expect_error<ArgumentError>(write(model), "no network");
  model = table_model();
  model.training = "[1]";
  expect_error<ArgumentError>(write(model), "\"training\" must be a JSON");
  EXPECT_TRUE(testing::read_bytes(folder / "m").empty());
}

/// The bytes of a model file whose document was changed, the tensors not.
std::string with_document(const std::function<void(Json&)>& change,
                          const std::string& extra_tensor = "") {
  const SavedModel model = table_model();
  const TemporaryFolder folder;
  write_model(folder / "m", model);
  const SafetensorsFile file(folder / "m");
  Json json = Json::parse(file.metadata("radir.model"));
  change(json);
  SafetensorsWriter writer;
  writer.set_metadata("radir.model", json.dump());
  for (const auto& [name, tensor] : file.tensors()) {
    writer.add(name, tensor.shape,
               reinterpret_cast<const float*>(tensor.bytes.data()));
  }
  const float zero = 0;
  if (!extra_tensor.empty()) writer.add(extra_tensor, {1}, &zero);
  return writer.bytes();
}

void expect_refused(const std::function<void(Json&)>& change,
                    const std::string& part) {
  const std::string bytes = with_document(change);
  expect_error<IoError>([&] { read_model("file", bytes); }, part);
}

TEST(ModelFile, ReadingIsStrict) {
  EXPECT_NO_THROW(read_model("file", with_document([](Json&) {})));
  expect_refused([](Json& j) { j["format"] = 2; }, "has format 2");
  expect_refused([](Json& j) { j.erase("seed"); }, "\"seed\" is missing");
  expect_refused([](Json& j) { j["seed"] = -1; }, ">= 0");
  expect_refused([](Json& j) { j["colour"] = 1; }, "\"colour\" is unknown");
  expect_refused([](Json& j) { j["networks"] = 0; }, "from 1 to 1000");
  expect_refused(
      [](Json& j) {
        j["weights"] = {0.5, 0.4};
      },
      "\"weights\" must have one number for each of 2 networks");
  expect_refused([](Json& j) { j["weights"] = {1}; }, "with the sum 1");
  expect_refused([](Json& j) { j["weights"] = {2, -1}; }, "from 0 to 1");
  expect_refused([](Json& j) { j["networks"] = 3; }, "network3.");
  expect_refused([](Json& j) { j["networks"] = 1; }, "tensors");
  expect_refused([](Json& j) { j["data"] = "x"; }, "must be an object");
  expect_refused([](Json& j) { j["bias_prior_scale"] = "x"; }, "a number");
  expect_refused([](Json& j) { j["posterior"][0]["grouping"] = "tripel"; },
                 "\"tripel\", which this program does not know");
  expect_refused([](Json& j) { j["posterior"][1]["learn_prior"] = 1; },
                 "posterior[1]: \"learn_prior\" must be true or false");
  expect_refused([](Json& j) { j["posterior"] = 3; }, "must be a list");
  expect_refused([](Json& j) { j["architecture"] = 3; },
                 "architecture is not an object, but 3");
  expect_refused(
      [](Json& j) {
        for (int i = 0; i < 40; ++i) j["metrics"] = Json{{"a", j["metrics"]}};
      },
      "nested deeper than 32 levels");
  expect_refused(
      [](Json& j) {
        for (int i = 0; i < 1001; ++i) j["data"][std::to_string(i)] = i;
      },
      "more than 1000 keys");
  expect_refused(
      [](Json& j) {
        j["architecture"]["input"] = {1, 2};
      },
      "[channels, height, width] or [features], but is [1,2]");
  expect_refused(
      [](Json& j) { j["architecture"]["layers"][0]["type"] = "gru"; },
      "architecture: layer 1: the type \"gru\" is unknown");
  expect_refused([](Json& j) { j["architecture"]["layers"][0]["outputs"] = 0; },
                 "is not possible");
  expect_refused([](Json& j) { j["architecture"]["layers"][0]["outputs"] = 5; },
                 "network1.");
  expect_error<IoError>(
      [&] { read_model("file", with_document([](Json&) {}, "network1.more")); },
      "tensors");
}

// Version 0.1 wrote the options of both families into each.
TEST(ModelFile, ReadsTheOptionsOfVersion01) {
  const auto as_before = [](Json& j) {
    Json& gaussian = j["posterior"][1];
    const Json scale = gaussian["prior_scale"];
    gaussian.erase("prior_scale");
    gaussian.erase("noise");
    for (const auto& [key, value] : j["posterior"][0].items()) {
      if (!gaussian.contains(key)) gaussian[key] = value;
    }
    gaussian["gaussian_prior_scale"] = scale;
    EXPECT_EQ(gaussian.size(), 15u);
  };
  const SavedModel read = read_model("file", with_document(as_before));
  const auto& options = read.spec.weights[1].get<posterior::GaussianOptions>();
  EXPECT_EQ(options.prior_scale, 0.7);
  EXPECT_EQ(options.initial_gain, 1);
  EXPECT_EQ(options.noise, posterior::GaussianOptions::Noise::Weights);
  expect_refused(
      [&](Json& j) {
        as_before(j);
        j["posterior"][1]["colour"] = 1;
      },
      "\"colour\" is unknown");
}

TEST(ModelFile, NamesTheFamiliesItKnows) {
  const std::string bytes =
      with_document([](Json& j) { j["posterior"][1]["family"] = "cauchy"; });
  expect_error<UnsupportedError>(
      [&] { read_model("file", bytes); },
      "posterior[1]: there is no posterior family \"cauchy\"; those known are "
      "radial-directional, gaussian");
}

std::string model_bytes() {
  const TemporaryFolder folder;
  write_model(folder / "m", table_model());
  return testing::read_bytes(folder / "m");
}

TEST(ModelFile, CutAnywhereIsRefused) {
  const std::string bytes = model_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    EXPECT_THROW(read_model("cut", cut), IoError) << length;
  }
}

// Every byte of the header and of the numbers. What is read at all is the same
// model: the change made another name of the checksum's.
TEST(ModelFile, WithAChangedByteIsRefused) {
  const std::string bytes = model_bytes();
  const SavedModel whole = read_model("whole", bytes);
  std::size_t loaded = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    try {
      const SavedModel read = read_model("damaged", damaged);
      ++loaded;
      EXPECT_EQ(read.networks, whole.networks) << i;
      EXPECT_EQ(read.seed, whole.seed) << i;
    } catch (const IoError&) {
    }
  }
  EXPECT_LE(loaded, std::string("radir.crc32").size());
}

// The architecture speaks of 4 GB of weights; the file has none of them.
TEST(ModelFile, TrustsNoArchitecture) {
  const std::string bytes = with_document([](Json& j) {
    j["architecture"]["input"] = {30000};
    j["architecture"]["layers"][0]["outputs"] = 30000;
    j["networks"] = 1000;
  });
  testing::take_largest_allocation();
  expect_error<IoError>([&] { read_model("file", bytes); }, "is needed");
  EXPECT_LT(testing::take_largest_allocation(), std::size_t{1} << 20);
}

// With Python's own library and the format's description, nothing of ours.
TEST(ModelFile, PythonReadsTheWeights) {
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "python3 is not here";
  }
  const TemporaryFolder folder;
  const SavedModel model = table_model();
  write_model(folder / "m", model);
  const std::string command = "python3 " RADIR_IO_TEST_SOURCE
                              "/read_safetensors.py " +
                              (folder / "m") + " > " + (folder / "out");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string text = testing::read_bytes(folder / "out");
  const train::Model described(model.spec);
  for (const train::ParameterInfo& parameter : described.parameters()) {
    const std::size_t line =
        text.find("\nnetwork2." + parameter.name + " F32 ");
    ASSERT_NE(line, std::string::npos) << parameter.name;
    const float first = std::stof(text.substr(text.find('(', line) + 1));
    const float written =
        model.networks[1][static_cast<std::size_t>(parameter.offset)];
    // The script prints seven digits.
    EXPECT_NEAR(first, written, 1e-6 * std::abs(written)) << parameter.name;
  }
}

TEST(ModelFile, TheUsualReaderReadsIt) {
  if (std::system("python3 -c 'import safetensors, numpy' 2> /dev/null") != 0) {
    GTEST_SKIP() << "the Python package safetensors is not here";
  }
  const TemporaryFolder folder;
  write_model(folder / "model.safetensors", table_model());
  const std::string command = "python3 " RADIR_IO_TEST_SOURCE
                              "/../../tools/outside_readers.py " +
                              folder.path();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(ModelFile, RefusesOtherFiles) {
  const TemporaryFolder folder;
  expect_error<IoError>([&] { model_path(folder.path()); },
                        "no model.safetensors");
  expect_error<IoError>([&] { read_model(folder / "nothing"); }, "nothing");
  SafetensorsWriter writer;
  const float one = 1;
  writer.add("x", {1}, &one);
  const std::string bytes = writer.bytes();
  expect_error<IoError>([&] { read_model("file", bytes); },
                        "not a model of radir");
  SafetensorsWriter text;
  text.set_metadata("radir.model", "{");
  const std::string broken = text.bytes();
  expect_error<IoError>([&] { read_model("file", broken); },
                        "radir.model is not well-formed JSON");
}

}  // namespace
}  // namespace radir::io
