#include "radir/data/images.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

using network::Dense;
using network::Flatten;

TEST(Images, DigitsAreMadeFromTheSeed) {
  const ImageSplit a = read_images("digits", "", 1);
  EXPECT_EQ(a.train.count, 10000);
  EXPECT_EQ(a.test.count, 2000);
  EXPECT_EQ(to_string(a.train.shape), "1x28x28");
  EXPECT_EQ(std::set<std::int64_t>(a.train.labels.begin(), a.train.labels.end())
                .size(),
            10u);
  for (float pixel : a.test.pixels) ASSERT_TRUE(pixel >= 0 && pixel <= 1);
  EXPECT_EQ(read_images("digits", "", 1).fingerprint, a.fingerprint);
  EXPECT_NE(read_images("digits", "", 2).fingerprint, a.fingerprint);
}

TEST(Images, RefusesWhatIsNotThere) {
  testing::expect_error<IoError>([] { read_images("./nowhere/x", "", 1); },
                                 "nowhere");
}

TEST(Images, RefusesANetworkThatDoesNotFit) {
  ImageSplit images;
  images.name = "pictures";
  images.train.shape = {1, 4, 5};
  images.classes = 3;
  testing::expect_error<ArgumentError>(
      [&] { check_fits(network::lenet5(), images); },
      "takes images of 1x28x28, but those of pictures are 1x4x5");
  testing::expect_error<ArgumentError>(
      [&] {
        check_fits({{1, 4, 5}, {Flatten{}, Dense{4}}}, images);
      },
      "has 4 outputs, but pictures has 3 classes");
  EXPECT_NO_THROW(check_fits({{20}, {Dense{3}}}, images));
}

TEST(Images, ShiftsMoveEveryPixel) {
  const network::Shape shape{1, 4, 5};
  std::vector<float> image(20), shifted(20);
  for (std::size_t i = 0; i < 20; ++i) image[i] = static_cast<float>(i + 1);
  const auto shift = random_shift(shape, 1);
  std::map<std::pair<int, int>, int> seen;
  for (int choice = 0; choice < 9; ++choice) {
    shift(image.data(), (choice + 0.5) / 9, shifted.data());
    // Where the pixel (1, 2) went tells the shift; all others go along.
    int down = 9, right = 9;
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 5; ++x) {
        if (shifted[static_cast<std::size_t>(y * 5 + x)] == 8) {
          down = y - 1;
          right = x - 2;
        }
      }
    }
    ++seen[{down, right}];
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 5; ++x) {
        const int from_y = y - down, from_x = x - right;
        const bool inside =
            from_y >= 0 && from_y < 4 && from_x >= 0 && from_x < 5;
        EXPECT_EQ(shifted[static_cast<std::size_t>(y * 5 + x)],
                  inside ? static_cast<float>(from_y * 5 + from_x + 1) : 0);
      }
    }
  }
  EXPECT_EQ(seen.size(), 9u);
  testing::expect_error<ArgumentError>([&] { random_shift(shape, 4); },
                                       "by up to 4 pixels");
}

TEST(Images, EverySecondImageIsWarped) {
  const network::Shape shape{1, 9, 11};
  // Interpolation draws a plane exactly, so that its slopes tell the map.
  std::vector<float> down(99), right(99), a(99), b(99);
  for (std::size_t i = 0; i < 99; ++i) {
    down[i] = static_cast<float>(i / 11);
    right[i] = static_cast<float>(i % 11);
  }
  const auto warp = random_warp(shape, 0.2, 1);
  const auto shift = random_shift(shape, 1);
  double largest = 0;
  for (int n = 0; n < 100; ++n) {
    const double noise = (n + 0.25) / 100;
    for (const auto* image : {&down, &right}) {
      warp(image->data(), noise, a.data());
      if (noise < 0.5) {
        shift(image->data(), 2 * noise, b.data());
        EXPECT_EQ(a, b);
        continue;
      }
      const float middle = a[4 * 11 + 5];
      const double by_row = a[5 * 11 + 5] - middle;
      const double by_column = a[4 * 11 + 6] - middle;
      EXPECT_NEAR(a[3 * 11 + 4] - middle, -by_row - by_column, 1e-5);
      EXPECT_NEAR(a[6 * 11 + 4] - middle, 2 * by_row - by_column, 1e-5);
      EXPECT_NEAR(by_row, image == &down ? 1 : 0, 0.2 + 1e-5);
      EXPECT_NEAR(by_column, image == &down ? 0 : 1, 0.2 + 1e-5);
      EXPECT_NEAR(middle, image == &down ? 4 : 5, 1 + 1e-5);
      largest = std::max(largest, image == &down ? by_column : by_row);
    }
  }
  EXPECT_GT(largest, 0.15);
  // What comes from outside is black.
  const std::vector<float> white(99, 1.0F);
  float darkest = 1;
  for (int n = 50; n < 100; ++n) {
    warp(white.data(), (n + 0.5) / 100, a.data());
    EXPECT_EQ(a[4 * 11 + 5], 1);
    for (float pixel : a) darkest = std::min(darkest, pixel);
  }
  EXPECT_EQ(darkest, 0);
}

TEST(Images, AWarpOfNoStrengthChangesNothing) {
  const network::Shape shape{1, 3, 3};
  const std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> warped(9);
  for (double noise : {0.1, 0.6, 0.9}) {
    random_warp(shape, 0, 0)(image.data(), noise, warped.data());
    EXPECT_EQ(warped, image);
  }
  testing::expect_error<ArgumentError>([&] { random_warp(shape, 1, 0); },
                                       "strength of a warp must be from 0");
}

}  // namespace
}  // namespace radir::data
