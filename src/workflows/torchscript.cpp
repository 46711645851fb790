#include "radir/workflows/torchscript.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/kernels/network.h"
#include "radir/network/spec.h"
#include "radir/workflows/torch_module.h"
#include "radir/workflows/torchscript_module.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kComparedRows = 8;
/// Of outputs, relative to the largest.
constexpr float kAllowedDifference = 1e-5F;

template <typename Function>
Function* find(const char* name) {
  return module_function<Function>("radir_torchscript.so", name);
}

std::vector<float> run_bytes(const std::string& path, const std::string& bytes,
                             const network::Shape& input, const float* rows,
                             std::int64_t count) {
  std::vector<float> outputs;
  find<RunTorchScript>("radir_run_torchscript")(path, bytes, input, rows, count,
                                                outputs);
  return outputs;
}

std::vector<float> random_rows(const network::Shape& input) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> rows(
      static_cast<std::size_t>(kComparedRows * input.size()));
  for (float& value : rows) value = between(engine);
  return rows;
}

void check_same(const std::string& path, const std::vector<float>& expected,
                const std::vector<float>& found) {
  RADIR_ASSERT(found.size() == expected.size());
  float largest = 0;
  for (float value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    RADIR_CHECK(
        std::abs(expected[i] - found[i]) <= kAllowedDifference * largest,
        NumericalError, path, ": was not written: libtorch's outputs are not ",
        "the network's: ", found[i], " instead of ", expected[i],
        " (the largest is ", largest, ")");
  }
}

}  // namespace

void check_torchscript() { find<WriteTorchScript>("radir_write_torchscript"); }

void write_torchscript(const std::string& path,
                       const network::PlainNetwork<float>& network,
                       const std::map<std::string, std::string>& notes) {
  const network::Shape& input = network.spec.input;
  const std::vector<float> rows = random_rows(input);
  const auto expected =
      kernels::run_network(network, rows.data(), kComparedRows);
  std::string bytes;
  find<WriteTorchScript>("radir_write_torchscript")(network, notes, bytes);
  check_same(path, expected,
             run_bytes(path, bytes, input, rows.data(), kComparedRows));
  files::write_file(path, bytes);
}

std::vector<float> run_torchscript(const std::string& path,
                                   const network::Shape& input,
                                   const float* rows, std::int64_t count) {
  return run_bytes(path,
                   files::read_all(*files::open_byte_source(path),
                                   std::numeric_limits<std::size_t>::max()),
                   input, rows, count);
}

}  // namespace radir::workflows
