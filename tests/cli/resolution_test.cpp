#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::run_program;
using Json = nlohmann::json;

/// Grades are marks rounded to 1, which is more than their noise.
std::string marks_and_grades() {
  std::string text = "x,mark,grade\n";
  for (int i = 0; i < 400; ++i) {
    const double x = i * 37 % 100 / 50.0;
    const double mark = x + 0.4 * std::sin(1.0 * i * i);
    text += std::to_string(x) + "," + std::to_string(mark) + "," +
            std::to_string(std::lround(mark)) + "\n";
  }
  return text;
}

TEST(Resolution, CoverageThereIsShownWhereItDiffers) {
  const testing::TemporaryFolder folder;
  const std::string table = folder.write("t.csv", marks_and_grades());
  for (const std::string target : {"mark", "grade"}) {
    const std::string run = folder / target;
    const auto trained = run_program(
        "train '" + table + "' --target " + target +
        " --include x --method rdp --epochs 300 --out '" + run + "'");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const std::string evaluate = "evaluate '" + run + "' '" + table + "'";
    const bool is_grade = target == "grade";
    EXPECT_EQ(contains(run_program(evaluate).out, "interval_coverage_90"),
              is_grade);
    const Json found =
        Json::parse(run_program(evaluate + " --json").out)["metrics"];
    ASSERT_TRUE(found.contains("interval_coverage_50")) << target;
    const double differs =
        std::abs(found["interval_coverage_50"].get<double>() -
                 found["coverage_50"].get<double>());
    EXPECT_EQ(differs > 0.005, is_grade) << differs;
    EXPECT_EQ(contains(testing::read_bytes(run + "/report.html"),
                       "at the resolution of the target"),
              is_grade);
  }
}

}  // namespace
}  // namespace radir
