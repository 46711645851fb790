#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;

const std::string kScaleCommand =
    "bench scale --networks uci --workers 1 2 --rounds 1 ";

TEST(ScaleCommand, MeasuresAndPredicts) {
  const ProgramResult result =
      run_program(kScaleCommand +
                  "--machines 1 64 --weights 100000000 --compute 10 --latency "
                  "100 --bandwidth 100 --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["benchmark"], "scale");
  ASSERT_EQ(json["networks"].size(), 1u);
  EXPECT_EQ(json["networks"][0]["rows"].size(), 2u);
  EXPECT_GT(json["networks"][0]["ratio"].get<double>(), 0);
  ASSERT_EQ(json["machines"].size(), 2u);
  const auto number = [&](std::size_t row, const char* name) {
    return json["machines"][row][name].get<double>();
  };
  EXPECT_NEAR(number(0, "compute_us"), 10e6, 1);
  EXPECT_EQ(number(0, "exchange_us"), 0);
  EXPECT_LT(number(1, "compute_us"), 10e6);
  // More messages of 400 MB pass the link of the store than machines are.
  EXPECT_GT(number(1, "exchange_us"), 64 * 400e6 / (100e9 / 8) * 1e6);
}

TEST(ScaleCommand, PrintsItsAssumptions) {
  const ProgramResult result = run_program(kScaleCommand);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"in shards (us)", "gain of 2 threads", "processor (us)",
        "The exchange through the store", "numbers to add up",
        "Assumptions: a round trip takes 50 us"}) {
    EXPECT_TRUE(contains(result.out, part)) << part << "\n" << result.out;
  }
}

TEST(ScaleCommand, RejectsBadOptions) {
  expect_failure("bench scale --networks lenet", 2,
                 "the networks are lenet5 and uci, but got \"lenet\"");
  expect_failure("bench scale --weights 1000", 2,
                 "--weights and --compute describe one network");
  expect_failure("bench scale --bandwidth 0", 2, "--bandwidth positive");
  for (const std::string machines : {"0", "1000001", "2000000000"}) {
    expect_failure(
        "bench scale --machines " + machines, 2,
        "the number of machines must be from 1 to 1000000, but is " + machines);
  }
}

}  // namespace
}  // namespace radir
