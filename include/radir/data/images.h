#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/idx.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

namespace radir::data {

/// Images as a network takes them: grey values from 0 to 1.
struct ImageRows {
  std::int64_t count = 0;
  network::Shape shape;
  std::vector<float> pixels;         ///< [count][shape]
  std::vector<std::int64_t> labels;  ///< [count]

  train::DataView<float> view() const {
    return {pixels.data(), nullptr, labels.data(), count};
  }
};

/// Consecutive images.
ImageRows part(const ImageRows& images, std::int64_t first, std::int64_t count);

struct ImageSplit {
  ImageRows train;
  ImageRows test;
  int classes = 10;
  std::string name;         ///< what was asked for
  std::string fingerprint;  ///< identifies the data (FNV-1a of the bytes)
};

/// "digits" makes 10,000 training and 2,000 test images; "mnist" and other
/// names are looked up in the data folder; anything with a path separator, or
/// that is an existing folder, is a folder of IDX files. Throws IoError when it
/// does not exist or is damaged.
ImageSplit read_images(const std::string& source, const std::string& data_dir,
                       std::uint64_t seed);

/// The folder that it reads; "" for the images that are made. Throws IoError
/// when a name is not in the data folder.
std::string images_folder(const std::string& source,
                          const std::string& data_dir);

/// Throws ArgumentError unless the network takes these images and has an output
/// for each class.
void check_fits(const network::NetworkSpec& network, const ImageSplit& images);

/// Shifts an image by up to `pixels` in both directions, every shift being as
/// likely; new pixels are black. Throws ArgumentError unless 0 <= pixels is
/// less than both sides.
train::Augmentation<float> random_shift(const network::Shape& shape,
                                        std::int64_t pixels);

/// Shifts every second image as random_shift does and draws the others anew, by
/// a linear map about their middle whose matrix differs from the identity by up
/// to `strength` in each entry (turned, stretched and sheared), moved by up to
/// `pixels`, integer or not; grey values are interpolated. Throws ArgumentError
/// unless 0 <= strength < 1 and random_shift takes `pixels`.
train::Augmentation<float> random_warp(const network::Shape& shape,
                                       double strength, std::int64_t pixels);

}  // namespace radir::data
