#include <cmath>
#include <nlohmann/json.hpp>

#include "c_api/support.h"
#include "radir/io/onnx.h"
#include "support/temporary_folder.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::json;

constexpr const char* kNetwork =
    R"({"input": [1, 8, 8],
        "layers": [{"type": "conv2d", "outputs": 6, "kernel": 3},
                   {"type": "max-pool2d", "kernel": 2},
                   {"type": "relu"},
                   {"type": "flatten"},
                   {"type": "dense", "outputs": 16},
                   {"type": "relu"},
                   {"type": "dense", "outputs": 2}]})";
constexpr const char* kQuickImages =
    "epochs=4\nprune_every=2\nfine_tune_epochs=2\nbatch=20\nsamples=3\n"
    "learning_rate=0.005";

/// Horizontal and vertical bars.
struct Bars {
  explicit Bars(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      labels.push_back(i % 2);
      for (std::int64_t p = 0; p < 64; ++p) {
        const std::int64_t place = i % 2 == 0 ? p / 8 : p % 8;
        const double noise = static_cast<double>((i * 31 + p * 17) % 11) / 50;
        pixels.push_back(
            static_cast<float>((place == 1 + i / 2 % 6 ? 0.8 : 0) + noise));
      }
    }
  }
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
};

radir_images images_of(const Bars& train, const Bars& test) {
  return {1,
          8,
          8,
          2,
          static_cast<std::int64_t>(train.labels.size()),
          train.pixels.data(),
          train.labels.data(),
          static_cast<std::int64_t>(test.labels.size()),
          test.pixels.data(),
          test.labels.data()};
}

TEST(CCompress, MakesANetworkSmall) {
  const Bars train(400), test(40);
  const radir_images images = images_of(train, test);
  radir_network network = nullptr;
  expect_status(radir_compress(&images, kNetwork, kQuickImages, nullptr,
                               nullptr, &network),
                RADIR_OK);
  const Json report = Json::parse(text_of([&](auto... buffer) {
    return radir_network_describe(network, buffer...);
  }));
  EXPECT_LT(report["fine_tuned"]["test_error"].get<double>(), 0.2);
  std::vector<float> outputs(80);
  expect_status(
      radir_network_run(network, test.pixels.data(), 40, outputs.data()),
      RADIR_OK);
  int right = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    if ((outputs[2 * i + 1] > outputs[2 * i]) == (test.labels[i] == 1)) ++right;
  }
  EXPECT_GT(right, 32);
  const radir::testing::TemporaryFolder folder;
  const std::string file = folder / "network.onnx";
  expect_status(radir_network_export_onnx(network, file.c_str()),
                io::has_onnx() ? RADIR_OK : RADIR_UNSUPPORTED);
  expect_status(radir_network_free(network), RADIR_OK);
  expect_status(radir_network_run(network, nullptr, 1, nullptr),
                RADIR_ARGUMENT_ERROR, "not the handle of a network");
}

int32_t stop(const radir_progress* progress, void*) {
  EXPECT_GT(progress->total, 0);
  return 1;
}

TEST(CCompress, StopsAndRefuses) {
  const Bars train(400), test(40);
  radir_images images = images_of(train, test);
  radir_network network = nullptr;
  const auto compress = [&](const char* spec, const char* settings,
                            radir_progress_callback callback = nullptr) {
    return radir_compress(&images, spec, settings, callback, nullptr, &network);
  };
  expect_status(compress(kNetwork, kQuickImages, stop), RADIR_STOPPED);
  expect_status(compress("lenet5", kQuickImages), RADIR_ARGUMENT_ERROR);
  expect_status(compress("no/such/file.json", nullptr), RADIR_IO_ERROR);
  expect_status(compress("{", nullptr), RADIR_IO_ERROR);
  expect_status(compress(kNetwork, "pressured=1"), RADIR_ARGUMENT_ERROR,
                "pressure");
  images.classes = 1;
  expect_status(compress(kNetwork, nullptr), RADIR_ARGUMENT_ERROR, "1 classes");
  images.classes = 2;
  images.test_count = 0;
  expect_status(compress(kNetwork, nullptr), RADIR_ARGUMENT_ERROR, "0 test");
  images = images_of(train, test);
  images.height = std::int64_t{1} << 40;
  images.width = std::int64_t{1} << 40;
  expect_status(compress(kNetwork, nullptr), RADIR_ARGUMENT_ERROR, "memory");
  images = images_of(train, test);
  expect_status(compress(kNetwork, "network=mine"), RADIR_ARGUMENT_ERROR,
                "network");
  std::vector<std::int64_t> wrong = train.labels;
  wrong[7] = 2;
  images.train_labels = wrong.data();
  expect_status(compress(kNetwork, nullptr), RADIR_ARGUMENT_ERROR, "is 2");
  EXPECT_EQ(network, nullptr);
}

}  // namespace
}  // namespace radir::c_api
