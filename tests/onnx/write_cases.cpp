// Writes networks as ONNX files, each with inputs and the outputs that we
// compute for them, for compare.js.
//
// Usage: write_cases FOLDER

#include <cstdio>
#include <filesystem>
#include <string>

#include "radir/data/idx.h"
#include "radir/files/atomic_file.h"
#include "radir/io/onnx.h"
#include "radir/kernels/network.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "support/data_dir.h"
#include "support/plain_networks.h"

namespace radir {
namespace {

void write_floats(const std::string& path, const std::vector<float>& values) {
  files::write_file(path, {reinterpret_cast<const char*>(values.data()),
                           values.size() * sizeof(float)});
}

/// FOLDER/NAME.onnx, .input and .output; the file's own scaling of its inputs
/// is done here by hand.
void write_case(const std::string& folder, const std::string& name,
                const network::PlainNetwork<float>& network,
                const std::vector<float>& rows, float input_scale = 1) {
  const std::string path = folder + "/" + name;
  io::OnnxOptions options;
  options.input_scale = input_scale;
  io::write_onnx(path + ".onnx", network, options);
  write_floats(path + ".input", rows);
  std::vector<float> scaled = rows;
  for (float& value : scaled) value *= input_scale;
  const auto count =
      static_cast<std::int64_t>(rows.size()) / network.spec.input.size();
  write_floats(path + ".output",
               kernels::run_network(network, scaled.data(), count));
}

void write_small_cases(const std::string& folder) {
  for (const testing::NamedNetwork& named : testing::small_networks()) {
    const auto rows =
        testing::uniform_numbers(17 * named.spec.input.size(), 99);
    write_case(folder, named.name, testing::random_network(named.spec), rows);
  }
}

/// The first thousand test images of MNIST, once as numbers from 0 to 1 and
/// once as pixels that the file itself divides.
void write_mnist_cases(const std::string& folder) {
  const std::string data = testing::data_set("mnist");
  if (data.empty()) {
    std::puts("without mnist: the data set is not here (RADIR_DATA_DIR)");
    return;
  }
  const data::ImageSet images = data::read_idx_folder(data).test;
  const network::PlainNetwork<float> network =
      testing::random_network(network::lenet5());
  const auto size = 1000 * network.spec.input.size();
  std::vector<float> pixels(images.pixels.begin(),
                            images.pixels.begin() + size);
  write_case(folder, "mnist_pixels", network, pixels, 1 / 255.0f);
  for (float& pixel : pixels) pixel /= 255;
  write_case(folder, "mnist", network, pixels);
}

}  // namespace
}  // namespace radir

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("Usage: write_cases FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::remove_all(argv[1]);
  std::filesystem::create_directories(argv[1]);
  radir::write_small_cases(argv[1]);
  radir::write_mnist_cases(argv[1]);
}
