#include "radir/data/idx.h"

#include <gtest/gtest.h>

#include <numeric>

#include "radir/core/error.h"
#include "support/data_dir.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/largest_allocation.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using namespace std::string_literals;
using testing::expect_error;
using testing::gzip;
using testing::TemporaryFolder;

// Two images of 2 x 3 pixels, and their labels.
const std::string kImages =
    "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"s
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\xFF";
const std::string kLabels = "\0\0\x08\x01\0\0\0\x02\x07\x09"s;

ImageSet images_of(const std::string& bytes) {
  return read_idx_images(*files::memory_byte_source("images", bytes));
}

std::vector<std::uint8_t> labels_of(const std::string& bytes,
                                    int classes = 10) {
  return read_idx_labels(*files::memory_byte_source("labels", bytes), classes);
}

TEST(Idx, ReadsImagesAndLabels) {
  for (const std::string& bytes : {kImages, gzip(kImages)}) {
    const ImageSet set = images_of(bytes);
    EXPECT_EQ(set.count, 2);
    EXPECT_EQ(set.rows, 2);
    EXPECT_EQ(set.columns, 3);
    EXPECT_EQ(set.pixels.size(), 12u);
    EXPECT_EQ(set.pixels[0], 1);
    EXPECT_EQ(set.pixels[11], 255);
  }
  EXPECT_EQ(labels_of(kLabels), (std::vector<std::uint8_t>{7, 9}));
}

TEST(Idx, RefusesFilesCutAtAnyLengthOrTooLong) {
  for (std::size_t length = 0; length < kImages.size(); ++length) {
    expect_error<IoError>([&] { images_of(kImages.substr(0, length)); },
                          length < 16
                              ? "ends inside its header"
                              : "the file is truncated: its header promises "
                                "12 values, but there are");
  }
  expect_error<IoError>([] { images_of(kImages + "x"); },
                        "bytes follow the 12 values");
  for (std::size_t length = 0; length < kLabels.size(); ++length) {
    EXPECT_THROW(labels_of(kLabels.substr(0, length)), IoError) << length;
  }
  expect_error<IoError>([] { labels_of(kLabels.substr(0, 9)); },
                        "promises 2 values, but there are 1");
}

TEST(Idx, RefusesEveryChangeOfAHeader) {
  for (std::size_t i = 0; i < 16; ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string images = kImages;
      images[i] = static_cast<char>(images[i] ^ change);
      EXPECT_THROW(images_of(images), IoError) << i << " ^ " << change;
      if (i >= 8) continue;
      std::string labels = kLabels;
      labels[i] = static_cast<char>(labels[i] ^ change);
      EXPECT_THROW(labels_of(labels), IoError) << i << " ^ " << change;
    }
  }
}

TEST(Idx, RefusesMislabelledFiles) {
  expect_error<IoError>([] { images_of(kLabels); },
                        "not an IDX file of images: it starts with the mark "
                        "2049 where 2051 is needed; are images and labels "
                        "exchanged?");
  expect_error<IoError>([] { labels_of(kImages); },
                        "not an IDX file of labels");
  expect_error<IoError>([] { images_of("P5 28 28 255 image"); },
                        "not an IDX file of images");
}

// Claims of 2^96 and 10 GB are refused before anything is allocated; one of
// 4 GB allocates no more than the first chunk.
TEST(Idx, TrustsNoLength) {
  testing::take_largest_allocation();
  expect_error<IoError>(
      [] { images_of("\0\0\x08\x03"s + std::string(12, '\xFF') + "x"); },
      "promises more than the limit of 4294967296 bytes");
  expect_error<IoError>(
      [] { images_of("\0\0\x08\x03\0\0\0\x0A\x40\0\0\0\0\0\0\x01"s + "x"); },
      "promises more than the limit of 4294967296 bytes");
  expect_error<IoError>(
      [] { images_of("\0\0\x08\x03\0\0\0\x04\x40\0\0\0\0\0\0\x01"s + "x"); },
      "promises 4294967296 values, but there are 1");
  EXPECT_LE(testing::take_largest_allocation(), std::size_t{1} << 20);
  expect_error<IoError>(
      [] { images_of("\0\0\x08\x03\0\0\0\0\0\0\0\x01\0\0\0\x01"s); },
      "size 1 in the header is 0");
}

TEST(Idx, RefusesLabelsOutOfRange) {
  expect_error<IoError>([] { labels_of(kLabels, 9); },
                        "label 2 of 2 is 9, but with 9 classes it must be from "
                        "0 to 8");
  expect_error<ArgumentError>([] { labels_of(kLabels, 0); },
                              "number of classes must be from 1 to 256");
}

ImageSet small_set(std::int64_t count, std::int64_t side) {
  ImageSet set;
  set.count = count;
  set.rows = side;
  set.columns = side;
  set.pixels.resize(static_cast<std::size_t>(count * side * side));
  std::iota(set.pixels.begin(), set.pixels.end(), std::uint8_t{0});
  set.labels.assign(static_cast<std::size_t>(count), 3);
  return set;
}

TEST(Idx, WritesAFolderThatReadsBackTheSame) {
  const TemporaryFolder folder;
  write_idx_folder(folder.path(), {small_set(5, 4), small_set(2, 4), 10});
  const ImageDataset back = read_idx_folder(folder.path());
  EXPECT_EQ(back.train.count, 5);
  EXPECT_EQ(back.test.count, 2);
  EXPECT_EQ(back.train.pixels, small_set(5, 4).pixels);
  EXPECT_EQ(back.test.labels, small_set(2, 4).labels);
  expect_error<IoError>([&] { read_idx_folder(folder.path(), 3); },
                        "train-labels-idx1-ubyte: label 1 of 5 is 3");
}

TEST(Idx, FindsOtherSpellings) {
  const TemporaryFolder folder;
  folder.write("train-images.idx3-ubyte", kImages);
  folder.write("train-labels-idx1-ubyte.gz", gzip(kLabels));
  folder.write("t10k-images-idx3-ubyte", kImages);
  folder.write("t10k-labels.idx1-ubyte.gz", gzip(kLabels));
  EXPECT_EQ(read_idx_folder(folder.path()).test.labels.size(), 2u);
}

TEST(Idx, CountsClassesAndTakesOtherNames) {
  const TemporaryFolder folder;
  write_idx_folder(folder.path(), {small_set(5, 4), small_set(2, 4), 10});
  EXPECT_EQ(read_idx_folder(folder.path()).classes, 4);
  const auto rename = [&](const char* from, const char* to) {
    std::filesystem::rename(folder / from, folder / to);
  };
  rename("train-images-idx3-ubyte", "emnist-letters-TRAIN-images");
  rename("train-labels-idx1-ubyte", "emnist-letters-train-labels");
  rename("t10k-images-idx3-ubyte", "test_images.idx");
  rename("t10k-labels-idx1-ubyte", "test_labels.idx");
  EXPECT_EQ(read_idx_folder(folder.path()).train.count, 5);
  folder.write("test_labels.old", "");
  expect_error<IoError>([&] { read_idx_folder(folder.path()); },
                        "test_labels.idx and ");
}

TEST(Idx, RefusesFoldersThatDoNotFitTogether) {
  const TemporaryFolder folder;
  expect_error<IoError>([&] { read_idx_folder(folder.path()); },
                        "holds no file train-images-idx3-ubyte");
  write_idx_folder(folder.path(), {small_set(5, 4), small_set(2, 3), 10});
  expect_error<IoError>([&] { read_idx_folder(folder.path()); },
                        "the training images are 4 x 4 pixels, the test "
                        "images 3 x 3");
  folder.write("train-labels-idx1-ubyte", kLabels);
  expect_error<IoError>([&] { read_idx_folder(folder.path()); },
                        "holds 2 labels, but");
  ImageSet wrong = small_set(5, 4);
  wrong.labels.pop_back();
  expect_error<ArgumentError>(
      [&] {
        write_idx_folder(folder.path(), {wrong, small_set(2, 4), 10});
      },
      "5 images of 4 x 4 need 80 pixels and 5 labels, but there are 80 and 4");
}

TEST(Idx, ReadsMnist) {
  RADIR_SKIP_WITHOUT_DATA("mnist");
  const ImageDataset mnist = read_idx_folder(testing::data_set("mnist"));
  EXPECT_EQ(mnist.train.count, 60'000);
  EXPECT_EQ(mnist.test.count, 10'000);
  EXPECT_EQ(mnist.train.rows, 28);
  EXPECT_EQ(mnist.train.columns, 28);
  // The first labels of both files, and the known mean grey level, 33.3184.
  EXPECT_EQ(std::vector<std::uint8_t>(mnist.train.labels.begin(),
                                      mnist.train.labels.begin() + 5),
            (std::vector<std::uint8_t>{5, 0, 4, 1, 9}));
  EXPECT_EQ(mnist.test.labels[0], 7);
  const double sum = std::accumulate(mnist.train.pixels.begin(),
                                     mnist.train.pixels.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(mnist.train.pixels.size()), 33.3184,
              1e-4);
}

}  // namespace
}  // namespace radir::data
