#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;

/// Prices from 1 to 150, of which 10 % is noise.
std::string prices(int from, int to) {
  std::ostringstream text;
  text << "size,price\n";
  std::mt19937 random(from);
  std::normal_distribution<double> noise(0, 0.1);
  for (int i = from; i < to; ++i) {
    const double size = i * 37 % 101 / 101.0;
    text << size << "," << std::exp(5 * size + noise(random)) << "\n";
  }
  return text.str();
}

class TargetScale : public ::testing::Test {
 protected:
  std::string run_path() const { return folder_ / run_; }
  ProgramResult train(const std::string& more) {
    return run_program("train '" + folder_.write("t.csv", prices(0, 200)) +
                       "' --target price --method rdp --steps 4000 --out '" +
                       run_path() + "' " + more);
  }
  Json evaluate() {
    const ProgramResult result =
        run_program("evaluate '" + run_path() + "' '" +
                    folder_.write("new.csv", prices(200, 400)) + "' --json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out)["metrics"];
  }

  TemporaryFolder folder_;
  std::string run_ = "run";
};

TEST_F(TargetScale, ALongTailIsPredictedOnALogarithmicScale) {
  const ProgramResult trained = train("");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, "rdp with gaussian noise of the logarithm"))
      << trained.out;
  const Json metrics = evaluate();
  // A short training leaves the noise a little too large.
  EXPECT_GT(metrics["coverage_90"], 0.86);
  EXPECT_LT(metrics["coverage_90"], 0.99);

  // No price is below 0, and noise grows with the price.
  const ProgramResult predicted = run_program(
      "predict '" + run_path() + "' '" +
      folder_.write("two.csv", "size\n0.1\n0.9\n") + "' --quantiles 0.001,0.5");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  std::istringstream lines(predicted.out);
  std::string line;
  std::getline(lines, line);
  double deviations[2], lower[2];
  for (int row = 0; row < 2; ++row) {
    std::getline(lines, line);
    double mean = 0, epistemic = 0, aleatoric = 0;
    int number = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str(), "%d,%lf,%lf,%lf,%lf,%lf", &number, &mean,
                    &deviations[row], &epistemic, &aleatoric, &lower[row]),
        6)
        << line;
    EXPECT_NEAR(deviations[row] * deviations[row],
                epistemic * epistemic + aleatoric * aleatoric,
                1e-3 * deviations[row] * deviations[row]);
  }
  EXPECT_GT(lower[0], 0);
  EXPECT_GT(deviations[1], 5 * deviations[0]);

  const ProgramResult inspected = run_program("inspect '" + run_path() + "'");
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  // What the file predicts is compared in tests/onnx.
  const ProgramResult exported =
      run_program("export '" + run_path() + "' --everything --onnx '" +
                  (folder_ / "all.onnx") + "'");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
}

TEST_F(TargetScale, TheOwnScaleCanBeAskedFor) {
  ASSERT_EQ(train("--no-holdout").exit_code, 0);
  const double logarithm = evaluate()["log_likelihood"];
  run_ = "own";
  ASSERT_EQ(train("--no-holdout --target-scale own").exit_code, 0);
  const double own = evaluate()["log_likelihood"];
  EXPECT_GT(logarithm, own + 0.5);
}

TEST_F(TargetScale, GoesWithConformalIntervals) {
  const ProgramResult trained = train("--target-scale log --conformal");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const double coverage = evaluate()["coverage_90"];
  // Of 39 rows set aside or more: three standard errors.
  EXPECT_NEAR(coverage, 0.9, 0.15);
}

TEST_F(TargetScale, WhatHasNoLogarithmIsRefused) {
  const std::string table =
      "'" + folder_.write("n.csv", "x,y\n1,2\n2,-1\n3,4\n4,9\n5,7\n") + "'";
  expect_failure("train " + table + " --target y --target-scale log --out '" +
                     run_path() + "'",
                 4, "row 2 has the target -1");
  expect_failure(
      "train " + table + " --target y --target-scale log --likelihood mixture",
      2, "supports no target_scale log");
  const std::string classes =
      "'" + folder_.write("c.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n") + "'";
  expect_failure("train " + classes + " --target y --target-scale log --out '" +
                     run_path() + "'",
                 2, "the target \"y\" has classes");
  expect_failure("train " + table + " --target y --target-scale sqrt", 2,
                 "target-scale");
}

}  // namespace
}  // namespace radir
