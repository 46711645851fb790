#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using Json = nlohmann::json;

/// What a run printed, without the times.
Json document(const std::string& arguments) {
  const ProgramResult result = run_program(arguments + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Json json = Json::parse(result.out);
  for (Json& row : json["rows"]) row.erase("seconds");
  return json;
}

TEST(CalibrationCommand, TheShortFormFindsIntervalsThatHold) {
  const std::string line =
      "bench calibration --quick --processes linear --methods rdp";
  const Json json = document(line);
  EXPECT_EQ(json["benchmark"], "calibration");
  EXPECT_EQ(json["command"], "radir bench calibration");
  EXPECT_EQ(json["seed"], 0);
  EXPECT_TRUE(json.contains("version"));
  ASSERT_EQ(json["rows"].size(), 1u);
  const Json& row = json["rows"][0];
  EXPECT_EQ(row["rows"], 100);
  EXPECT_EQ(row["seeds"], 4);
  EXPECT_EQ(row["failed"], 0);
  const Json& inside = row["regions"]["inside"];
  // Rows of one data set share a fit; 4 fits to 100 rows vary by some 3 %.
  EXPECT_NEAR(inside["coverage_90"]["mean"].get<double>(), 0.9, 0.06);
  EXPECT_NEAR(inside["coverage_50"]["mean"].get<double>(), 0.5, 0.1);
  EXPECT_LT(inside["divergence"]["mean"].get<double>(), 0.25);
  // The noise is 0.5.
  EXPECT_NEAR(inside["rmse"]["mean"].get<double>(), 0.5, 0.1);
  EXPECT_LT(inside["mean_error"]["mean"].get<double>(), 0.35);
  EXPECT_EQ(document(line + " --threads 1"), json);
}

TEST(CalibrationCommand, PrintsBothTables) {
  const ProgramResult result = run_program(
      "bench calibration --processes sine-gap,friedman-10 --rows 20 --hidden "
      "3,2x2 --methods mean-field,rdp-noise --seeds 2 --steps 20 --test-rows "
      "10");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"in 90 %", "friedman-10", "2x2", "mean-field",
                           "rdp-noise", "gap", "outside", "sd / error"}) {
    EXPECT_TRUE(contains(result.out, part)) << part << "\n" << result.out;
  }
}

TEST(CalibrationCommand, RejectsBadOptions) {
  expect_failure("bench calibration --processes friedman", 2,
                 "there is no process \"friedman\"");
  expect_failure("bench calibration --methods rpd", 2, "did you mean \"rdp\"?");
  expect_failure("bench calibration --hidden 5y5", 2, "such as 50 or 100x100");
  expect_failure("bench calibration --seeds 0", 2, "seeds");
  expect_failure("bench sbc --simulations 20", 2, "5 simulations per bin");
  expect_failure("bench sbc --methods hnc", 2, "there is no method \"hnc\"");
}

TEST(CalibrationCommand, CountsRanks) {
  const std::string line =
      "bench sbc --methods gaussian --simulations 10 --bins 2 --steps 20 "
      "--rows 10";
  const ProgramResult text = run_program(line);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "f(0.5, -0.5)")) << text.out;
  const ProgramResult result = run_program(line + " --json");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["command"], "radir bench sbc");
  ASSERT_EQ(json["quantities"].size(), 4u);
  const Json& histogram = json["quantities"][3]["histogram"];
  EXPECT_EQ(histogram[0].get<int>() + histogram[1].get<int>(), 10);
}

}  // namespace
}  // namespace radir
