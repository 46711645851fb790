#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/running_program.h"
#include "support/temporary_folder.h"

// `radir train --method hmc`, from a table to predictions.

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::TemporaryFolder;
using ::radir::testing::wave_table;
using Json = nlohmann::json;

class SamplingCommand : public ::testing::Test {
 protected:
  std::vector<std::string> train(const std::string& run,
                                 const std::string& target,
                                 const std::string& method = "hmc") const {
    return {"train",
            folder_.write("t.csv", wave_table(0, 150)),
            "--target",
            target,
            "--method",
            method,
            "--hidden",
            "10",
            "--warmup",
            "50",
            "--draws",
            "60",
            "--kept",
            "20",
            "--leapfrog-steps",
            "30",
            "--start-steps",
            "300",
            "--chains",
            "2",
            "--out",
            folder_ / run};
  }
  static std::string line(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }
  Json evaluate(const std::string& run) const {
    const std::string table = folder_.write("new.csv", wave_table(150, 300));
    const ProgramResult scores = run_program("evaluate '" + (folder_ / run) +
                                             "' '" + table + "' --json");
    EXPECT_EQ(scores.exit_code, 0) << scores.err;
    return Json::parse(scores.out);
  }

  TemporaryFolder folder_;
};

TEST_F(SamplingCommand, DrawsAreTheModel) {
  const ProgramResult trained = run_program(line(train("run", "y")) + "--json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json chains = Json::parse(trained.out)["metrics"]["chains"];
  EXPECT_EQ(chains["chains"], 2);
  EXPECT_GT(chains["acceptance"], 0.4);
  EXPECT_GE(chains["r_hat_mean"], 0.9);
  EXPECT_LT(chains["r_hat_mean"], 2);
  EXPECT_GT(chains["effective_draws"], 1);

  const Json scores = evaluate("run");
  // The noise has a standard deviation of 0.12; the target of 0.75.
  EXPECT_LT(scores["metrics"]["rmse"], 0.2);
  EXPECT_GT(scores["metrics"]["coverage_90"], 0.75);
  EXPECT_FALSE(scores.contains("first_network"));

  const ProgramResult predicted = run_program(
      "predict '" + (folder_ / "run") + "' '" + (folder_ / "new.csv") + "'");
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_TRUE(contains(predicted.out, "epistemic_sd"));
}

TEST_F(SamplingCommand, PrintsHowWellTheChainsAgree) {
  const ProgramResult trained = run_program(line(train("run", "y")));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, "chains      2, acceptance"))
      << trained.out;
  EXPECT_TRUE(contains(trained.out, "R-hat")) << trained.out;
  EXPECT_TRUE(contains(read_bytes(folder_ / "run/report.html"),
                       "finished, 2 chains, "));
}

TEST_F(SamplingCommand, Classes) {
  const ProgramResult trained =
      run_program(line(train("run", "sign")) + "--family gaussian");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  // The column y tells the class.
  EXPECT_LT(evaluate("run")["metrics"]["error"], 0.1);
}

TEST_F(SamplingCommand, BatchesAreSampledWithAWarning) {
  const ProgramResult trained =
      run_program(line(train("run", "y", "sghmc")) +
                  "--batch 30 --mixture-weights stacked");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out,
                       "chains      2, without an acceptance "
                       "test: the draws are biased by"))
      << trained.out;
  EXPECT_TRUE(
      contains(trained.out, " of the networks or chains, by held-out rows"))
      << trained.out;
  EXPECT_TRUE(contains(read_bytes(folder_ / "run/report.html"),
                       "finished, 2 chains, "));
  const Json scores = evaluate("run")["metrics"];
  // As for hmc.
  EXPECT_LT(scores["rmse"], 0.2);
  EXPECT_GT(scores["coverage_90"], 0.75);
}

class StoppedSampling : public SamplingCommand,
                        public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Methods, StoppedSampling,
                         ::testing::Values("hmc", "sghmc"),
                         [](const auto& one) {
                           return std::string(one.param);
                         });

TEST_P(StoppedSampling, ComesToTheSameBytes) {
  ASSERT_EQ(run_program(line(train("all", "y", GetParam()))).exit_code, 0);
  std::vector<std::string> words = train("part", "y", GetParam());
  words.insert(words.end(), {"--checkpoint-every", "5ms"});
  {
    RunningProgram program(words);
    ASSERT_TRUE(program.waits_for(folder_ / "part/checkpoint-1.safetensors"))
        << program.err();
    program.send(SIGTERM);
    program.wait();  // it may have been quicker
  }
  const ProgramResult resumed =
      run_program("train --resume '" + (folder_ / "part") + "'");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_bytes(folder_ / "part/model.safetensors"),
            read_bytes(folder_ / "all/model.safetensors"));
}

TEST_F(SamplingCommand, RefusesToTuneAndToPrune) {
  expect_failure(line(train("tuned", "y")) + "--tune", 2, "without tuning");
  ASSERT_EQ(run_program(line(train("run", "y"))).exit_code, 0);
  expect_failure(
      "prune '" + (folder_ / "run") + "' --out '" + (folder_ / "small") + "'",
      5, "with the method rdp to prune it");
}

TEST_F(SamplingCommand, RefusesAFamilyWithoutAPrior) {
  expect_failure(
      line(train("run", "y")) + "--family group-lasso --output-layer same", 5,
      "no prior that can be sampled");
}

}  // namespace
}  // namespace radir
