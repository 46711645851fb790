#include "radir/io/network_file.h"

#include <gtest/gtest.h>

#include <cctype>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using network::Conv2d;
using network::Dense;
using network::MaxPool2d;
using network::Select;
using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// Layers of every type, none with default values.
network::NetworkSpec every_layer() {
  return {{4, 9, 12},
          {Conv2d{6, {3, 2}, {2, 1}, {1, 2}, {1, 3}, 2, false}, network::Relu{},
           MaxPool2d{{3, 2}, {1, 2}, {1, 0}}, network::Flatten{},
           Select{{0, 7, 20}}, Dense{5, false}, Dense{2}}};
}

TEST(NetworkFile, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  write_network_file(folder / "n.json", every_layer());
  const network::NetworkSpec read = read_network_file(folder / "n.json");
  EXPECT_EQ(read.input, every_layer().input);
  ASSERT_EQ(read.layers.size(), every_layer().layers.size());
  const auto& conv = std::get<Conv2d>(read.layers[0]);
  EXPECT_EQ(conv.groups, 2);
  EXPECT_FALSE(conv.bias);
  EXPECT_EQ(std::get<Select>(read.layers[4]).indices,
            (std::vector<std::int64_t>{0, 7, 20}));
  // Everything else shows in the bytes a second writing gives.
  write_network_file(folder / "again.json", read);
  const std::string text = testing::read_bytes(folder / "n.json");
  EXPECT_EQ(testing::read_bytes(folder / "again.json"), text);
  EXPECT_NE(text.find("\n    {\"type\":\"conv2d\",\"outputs\":6,\"kernel\":"
                      "[3,2],\"stride\":[2,1],\"padding\":[1,2],\"dilation\":"
                      "[1,3],\"groups\":2,\"bias\":false},\n"),
            std::string::npos)
      << text;
}

TEST(NetworkFile, KeysLeftOutHaveTheUsualValues) {
  const network::NetworkSpec network = read_network_text("n.json", R"({
    "input": [3, 8, 8],
    "layers": [{"type": "conv2d", "outputs": 2, "kernel": 3},
               {"type": "max-pool2d", "kernel": [2, 3]},
               {"type": "flatten"},
               {"type": "dense", "outputs": 10}]})");
  const auto& conv = std::get<Conv2d>(network.layers[0]);
  EXPECT_EQ(conv.kernel.h, 3);
  EXPECT_EQ(conv.kernel.w, 3);
  EXPECT_EQ(conv.stride.w, 1);
  EXPECT_EQ(conv.padding.h, 0);
  EXPECT_EQ(conv.dilation.h, 1);
  EXPECT_EQ(conv.groups, 1);
  EXPECT_TRUE(conv.bias);
  const auto& pool = std::get<MaxPool2d>(network.layers[1]);
  EXPECT_EQ(pool.stride.h, 2);
  EXPECT_EQ(pool.stride.w, 3);
  EXPECT_TRUE(std::get<Dense>(network.layers[3]).bias);
  EXPECT_EQ(read_network_text("n.json",
                              R"({"input": [7], "layers": [{"type": "relu"}]})")
                .input,
            (network::Shape{7, 1, 1}));
}

void expect_refused(const std::string& text, const std::string& part) {
  expect_error<IoError>([&] { read_network_text("n.json", text); },
                        "n.json" + part);
}

/// A network of an image of 1x8x8 with these layers.
std::string with_layers(const std::string& layers) {
  return R"({"input":[1,8,8],"layers":[)" + layers + "]}";
}

TEST(NetworkFile, FaultsNameTheLayerAndTheKey) {
  expect_refused("", " is not well-formed JSON in UTF-8 (byte");
  expect_refused("{\"input\":[1,8,8],", " is not well-formed JSON");
  expect_refused("[]", " is not an object, but []");
  expect_refused("{}", ": \"input\" is missing");
  expect_refused(R"({"input":[1,8],"layers":[]})",
                 ": \"input\" must be [channels, height, width] or [features], "
                 "but is [1,8]");
  expect_refused(R"({"input":[1],"layers":[],"name":"x"})",
                 ": \"layers\" must hold from 1 to 1000 layers, but holds 0");
  expect_refused(R"({"input":[1],"layers":[{"type":"relu"}],"name":"x"})",
                 ": \"name\" is unknown");
  expect_refused(R"({"input":[1],"input":[1],"layers":[]})",
                 " has the key \"input\" twice");
  expect_refused(with_layers(R"({"type":"gru"})"),
                 ": layer 1: the type \"gru\" is unknown; it must be dense,");
  expect_refused(with_layers("3"), ": layer 1 is not an object, but 3");
  expect_refused(with_layers(R"({"type":"relu"},{"type":"dense"})"),
                 ": layer 2: \"outputs\" is missing");
  expect_refused(with_layers(R"({"type":"dense","outputs":10.5})"),
                 ": layer 1: \"outputs\" must be an integer, but is 10.5");
  expect_refused(with_layers(R"({"type":"dense","outputs":"ten"})"),
                 ": layer 1: \"outputs\" must be an integer, but is");
  expect_refused(with_layers(R"({"type":"dense","outputs":1,"units":2})"),
                 ": layer 1: \"units\" is unknown");
  expect_refused(with_layers(R"({"type":"conv2d","outputs":1,"kernel":[1]})"),
                 ": layer 1: \"kernel\" must be a number or a list of two");
  expect_refused(with_layers(R"({"type":"select","indices":[1,"a"]})"),
                 ": layer 1: \"indices\" must be a list of integers");
}

TEST(NetworkFile, ImpossibleNetworksSayWhichLayerAndWhichShapes) {
  expect_refused(with_layers(R"({"type":"dense","outputs":10})"),
                 ": layer 1 (dense 10) takes a vector, but gets 1x8x8");
  expect_refused(with_layers(R"({"type":"conv2d","outputs":2,"kernel":9})"),
                 ": layer 1 (conv 2 9x9): its window is larger than its input "
                 "1x8x8");
  expect_refused(with_layers(R"({"type":"flatten"},
                                {"type":"select","indices":[5,64]})"),
                 ": layer 2 (select 2): indices must increase and lie below 64,"
                 " the size of its input 64, but 64 follows 5");
}

TEST(NetworkFile, SizesAreNotTrusted) {
  expect_refused(R"({"input":[18446744073709551615],"layers":[]})",
                 ": \"input\" must be a list of integers");
  expect_refused(R"({"input":[4611686018427387904,4611686018427387904,4],
                     "layers":[{"type":"flatten"}]})",
                 ": network: the input shape");
  expect_refused(with_layers(R"({"type":"flatten"},{"type":"dense",
                                 "outputs":4611686018427387904})"),
                 ": layer 2 (dense 4611686018427387904) would have more than "
                 "2^30 weights for its input 64");
  std::string many = R"({"type":"relu"})";
  for (int i = 0; i < 1000; ++i) many += R"(,{"type":"relu"})";
  expect_refused(with_layers(many), ": \"layers\" must hold from 1 to 1000");
  expect_refused(std::string(200, '['), " is nested deeper than 4 levels");
  std::string keys = "{";
  for (int i = 0; i < 17; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  expect_refused(keys, " has an object with more than 16 keys");

  const TemporaryFolder folder;
  const std::string large =
      folder.write("large.json", std::string((1 << 20) + 1, ' '));
  expect_error<IoError>([&] { read_network_file(large); },
                        "large.json: longer than the limit of 1048576 bytes");
  expect_error<IoError>([&] { read_network_file(folder / "none"); }, "none");
}

TEST(NetworkFile, CutAnywhereIsRefused) {
  const TemporaryFolder folder;
  write_network_file(folder / "n.json", every_layer());
  const std::string text = testing::read_bytes(folder / "n.json");
  const std::size_t end = text.rfind('}');
  for (std::size_t length = 0; length <= end; ++length) {
    EXPECT_THROW(read_network_text("cut", text.substr(0, length)), IoError)
        << length;
  }
  EXPECT_NO_THROW(read_network_text("whole", text.substr(0, end + 1)));
}

// A changed digit is another network; every other change is refused.
TEST(NetworkFile, AChangedByteIsRefusedOrReadAsWritten) {
  const TemporaryFolder folder;
  write_network_file(folder / "n.json", every_layer());
  const std::string text = testing::read_bytes(folder / "n.json");
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      try {
        read_network_text("damaged", damaged);
        EXPECT_TRUE(std::isdigit(text[i]) || std::isspace(text[i]))
            << "byte " << i << ": " << damaged;
      } catch (const IoError&) {
      }
    }
  }
}

TEST(NetworkFile, WritingRefusesLayersThatDoNotFit) {
  const TemporaryFolder folder;
  expect_error<ArgumentError>(
      [&] {
        write_network_file(folder / "n.json", {{1, 8, 8}, {Dense{3}}});
      },
      "layer 1 (dense 3)");
  EXPECT_TRUE(testing::read_bytes(folder / "n.json").empty());
}

}  // namespace
}  // namespace radir::io
