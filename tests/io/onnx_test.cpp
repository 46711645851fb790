#include "radir/io/onnx.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <functional>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/kernels/network.h"
#include "radir/network/spec.h"
#include "support/expect_error.h"
#include "support/largest_allocation.h"
#include "support/plain_networks.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::NamedNetwork;
using ::radir::testing::random_network;
using ::radir::testing::small_networks;
using ::radir::testing::TemporaryFolder;

onnx::ModelProto parsed(const std::string& path) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(testing::read_bytes(path)));
  return model;
}

std::string metadata(const onnx::ModelProto& model, const std::string& key) {
  for (const auto& entry : model.metadata_props()) {
    if (entry.key() == key) return entry.value();
  }
  return "";
}

class Onnx : public ::testing::Test {
 protected:
  Onnx() : path_(folder_ / "n.onnx") {}

  /// Outputs of a network for five random inputs.
  static std::vector<float> outputs(
      const network::PlainNetwork<float>& network) {
    const auto rows =
        testing::uniform_numbers(5 * network.spec.input.size(), 99);
    return kernels::run_network(network, rows.data(), 5);
  }

  /// Fails unless reading a changed file throws.
  template <typename Exception>
  void expect_refused(const std::function<void(onnx::ModelProto&)>& change,
                      const std::string& part) {
    write_onnx(path_, random_network(small_networks()[5].spec));
    onnx::ModelProto model = parsed(path_);
    change(model);
    const std::string bytes = model.SerializeAsString();
    expect_error<Exception>([&] { read_onnx("file", bytes); }, part);
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Onnx, WhatIsWrittenComputesTheSame) {
  for (const NamedNetwork& named : small_networks()) {
    const network::PlainNetwork<float> network = random_network(named.spec);
    write_onnx(path_, network);
    EXPECT_EQ(outputs(read_onnx(path_)), outputs(network)) << named.name;
  }
}

TEST_F(Onnx, FilesOfEarlierVersionsAreRead) {
  const std::string files = RADIR_TEST_DATA "/compat/0.1/";
  const auto table = read_onnx(files + "train-finished.onnx");
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_EQ(table.layers[0].weight.size(), 7u * 8);
  const auto images = read_onnx(files + "compress-finished/network.onnx");
  ASSERT_EQ(images.layers.size(), 4u);
  EXPECT_EQ(images.layers[0].weight.size(), 2u * 5 * 5);
  EXPECT_EQ(images.layers[2].weight.size(), 40u * 6);
  EXPECT_EQ(outputs(images).size(), 5u * 10);
}

TEST_F(Onnx, FilesPassTheChecksOfOnnx) {
  for (const NamedNetwork& named : small_networks()) {
    OnnxOptions options;
    options.input_scale = 0.5f;
    write_onnx(path_, random_network(named.spec), options);
    onnx::ModelProto model = parsed(path_);
    EXPECT_NO_THROW(onnx::checker::check_model(model)) << named.name;
    // Shapes as ONNX infers them agree with those the file states.
    onnx::ShapeInferenceOptions strict{true, 1, false};
    EXPECT_NO_THROW(onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(), strict))
        << named.name;
  }
}

TEST_F(Onnx, SaysWhatItIs) {
  OnnxOptions options;
  options.input_scale = 1 / 255.0f;
  options.input_note = "pixels from 0 to 255";
  options.output_note = "logits";
  options.metadata["preprocessing"] = "{}";
  const auto network =
      random_network({{1, 4, 4}, {network::Conv2d{2, {3, 3}}}});
  write_onnx(path_, network, options);
  const onnx::ModelProto model = parsed(path_);
  EXPECT_EQ(model.producer_name(), "radir");
  EXPECT_EQ(model.producer_version(), version());
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_EQ(model.doc_string(), "Input: pixels from 0 to 255. Output: logits.");
  EXPECT_EQ(metadata(model, "radir.input"), "pixels from 0 to 255");
  EXPECT_EQ(metadata(model, "preprocessing"), "{}");
  const auto& input = model.graph().input(0);
  EXPECT_EQ(input.name(), "input");
  const auto& shape = input.type().tensor_type().shape();
  ASSERT_EQ(shape.dim_size(), 4);
  EXPECT_EQ(shape.dim(0).dim_param(), "batch");
  EXPECT_EQ(shape.dim(3).dim_value(), 4);
  EXPECT_EQ(model.graph().output(0).name(), "output");
  EXPECT_EQ(model.graph().node(0).op_type(), "Mul");

  OnnxOptions read;
  read_onnx(path_, &read);
  EXPECT_EQ(read.input_scale, options.input_scale);
  EXPECT_EQ(read.input_note, options.input_note);
  EXPECT_EQ(read.output_note, options.output_note);
  EXPECT_EQ(read.metadata, options.metadata);
  expect_error<UnsupportedError>([&] { read_onnx(path_); },
                                 "the operator Mul scales the inputs by");
}

TEST_F(Onnx, WritingRefusesWhatDoesNotFit) {
  const network::NetworkSpec spec = small_networks()[0].spec;
  const auto expect_bad =
      [&](const std::function<void(network::PlainNetwork<float>&)>& change,
          const std::string& part) {
        network::PlainNetwork<float> network = random_network(spec);
        change(network);
        expect_error<ArgumentError>([&] { write_onnx(path_, network); }, part);
      };
  using Network = network::PlainNetwork<float>;
  expect_bad([](Network& n) { n.layers[1].weight.pop_back(); },
             "layer3.weight must have 15 numbers, but has 14");
  expect_bad([](Network& n) { n.layers[0].bias.clear(); },
             "layer1.bias must have 5 numbers, but has 0");
  expect_bad(
      [](Network& n) {
        std::get<network::Dense>(n.spec.layers[0]).bias = false;
      },
      "layer1.bias must have 0 numbers, but has 5");
  expect_bad([](Network& n) { n.layers.pop_back(); },
             "no numbers for layer 3 (dense 3)");
  expect_bad([](Network& n) { n.layers.emplace_back(); },
             "has 2 layers with weights, but there are numbers for 3");
  expect_bad([](Network& n) { n.spec.input.height = 2; },
             "layer 1 (dense 5) takes a vector");
  expect_bad([](Network& n) { n = {{{3, 1, 1}, {}}, {}}; }, "has no layers");

  OnnxOptions reserved;
  reserved.metadata["radir.input"] = "x";
  expect_error<ArgumentError>(
      [&] { write_onnx(path_, random_network(spec), reserved); },
      "\"radir.input\" is reserved");
  expect_error<UnsupportedError>(
      [&] {
        write_onnx(
            path_,
            random_network(
                {{3, 1, 1}, {network::Dense{4}, network::Conv2d{2, {1, 1}}}}));
      },
      "layer 2 (conv 2 1x1) reads a vector");
  EXPECT_TRUE(testing::read_bytes(path_).empty());
}

TEST_F(Onnx, LargerNetworksThanAFileHoldsAreRefused) {
  // The description alone tells; the numbers need not be there.
  network::PlainNetwork<float> network{{{32768, 1, 1}, {network::Dense{32768}}},
                                       {}};
  network.layers.emplace_back();
  expect_error<UnsupportedError>([&] { write_onnx(path_, network); },
                                 "the weights take 4294967296 bytes or more");
}

TEST_F(Onnx, OtherOperatorsAreNamed) {
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(1)->set_op_type("Sigmoid");
      },
      "node \"layer2\" (operator Sigmoid): this operator is not supported");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(1)->set_op_type("Mul");
      },
      "(operator Mul): this operator is not supported");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(1)->set_domain("ai.onnx.ml");
      },
      "of another domain, \"ai.onnx.ml\"");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(12); },
      "operator set 13");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) { m.add_functions(); }, "functions, training");
}

TEST_F(Onnx, OtherFormsOfOperatorsAreNamed) {
  const auto change_attribute =
      [](int node, const std::string& name,
         const std::function<void(onnx::AttributeProto&)>& change) {
        return [=](onnx::ModelProto& m) {
          auto& proto = *m.mutable_graph()->mutable_node(node);
          for (auto& attribute : *proto.mutable_attribute()) {
            if (attribute.name() == name) change(attribute);
          }
        };
      };
  expect_refused<UnsupportedError>(
      change_attribute(0, "pads", [](auto& a) { a.set_ints(0, 3); }),
      "the pads must be the same before and after");
  expect_refused<UnsupportedError>(
      change_attribute(0, "strides", [](auto& a) { a.add_ints(1); }),
      "the attribute strides must be 2 integers");
  expect_refused<UnsupportedError>(
      change_attribute(
          0, "group", [](auto& a) { a.set_type(onnx::AttributeProto::FLOAT); }),
      "the attribute group must be an integer");
  expect_refused<UnsupportedError>(
      change_attribute(0, "group", [](auto& a) { a.set_name("auto_pad"); }),
      "the attribute group is missing");
  expect_refused<UnsupportedError>(
      change_attribute(4, "axis", [](auto& a) { a.set_i(2); }),
      "the attribute axis must be 1, but is 2");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        auto* more = m.mutable_graph()->mutable_node(5)->add_attribute();
        more->set_name("alpha");
      },
      "(operator Gemm): the attribute \"alpha\" is not supported");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(1)->add_input("layer1.weight");
      },
      "has 2 inputs, but 1 are supported");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(2)->set_input(0, "layer1");
      },
      "reads \"layer1\" and not \"layer2\"");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) { m.mutable_graph()->add_input(); },
      "must have one input, but has 2");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        auto* shape = m.mutable_graph()
                          ->mutable_input(0)
                          ->mutable_type()
                          ->mutable_tensor_type()
                          ->mutable_shape();
        shape->mutable_dim()->RemoveLast();
      },
      "must be [batch, features] or [batch, channels");
  expect_refused<UnsupportedError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_input(0)->clear_type();
      },
      "\"input\" must be a float tensor with a free batch");
}

TEST_F(Onnx, NumbersThatDoNotFitAreRefused) {
  const auto change_constant =
      [](int index, const std::function<void(onnx::TensorProto&)>& change) {
        return [=](onnx::ModelProto& m) {
          change(*m.mutable_graph()->mutable_initializer(index));
        };
      };
  using Tensor = onnx::TensorProto;
  expect_refused<IoError>(
      change_constant(0, [](Tensor& t) { t.mutable_raw_data()->pop_back(); }),
      "\"layer1.weight\" has 287 bytes");
  expect_refused<IoError>(
      change_constant(0,
                      [](Tensor& t) { t.set_dims(0, std::int64_t{1} << 62); }),
      "which is not what its dimensions say");
  expect_refused<IoError>(
      change_constant(0, [](Tensor& t) { t.set_dims(0, -1); }),
      "which is not what its dimensions say");
  expect_refused<IoError>(change_constant(0,
                                          [](Tensor& t) {
                                            t.set_dims(0, 3);
                                            t.set_dims(1, 4);
                                          }),
                          "layer 1 (conv 3 3x2)");
  expect_refused<IoError>(
      change_constant(0,
                      [](Tensor& t) {
                        t.set_dims(2, 2);
                        t.set_dims(3, 3);
                      }),
      "layer 1 (conv 6 3x2) has weights of other dimensions");
  expect_refused<IoError>(
      change_constant(4,
                      [](Tensor& t) {
                        t.set_dims(0, 3), t.mutable_raw_data()->resize(12);
                      }),
      "has 4 outputs, but 3 biases");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) { m.clear_metadata_props(); },
      "the metadata \"radir.input\" is missing; the file is truncated");
  expect_refused<IoError>(change_constant(0, [](Tensor& t) { t.add_dims(1); }),
                          "must be a FLOAT tensor of 4 dimensions");
  expect_refused<IoError>(
      change_constant(0, [](Tensor& t) { t.set_data_type(Tensor::DOUBLE); }),
      "must be a FLOAT tensor");
  expect_refused<IoError>(
      change_constant(0, [](Tensor& t) { t.set_name("layer3.weight"); }),
      "\"layer3.weight\" appears twice");
  expect_refused<IoError>(
      change_constant(0, [](Tensor& t) { t.set_name("x"); }),
      "\"layer1.weight\" is missing");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) { m.mutable_graph()->add_initializer(); },
      "is not used");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(5)->mutable_input()->RemoveLast();
      },
      "\"layer6.bias\" is not used");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(5)->mutable_input()->DeleteSubrange(1,
                                                                            2);
      },
      "has 1 inputs, but needs 2");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(1)->clear_output();
      },
      "must have an input and one output");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) { m.mutable_graph()->clear_output(); },
      "the output of the last node");
  expect_refused<IoError>(
      [](onnx::ModelProto& m) {
        m.mutable_graph()
            ->mutable_output(0)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(1)
            ->set_dim_value(5);
      },
      "the output must be [batch, 4]");
}

TEST_F(Onnx, TrustsNoLength) {
  write_onnx(path_, random_network(small_networks()[0].spec));
  onnx::ModelProto model = parsed(path_);
  onnx::TensorProto* weight = model.mutable_graph()->mutable_initializer(0);
  weight->set_dims(0, 2'500'000'000);
  const std::string large_tensor = model.SerializeAsString();
  // Field 7, the graph, claims 2 GB; then nothing comes.
  const std::string large_field =
      "\x3A\xFF\xFF\xFF\xFF\x07" + std::string(1000, 'x');
  testing::take_largest_allocation();
  expect_error<IoError>([&] { read_onnx("file", large_tensor); },
                        "which is not what its dimensions say");
  expect_error<IoError>([&] { read_onnx("file", large_field); },
                        "is not an ONNX file, truncated or damaged");
  EXPECT_LT(testing::take_largest_allocation(), std::size_t{1} << 20);
}

TEST_F(Onnx, CutOrDamagedFilesAreRefusedAndNeverCrash) {
  write_onnx(path_, random_network(small_networks()[6].spec));
  const std::string bytes = testing::read_bytes(path_);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    EXPECT_THROW(read_onnx("cut", cut), Error) << length;
  }
  // A changed byte may leave a file that is still good (another weight).
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    try {
      outputs(read_onnx("damaged", damaged));
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
  folder_.write("text.onnx", "hello, this is not an ONNX file");
  expect_error<IoError>([&] { read_onnx(folder_ / "text.onnx"); },
                        "text.onnx: is not an ONNX file, truncated or damaged");
  expect_error<IoError>([&] { read_onnx(folder_ / "none.onnx"); }, "none.onnx");
}

}  // namespace
}  // namespace radir::io
