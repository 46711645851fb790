#pragma once

#include <cstdint>

#include "radir/data/idx.h"
#include "radir/data/table.h"

// Generated data, so that every command works without a download. The
// same seed gives the same data; element i depends on (seed, i) alone.

namespace radir::data {

/// A pose of a planar robot arm with three joints.
struct RobotArmPose {
  double shoulder;  ///< radians, from -1.5 to 1.5
  double elbow;     ///< radians, from 0 to 2.4
  double wrist;     ///< radians, from -1.5 to 1.5
  double payload;   ///< kilograms, from 0 to 2
  int tool;         ///< 0 gripper, 1 welder, 2 brush: 0.10, 0.18, 0.26 m long
};

/// Distance in metres from the tool's tip to the workpiece at (0.6, 0.3), the
/// joints bent by the payload; what `distance` is on average.
double robot_arm_distance(const RobotArmPose& pose);

/// Standard deviation of the measured distance: 5 mm for an empty folded arm,
/// up to ten times as much for a loaded, stretched one.
double robot_arm_noise(const RobotArmPose& pose);

/// A table of `rows` random poses with the columns shoulder, elbow, wrist,
/// payload (numbers), tool (a category) and distance: a normal variable with
/// the mean and standard deviation above. Throws ArgumentError unless
/// 1 <= rows < 2^32.
Table make_robot_arm_table(std::int64_t rows, std::uint64_t seed);

/// Images `first` to `first + count - 1` of an endless sequence of handwritten
/// digits in MNIST's form (28 x 28 pixels, ten classes): pen strokes of random
/// shape, slant, size, place and thickness, with noise. Throws ArgumentError
/// unless 0 <= count <= 5,000,000, 0 <= first and first + count < 2^32.
ImageSet make_digits(std::int64_t count, std::uint64_t seed,
                     std::int64_t first = 0);

/// Training and test images, all different.
ImageDataset make_digits_dataset(std::int64_t train_count,
                                 std::int64_t test_count, std::uint64_t seed);

}  // namespace radir::data
