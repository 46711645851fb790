#include "radir/experiments/images.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/fingerprint.h"
#include "radir/core/error.h"
#include "radir/io/builtin_data.h"
#include "radir/io/data_dir.h"
#include "radir/train/predictor.h"

namespace radir::experiments {
namespace {

constexpr std::int64_t kDigitsTrain = 10000;
constexpr std::int64_t kDigitsTest = 2000;
/// Images whose outputs are in memory at a time.
constexpr std::int64_t kPiece = 1000;

io::ImageDataset read(const std::string& source, const std::string& data_dir,
                      std::uint64_t seed) {
  if (source == "digits") {
    return io::make_digits_dataset(kDigitsTrain, kDigitsTest, seed);
  }
  const bool folder = source.find('/') != std::string::npos ||
                      std::filesystem::is_directory(source);
  return io::read_idx_folder(
      folder ? source : io::data_set_dir(io::data_dir(data_dir), source));
}

ImageRows to_rows(const io::ImageSet& set) {
  ImageRows rows;
  rows.count = set.count;
  rows.shape = {1, set.rows, set.columns};
  rows.pixels.resize(set.pixels.size());
  std::transform(
      set.pixels.begin(), set.pixels.end(), rows.pixels.begin(),
      [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  rows.labels.assign(set.labels.begin(), set.labels.end());
  return rows;
}

/// Adds the scores of images `first` on, whose outputs are
/// [draw][count][class].
void add(ClassScores& scores, const ImageRows& images, std::int64_t first,
         std::int64_t count, const std::vector<float>& outputs,
         std::int64_t draws, std::int64_t classes) {
  for (std::int64_t i = 0; i < count; ++i) {
    scores.add(predict_class(outputs.data() + i * classes, draws, classes,
                             count * classes),
               images.labels[static_cast<std::size_t>(first + i)]);
  }
}

}  // namespace

ImageSplit read_images(const std::string& source, const std::string& data_dir,
                       std::uint64_t seed) {
  const io::ImageDataset dataset = read(source, data_dir, seed);
  Fingerprint fingerprint;
  for (const io::ImageSet* set : {&dataset.train, &dataset.test}) {
    fingerprint.add(set->pixels);
    fingerprint.add(set->labels);
  }
  return {to_rows(dataset.train), to_rows(dataset.test), dataset.classes,
          source, fingerprint.text()};
}

bool is_image_model(const io::SavedModel& model) {
  const auto json = nlohmann::json::parse(model.preprocessing);
  return json.value("kind", nlohmann::json()) == "images";
}

void check_fits(const train::NetworkSpec& network, const ImageSplit& images) {
  RADIR_CHECK(network.input.size() == images.train.shape.size(), ArgumentError,
              "the network takes images of ", to_string(network.input),
              ", but those of ", images.name, " are ",
              to_string(images.train.shape));
  const auto shapes = kernels::layer_shapes(network.input, network.layers);
  RADIR_CHECK(shapes.back().size() == images.classes, ArgumentError,
              "the network has ", shapes.back().size(), " outputs, but ",
              images.name, " has ", images.classes, " classes");
}

train::Augmentation<float> random_shift(const kernels::Shape& shape,
                                        std::int64_t pixels) {
  RADIR_CHECK(pixels >= 0 && pixels < shape.height && pixels < shape.width,
              ArgumentError, "images of ", to_string(shape),
              " cannot be shifted by up to ", pixels, " pixels");
  return [shape, pixels](const float* input, double noise, float* output) {
    const std::int64_t choices = 2 * pixels + 1;
    const auto choice = static_cast<std::int64_t>(
        noise * static_cast<double>(choices * choices));
    const std::int64_t down = choice / choices - pixels;
    const std::int64_t right = choice % choices - pixels;
    std::fill_n(output, shape.size(), 0.0F);
    const std::int64_t first = std::max<std::int64_t>(0, right);
    const std::int64_t width = shape.width - std::abs(right);
    for (std::int64_t y = std::max<std::int64_t>(0, down);
         y < shape.height + std::min<std::int64_t>(0, down); ++y) {
      std::copy_n(input + (y - down) * shape.width + first - right, width,
                  output + y * shape.width + first);
    }
  };
}

ClassScores evaluate(const train::PlainNetwork<float>& network,
                     const ImageRows& images, ThreadPool* pool) {
  const std::vector<float> outputs =
      train::run(network, images.pixels.data(), images.count, pool);
  ClassScores scores;
  if (images.count > 0) {
    add(scores, images, 0, images.count, outputs, 1,
        static_cast<std::int64_t>(outputs.size()) / images.count);
  }
  return scores;
}

ClassScores evaluate(const train::Model& model,
                     const std::vector<float>& parameters,
                     const ImageRows& images, std::int64_t samples,
                     std::uint64_t seed, ThreadPool* pool) {
  train::Predictor<float> predictor(model, parameters, samples, seed, pool);
  const std::int64_t classes = model.output_size();
  ClassScores scores;
  std::vector<float> outputs;
  for (std::int64_t first = 0; first < images.count; first += kPiece) {
    const std::int64_t count = std::min(kPiece, images.count - first);
    outputs.resize(static_cast<std::size_t>(samples * count * classes));
    predictor.run(images.pixels.data() + first * images.shape.size(), count,
                  outputs.data());
    add(scores, images, first, count, outputs, samples, classes);
  }
  return scores;
}

}  // namespace radir::experiments
