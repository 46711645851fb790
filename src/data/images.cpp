#include "radir/data/images.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/data/builtin_data.h"
#include "radir/data/data_dir.h"
#include "radir/data/fingerprint.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::data {
namespace {

constexpr std::int64_t kDigitsTrain = 10000;
constexpr std::int64_t kDigitsTest = 2000;
/// Of the random numbers that a warp makes from the one it gets.
constexpr std::uint32_t kWarpStream = 0x40000002;

ImageDataset read(const std::string& source, const std::string& data_dir,
                  std::uint64_t seed) {
  const std::string folder = images_folder(source, data_dir);
  return folder.empty() ? make_digits_dataset(kDigitsTrain, kDigitsTest, seed)
                        : read_idx_folder(folder);
}

ImageRows to_rows(const ImageSet& set) {
  ImageRows rows;
  rows.count = set.count;
  rows.shape = {1, set.rows, set.columns};
  check_memory({static_cast<std::int64_t>(set.pixels.size()),
                static_cast<std::int64_t>(sizeof(float))},
               "the pixels of the images as numbers", "use fewer images");
  rows.pixels.resize(set.pixels.size());
  std::transform(
      set.pixels.begin(), set.pixels.end(), rows.pixels.begin(),
      [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  rows.labels.assign(set.labels.begin(), set.labels.end());
  return rows;
}

/// Where the pixel (y, x) of a warped image comes from.
struct PixelMap {
  double y_from_y, y_from_x, y_offset;
  double x_from_y, x_from_x, x_offset;
};

PixelMap random_map(const network::Shape& shape, double noise, double strength,
                    std::int64_t pixels) {
  std::uint64_t key;
  std::memcpy(&key, &noise, sizeof key);
  double u[6];
  kernels::fill_uniform({key, kWarpStream, 0}, 0, 6, u);
  for (double& value : u) value = 2 * value - 1;
  const auto range = static_cast<double>(pixels);
  PixelMap map{1 + strength * u[0], strength * u[1],     range * u[2],
               strength * u[3],     1 + strength * u[4], range * u[5]};
  const double middle_y = static_cast<double>(shape.height - 1) / 2;
  const double middle_x = static_cast<double>(shape.width - 1) / 2;
  map.y_offset += middle_y - map.y_from_y * middle_y - map.y_from_x * middle_x;
  map.x_offset += middle_x - map.x_from_y * middle_y - map.x_from_x * middle_x;
  return map;
}

/// Draws an image anew, interpolating grey values; what is outside is black.
void warp(const float* input, const network::Shape& shape, const PixelMap& map,
          float* output) {
  // A frame of one pixel before the image and two behind it, so that all
  // neighbours are there.
  const std::int64_t stride = shape.width + 3;
  std::vector<float> framed(
      static_cast<std::size_t>((shape.height + 3) * stride));
  for (std::int64_t row = 0; row < shape.height; ++row) {
    std::copy_n(input + row * shape.width, shape.width,
                framed.begin() + (row + 1) * stride + 1);
  }
  const auto in_frame = [](double at, std::int64_t size) {
    return std::clamp(at + 1, 0.0, static_cast<double>(size + 1));
  };
  for (std::int64_t row = 0; row < shape.height; ++row) {
    for (std::int64_t column = 0; column < shape.width; ++column) {
      const auto r = static_cast<double>(row), c = static_cast<double>(column);
      const double y = in_frame(
          map.y_from_y * r + map.y_from_x * c + map.y_offset, shape.height);
      const double x = in_frame(
          map.x_from_y * r + map.x_from_x * c + map.x_offset, shape.width);
      const auto top = static_cast<std::int64_t>(y);
      const auto left = static_cast<std::int64_t>(x);
      const auto below = static_cast<float>(y - static_cast<double>(top));
      const auto beside = static_cast<float>(x - static_cast<double>(left));
      const float* pixel = framed.data() + top * stride + left;
      const float upper = pixel[0] + beside * (pixel[1] - pixel[0]);
      const float* next = pixel + stride;
      const float lower = next[0] + beside * (next[1] - next[0]);
      *output++ = upper + below * (lower - upper);
    }
  }
}

}  // namespace

ImageRows part(const ImageRows& images, std::int64_t first,
               std::int64_t count) {
  ImageRows result{count, images.shape, {}, {}};
  const auto pixels = images.pixels.begin() + first * images.shape.size();
  result.pixels.assign(pixels, pixels + count * images.shape.size());
  result.labels.assign(images.labels.begin() + first,
                       images.labels.begin() + first + count);
  return result;
}

std::string images_folder(const std::string& source,
                          const std::string& data_dir) {
  if (source == "digits") return "";
  const bool folder = source.find('/') != std::string::npos ||
                      std::filesystem::is_directory(source);
  return folder ? source : data_set_dir(data::data_dir(data_dir), source);
}

ImageSplit read_images(const std::string& source, const std::string& data_dir,
                       std::uint64_t seed) {
  const ImageDataset dataset = read(source, data_dir, seed);
  Fingerprint fingerprint;
  for (const ImageSet* set : {&dataset.train, &dataset.test}) {
    fingerprint.add(set->pixels);
    fingerprint.add(set->labels);
  }
  return {to_rows(dataset.train), to_rows(dataset.test), dataset.classes,
          source, fingerprint.text()};
}

void check_fits(const network::NetworkSpec& network, const ImageSplit& images) {
  RADIR_CHECK(network.input.size() == images.train.shape.size(), ArgumentError,
              "the network takes images of ", to_string(network.input),
              ", but those of ", images.name, " are ",
              to_string(images.train.shape));
  const auto shapes = network::layer_shapes(network.input, network.layers);
  RADIR_CHECK(shapes.back().size() == images.classes, ArgumentError,
              "the network has ", shapes.back().size(), " outputs, but ",
              images.name, " has ", images.classes, " classes");
}

train::Augmentation<float> random_shift(const network::Shape& shape,
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

train::Augmentation<float> random_warp(const network::Shape& shape,
                                       double strength, std::int64_t pixels) {
  RADIR_CHECK(strength >= 0 && strength < 1, ArgumentError,
              "the strength of a warp must be from 0 to below 1, but is ",
              strength);
  const auto shift = random_shift(shape, pixels);
  return [=](const float* input, double noise, float* output) {
    if (noise < 0.5) {
      shift(input, 2 * noise, output);
    } else {
      warp(input, shape, random_map(shape, noise, strength, pixels), output);
    }
  };
}

}  // namespace radir::data
