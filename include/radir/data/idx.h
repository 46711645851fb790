#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "radir/files/byte_source.h"

namespace radir::data {

/// Grey images of one size with a class each.
struct ImageSet {
  std::int64_t count = 0;
  std::int64_t rows = 0;     ///< height in pixels
  std::int64_t columns = 0;  ///< width in pixels
  /// count x rows x columns, 0 (background) to 255.
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;  ///< one per image, from 0
};

/// Training and test images of `classes` classes.
struct ImageDataset {
  ImageSet train;
  ImageSet test;
  int classes = 10;
};

/// Images of an IDX file of three dimensions (plain or gzip), labels left
/// empty. Throws IoError with the byte at fault when the mark, the sizes or
/// the length is wrong, or the images are larger than 4 GiB. Memory grows with
/// the bytes in the file, not with those the header promises.
ImageSet read_idx_images(const std::string& path);
ImageSet read_idx_images(files::ByteSource& source);

/// Labels of an IDX file of one dimension; throws IoError with the index when
/// one is not below `classes`.
std::vector<std::uint8_t> read_idx_labels(const std::string& path,
                                          int classes = 10);
std::vector<std::uint8_t> read_idx_labels(files::ByteSource& source,
                                          int classes = 10);

/// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the same with
/// t10k from a folder; each may end in .gz or have a dot for the last dash but
/// one (train-images.idx3-ubyte). Where there is none of these, the only file
/// whose name contains "train" (or "t10k" or "test") and "image" (or "label")
/// is read. Without `classes`, there are as many as the largest label says.
///
/// Throws IoError when one is missing or not the only one, when images and
/// labels differ in number, or training and test images in size.
ImageDataset read_idx_folder(const std::string& folder,
                             std::optional<int> classes = std::nullopt);

/// Writes the four files of `read_idx_folder`, plain, each atomically. The
/// folder must exist.
void write_idx_folder(const std::string& folder, const ImageDataset& dataset);

}  // namespace radir::data
