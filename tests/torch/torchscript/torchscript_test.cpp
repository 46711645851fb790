#include "radir/workflows/torchscript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "support/expect_error.h"
#include "support/plain_networks.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::NamedNetwork;
using ::radir::testing::random_network;
using ::radir::testing::small_networks;

class TorchScript : public ::testing::Test {
 protected:
  /// Fails unless libtorch computes what we do, for any number of rows.
  void expect_same_outputs(const network::PlainNetwork<float>& network) {
    const network::Shape& input = network.spec.input;
    for (std::int64_t count : {1, 7}) {
      const auto rows = testing::uniform_numbers(count * input.size(), 99);
      const auto ours = kernels::run_network(network, rows.data(), count);
      const auto theirs = run_torchscript(path_, input, rows.data(), count);
      ASSERT_EQ(theirs.size(), ours.size());
      float largest = 0;
      for (float value : ours) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(theirs[i], ours[i], 1e-5 * static_cast<double>(largest));
      }
    }
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "n.pt";
};

TEST_F(TorchScript, ComputesTheSameInEveryFormOfLayer) {
  std::vector<NamedNetwork> networks = small_networks();
  networks.push_back({"lenet5", network::lenet5()});
  networks.push_back(
      {"convolution_after_dense",
       {{6},
        {network::Dense{8}, network::Relu{}, network::Conv2d{3, {1, 1}}}}});
  for (const NamedNetwork& named : networks) {
    SCOPED_TRACE(named.name);
    const auto network = random_network(named.spec);
    write_torchscript(path_, network);
    expect_same_outputs(network);
  }
}

TEST_F(TorchScript, KeepsTheNotes) {
  write_torchscript(path_, random_network(small_networks()[0].spec),
                    {{"radir.input", "seven numbers"}});
  const std::string bytes = testing::read_bytes(path_);
  EXPECT_NE(bytes.find("extra/radir.input"), std::string::npos);
  EXPECT_NE(bytes.find("seven numbers"), std::string::npos);
  EXPECT_NE(bytes.find("layer1"), std::string::npos);
}

TEST_F(TorchScript, WritesNothingThatIsNotTheNetwork) {
  auto network = random_network(small_networks()[0].spec);
  network.layers[0].weight.pop_back();
  expect_error<ArgumentError>([&] { write_torchscript(path_, network); }, "34");
  network = random_network(small_networks()[0].spec);
  network.layers[0].bias.assign(5, std::numeric_limits<float>::infinity());
  expect_error<NumericalError>([&] { write_torchscript(path_, network); },
                               "was not written: libtorch's outputs are not");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  network = random_network(small_networks()[0].spec);
  expect_error<IoError>([&] { write_torchscript("/nowhere/n.pt", network); },
                        "/nowhere");
}

TEST_F(TorchScript, RefusesFilesAndRowsThatDoNotFit) {
  const std::vector<float> rows(10);
  folder_.write("n.pt", "hello");
  expect_error<IoError>([&] { run_torchscript(path_, {7}, rows.data(), 1); },
                        "n.pt: libtorch cannot run");
  write_torchscript(path_, random_network(small_networks()[0].spec));
  expect_error<IoError>([&] { run_torchscript(path_, {5}, rows.data(), 2); },
                        "n.pt: libtorch cannot run it");
}

}  // namespace
}  // namespace radir::workflows
