#include "radir/data/builtin_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

using testing::expect_error;

RobotArmPose pose_of(const Table& table, std::int64_t row) {
  const std::string& tool =
      table.column("tool").categories().text(table.column("tool").code(row));
  return {table.column("shoulder").number(row),
          table.column("elbow").number(row), table.column("wrist").number(row),
          table.column("payload").number(row),
          tool == "gripper"  ? 0
          : tool == "welder" ? 1
                             : 2};
}

TEST(RobotArm, StretchedArmReachesAsFarAsItsLinks) {
  // Straight out with no load the tip is at (0.5 + 0.4 + 0.1, 0).
  EXPECT_NEAR(robot_arm_distance({0, 0, 0, 0, 0}), std::hypot(0.4, 0.3), 1e-15);
  // Straight up with the brush: (0, 1.16).
  const double up = std::acos(0.0);
  EXPECT_NEAR(robot_arm_distance({up, 0, 0, 0, 2}), std::hypot(0.6, 0.86),
              1e-15);
  EXPECT_NEAR(robot_arm_noise({up, 0, 0, 2, 2}), 0.05, 1e-15);
  EXPECT_NEAR(robot_arm_noise({0.3, 1, 0, 0, 1}), 0.005, 1e-15);
}

// Residuals divided by the stated noise must be standard normal: mean, variance
// and fourth moment within five standard errors.
TEST(RobotArm, NoiseIsWhatItSays) {
  const std::int64_t rows = 20'000;
  const Table table = make_robot_arm_table(rows, 5);
  const double n = static_cast<double>(rows);
  double mean = 0, square = 0, fourth = 0, smallest = 1, largest = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const RobotArmPose pose = pose_of(table, i);
    const double sigma = robot_arm_noise(pose);
    const double z =
        (table.column("distance").number(i) - robot_arm_distance(pose)) / sigma;
    mean += z / n;
    square += z * z / n;
    fourth += z * z * z * z / n;
    smallest = std::min(smallest, sigma);
    largest = std::max(largest, sigma);
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96 / n));
  EXPECT_GT(largest / smallest, 5);
}

TEST(RobotArm, SameSeedSameTableAndRowsDoNotDependOnTheirNumber) {
  const Table shorter = make_robot_arm_table(100, 3);
  const Table longer = make_robot_arm_table(200, 3);
  const Table other = make_robot_arm_table(100, 4);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(shorter.column("distance").number(i),
              longer.column("distance").number(i));
    EXPECT_NE(shorter.column("distance").number(i),
              other.column("distance").number(i));
  }
  EXPECT_FALSE(longer.first_missing());
  EXPECT_EQ(longer.column("tool").categories().size(), 3);
}

TEST(RobotArm, RefusesImpossibleNumbersOfRows) {
  for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1} << 32}) {
    expect_error<ArgumentError>([&] { make_robot_arm_table(rows, 1); },
                                "rows must be from 1 to 2^32 - 1");
  }
}

TEST(Digits, SameSeedSameImagesWhereverTheyAreCut) {
  const ImageSet whole = make_digits(60, 11);
  const ImageSet part = make_digits(20, 11, 40);
  EXPECT_TRUE(std::equal(part.pixels.begin(), part.pixels.end(),
                         whole.pixels.begin() + 40 * 28 * 28));
  EXPECT_TRUE(std::equal(part.labels.begin(), part.labels.end(),
                         whole.labels.begin() + 40));
  EXPECT_NE(make_digits(20, 12).pixels, make_digits(20, 11).pixels);
}

TEST(Digits, AllClassesComeEquallyOften) {
  const int count = 5000;
  const ImageSet set = make_digits(count, 1);
  std::array<int, 10> tally{};
  for (const std::uint8_t label : set.labels) ++tally.at(label);
  for (const int seen : tally) {
    EXPECT_NEAR(seen, count / 10, 5 * std::sqrt(count * 0.1 * 0.9));
  }
}

TEST(Digits, ImagesHaveInkInTheMiddleAndDarkEdges) {
  const ImageSet set = make_digits(500, 2);
  for (std::int64_t i = 0; i < set.count; ++i) {
    const std::uint8_t* image = set.pixels.data() + i * 28 * 28;
    const auto bright = std::count_if(image, image + 28 * 28,
                                      [](std::uint8_t p) { return p > 128; });
    EXPECT_GT(bright, 15) << "image " << i;
    EXPECT_LT(bright, 300) << "image " << i;
  }
}

// The nearest class mean is right far more often than chance, and far from
// always: the classes can be learned but are not given away.
TEST(Digits, AreLearnableButNotTrivial) {
  const ImageDataset data = make_digits_dataset(4000, 1000, 3);
  constexpr std::size_t kPixels = 28 * 28;
  std::vector<std::array<double, kPixels>> means(10);
  std::array<double, 10> tally{};
  for (std::size_t i = 0; i < data.train.labels.size(); ++i) {
    const std::size_t label = data.train.labels[i];
    ++tally[label];
    for (std::size_t j = 0; j < kPixels; ++j) {
      means[label][j] += data.train.pixels[i * kPixels + j];
    }
  }
  int right = 0;
  for (std::size_t i = 0; i < data.test.labels.size(); ++i) {
    std::size_t nearest = 0;
    double smallest = INFINITY;
    for (std::size_t k = 0; k < 10; ++k) {
      double distance = 0;
      for (std::size_t j = 0; j < kPixels; ++j) {
        const double difference =
            data.test.pixels[i * kPixels + j] - means[k][j] / tally[k];
        distance += difference * difference;
      }
      if (distance < smallest) {
        smallest = distance;
        nearest = k;
      }
    }
    right += nearest == data.test.labels[i];
  }
  EXPECT_GT(right, 600);
  EXPECT_LT(right, 950);
}

TEST(Digits, RefusesImpossibleNumbers) {
  expect_error<ArgumentError>([] { make_digits(-1, 0); },
                              "make_digits: -1 images");
  expect_error<ArgumentError>([] { make_digits(5'000'001, 0); },
                              "at most 5000000 can be made at once");
  expect_error<ArgumentError>([] { make_digits(1, 0, INT64_MAX); },
                              "numbered from 0 to 2^32 - 1");
  EXPECT_EQ(make_digits(0, 0).pixels.size(), 0u);
}

}  // namespace
}  // namespace radir::data
