#include <algorithm>
#include <array>
#include <cmath>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/kernels/philox.h"

namespace radir::data {
namespace {

constexpr std::uint32_t kRobotArmStream = 0x0A51;

constexpr double kUpperArm = 0.5;  // metres
constexpr double kForearm = 0.4;
constexpr std::array<double, 3> kToolLengths = {0.10, 0.18, 0.26};
constexpr std::array<const char*, 3> kToolNames = {"gripper", "welder",
                                                   "brush"};
constexpr double kWorkpieceX = 0.6;
constexpr double kWorkpieceY = 0.3;
// Radians a joint gives way per kilogram on a horizontal arm.
constexpr double kSoftness = 0.06;

struct Position {
  double x;
  double y;
};

Position tip_of(const RobotArmPose& pose) {
  const double sag = kSoftness * pose.payload;
  const double upper = pose.shoulder - sag * std::cos(pose.shoulder);
  const double fore = upper + pose.elbow - sag * std::cos(upper + pose.elbow);
  const double tool = fore + pose.wrist;
  const double length = kToolLengths.at(static_cast<std::size_t>(pose.tool));
  return {kUpperArm * std::cos(upper) + kForearm * std::cos(fore) +
              length * std::cos(tool),
          kUpperArm * std::sin(upper) + kForearm * std::sin(fore) +
              length * std::sin(tool)};
}

RobotArmPose random_pose(kernels::PhiloxEngine& random) {
  RobotArmPose pose;
  pose.shoulder = -1.5 + 3 * random.uniform();
  pose.elbow = 2.4 * random.uniform();
  pose.wrist = -1.5 + 3 * random.uniform();
  pose.payload = 2 * random.uniform();
  pose.tool = std::min(2, static_cast<int>(3 * random.uniform()));
  return pose;
}

}  // namespace

double robot_arm_distance(const RobotArmPose& pose) {
  const Position tip = tip_of(pose);
  return std::hypot(tip.x - kWorkpieceX, tip.y - kWorkpieceY);
}

double robot_arm_noise(const RobotArmPose& pose) {
  const Position tip = tip_of(pose);
  const double longest = kUpperArm + kForearm + kToolLengths.back();
  const double stretch = std::hypot(tip.x, tip.y) / longest;
  return 0.005 + 0.045 * (pose.payload / 2) * stretch * stretch;
}

Table make_robot_arm_table(std::int64_t rows, std::uint64_t seed) {
  RADIR_CHECK(rows >= 1 && rows < kernels::kMaxRandomElements, ArgumentError,
              "make_robot_arm_table: rows must be from 1 to 2^32 - 1, but is ",
              rows);
  std::vector<Column> columns;
  for (const char* name : {"shoulder", "elbow", "wrist", "payload"}) {
    columns.emplace_back(name, ColumnType::Numeric);
  }
  columns.emplace_back("tool", ColumnType::Categorical);
  columns.emplace_back("distance", ColumnType::Numeric);
  for (std::int64_t i = 0; i < rows; ++i) {
    kernels::PhiloxEngine random({seed, kRobotArmStream, 0},
                                 static_cast<std::uint32_t>(i));
    const RobotArmPose pose = random_pose(random);
    columns[0].append_number(pose.shoulder);
    columns[1].append_number(pose.elbow);
    columns[2].append_number(pose.wrist);
    columns[3].append_number(pose.payload);
    columns[4].append_category(kToolNames[static_cast<std::size_t>(pose.tool)]);
    columns[5].append_number(robot_arm_distance(pose) +
                             robot_arm_noise(pose) * random.normal());
  }
  return Table("robot-arm", std::move(columns));
}

}  // namespace radir::data
