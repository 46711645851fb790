#include "radir/bench/bench_calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using testing::expect_error;

BenchCalibrationOptions small() {
  BenchCalibrationOptions options;
  options.processes = {"sine-gap", "linear"};
  options.rows = {30};
  options.hidden = {{4}, {3, 3}};
  options.methods = {"rdp", "mean-field"};
  options.seeds = 3;
  options.test_rows = 20;
  options.steps = 50;
  return options;
}

void expect_same(const std::vector<BenchCalibrationRow>& a,
                 const std::vector<BenchCalibrationRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].regions.size(), b[i].regions.size());
    for (std::size_t r = 0; r < a[i].regions.size(); ++r) {
      for (const CalibrationMean& mean : a[i].regions[r].means) {
        const CalibrationMean& other = b[i].regions[r][mean.name];
        EXPECT_EQ(mean.mean, other.mean) << mean.name;
        EXPECT_EQ(mean.standard_error, other.standard_error) << mean.name;
      }
    }
  }
}

TEST(BenchCalibration, DependsOnTheSeedAlone) {
  BenchCalibrationOptions options = small();
  const auto rows = bench_calibration(options);
  ASSERT_EQ(rows.size(), 2u * 2 * 2);
  EXPECT_EQ(rows[0].process, "sine-gap");
  EXPECT_EQ(rows[0].regions.size(), 3u);
  EXPECT_EQ(rows[2].hidden, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(rows[4].process, "linear");
  EXPECT_EQ(rows[5].method, "mean-field");
  EXPECT_EQ(rows[5].seeds, 3);
  EXPECT_EQ(rows[5].failed, 0);
  EXPECT_GT(rows[0].regions[0]["rmse"].standard_error, 0);
  EXPECT_NE(rows[0].regions[0]["rmse"].mean, rows[1].regions[0]["rmse"].mean);

  ThreadPool pool(3);
  std::int64_t finished = 0;
  double share = 0;
  expect_same(rows,
              bench_calibration(options, &pool,
                                [&](const BenchCalibrationRow& row, double s) {
                                  EXPECT_EQ(row.seeds, 3);
                                  EXPECT_GT(s, share);
                                  share = s;
                                  ++finished;
                                }));
  EXPECT_EQ(finished, 8);
  EXPECT_EQ(share, 1);

  // Neither the other processes nor the other methods matter.
  options.processes = {"linear"};
  options.hidden = {{3, 3}};
  options.methods = {"mean-field"};
  expect_same({rows[7]}, bench_calibration(options));
  options.seed = 1;
  EXPECT_NE(bench_calibration(options)[0].regions[0]["rmse"].mean,
            rows[7].regions[0]["rmse"].mean);
}

TEST(BenchCalibration, ParsesNetworks) {
  EXPECT_EQ(parse_hidden("50"), (std::vector<std::int64_t>{50}));
  EXPECT_EQ(parse_hidden("100x20"), (std::vector<std::int64_t>{100, 20}));
  EXPECT_EQ(hidden_text({100, 20}), "100x20");
  for (const char* text : {"", "x", "5x", "x5", "5,5", "-5", "0", "99999999"}) {
    expect_error<ArgumentError>([&] { parse_hidden(text); },
                                "such as 50 or 100x100");
  }
}

TEST(BenchCalibration, RejectsBadOptions) {
  const auto run = [](auto change) {
    BenchCalibrationOptions options = small();
    change(options);
    bench_calibration(options);
  };
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.methods = {"meanfield"}; }); },
      "did you mean \"mean-field\"?");
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.processes = {"sine"}; }); },
      "there is no process \"sine\"");
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.seeds = 0; }); }, "seeds");
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.rows = {5}; }); }, "rows");
  expect_error<ArgumentError>([] { CalibrationRegion()["rmse"]; },
                              "no score \"rmse\"");
}

}  // namespace
}  // namespace radir::bench
