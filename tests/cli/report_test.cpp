#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/running_program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::small_table;
using ::radir::testing::TemporaryFolder;

class ReportCommand : public ::testing::Test {
 protected:
  void SetUp() override { table_ = folder_.write("t.csv", small_table()); }

  void train(const std::string& more) {
    const ProgramResult trained =
        run_program("train '" + table_ + "' --target y --hidden 3 --out '" +
                    run_ + "' " + more);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }

  void expect_page(const std::vector<std::string>& parts) {
    const ProgramResult result = run_program("report '" + run_ + "'");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string page = read_bytes(run_ + "/report.html");
    for (const std::string& part : parts) {
      EXPECT_TRUE(contains(page, part)) << part;
    }
  }

  TemporaryFolder folder_;
  std::string table_;
  std::string run_ = folder_ / "houses";
};

TEST_F(ReportCommand, ShowsAFinishedRun) {
  train("--epochs 30 --restarts 2");
  expect_page({"Run houses", "finished, 2 networks, 60 epochs in all", "<svg",
               "network 2", "divergence from the prior",
               "13 weights and biases", "radial-directional", "data.rows"});
  const std::string file = folder_ / "page.html";
  const ProgramResult result =
      run_program("report '" + run_ + "' --json --out '" + file + "'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["file"], file);
  EXPECT_EQ(json["missing"], "");
  EXPECT_EQ(read_bytes(file), read_bytes(run_ + "/report.html"));
}

TEST_F(ReportCommand, EveryTrainingWritesAPageThatAnswersQuestions) {
  train("--epochs 200 --method rdp");
  const std::string page = read_bytes(run_ + "/report.html");
  for (const char* part :
       {"<p class=\"headline\">Typical error ± ", "of 40 held-out rows",
        "<h2>Scores</h2>", "Predicted against actual", "Calibration", "95 %",
        "Distribution of the residuals", "Which columns matter",
        "Effect of the first columns", "Most uncertain held-out rows",
        "How each column was read", "<h2>Loss</h2>",
        "<summary><h2>Settings</h2></summary>"}) {
    EXPECT_TRUE(contains(page, part)) << part;
  }
  // New rows come first.
  const std::string test = folder_.write("new.csv", small_table());
  const ProgramResult result =
      run_program("report '" + run_ + "' --test '" + test + "'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string more = read_bytes(run_ + "/report.html");
  EXPECT_TRUE(contains(more, "40 rows of " + test));
  EXPECT_LT(more.find("Scores of new rows"), more.find("<h2>Scores</h2>"));
  expect_failure("report '" + run_ + "' --test /nowhere.csv", 4, "/nowhere");
}

TEST_F(ReportCommand, WithoutHeldOutRowsThereAreNoScores) {
  train("--epochs 30 --no-holdout");
  const std::string page = read_bytes(run_ + "/report.html");
  EXPECT_FALSE(contains(page, "<h2>Scores</h2>"));
  EXPECT_TRUE(contains(page, "Which columns matter"));
}

TEST_F(ReportCommand, NamesADamagedFileOfFindings) {
  train("--epochs 3");
  folder_.write("houses/holdout.json", "{\"parts\": 1}");
  expect_failure("report '" + run_ + "'", 4, "holdout.json");
  std::filesystem::remove(run_ + "/holdout.json");
  folder_.write("houses/effects.json", "[]");
  expect_failure("report '" + run_ + "'", 4, "effects.json");
}

TEST_F(ReportCommand, ShowsARunOfOneEpoch) {
  train("--epochs 1");
  expect_page({"t.csv: finished, 1 epoch.", "<svg"});
}

TEST_F(ReportCommand, ShowsHowFarARunningOneHasCome) {
  RunningProgram program({"train", table_, "--target", "y", "--epochs",
                          "10000000", "--checkpoint-every", "1ms", "--out",
                          run_});
  ASSERT_TRUE(program.waits_for(run_ + "/checkpoint.safetensors"))
      << program.err();
  expect_page({"unfinished", "--resume " + run_});
  program.send(SIGTERM);
  EXPECT_EQ(program.wait(), 143) << program.err();
  expect_page({"unfinished, ", " epochs.", "<svg"});
  EXPECT_TRUE(std::filesystem::exists(run_ + "/checkpoint.safetensors"));
}

TEST_F(ReportCommand, RefusesWhatIsNoRun) {
  expect_failure("report '" + folder_.path() + "'", 4,
                 "contains no config.json");
  expect_failure("report " + (folder_ / "nowhere"), 4,
                 "contains no config.json");
  folder_.write("houses/config.json", "{}");
  expect_failure("report '" + run_ + "'", 4, "contains no valid command");
  folder_.write("houses/config.json", "{");
  expect_failure("report '" + run_ + "'", 4, "config.json");
}

TEST_F(ReportCommand, NamesTheLineThatIsDamaged) {
  train("--epochs 3");
  const std::string metrics = read_bytes(run_ + "/metrics.jsonl");
  const std::string first = metrics.substr(0, metrics.find('\n') + 1);
  folder_.write("houses/metrics.jsonl", first + "{\"epoch\": 2\n");
  expect_failure("report '" + run_ + "'", 4, "metrics.jsonl, line 2");
  folder_.write("houses/metrics.jsonl", first + "{\"network\": 1e300}\n");
  expect_failure("report '" + run_ + "'", 4,
                 "metrics.jsonl, line 2: \"network\" must be an integer");
}

TEST_F(ReportCommand, SaysWhenThePageCannotBeWritten) {
  train("--epochs 1");
  expect_failure("report '" + run_ + "' --out /nowhere/page.html", 4,
                 "/nowhere");
}

}  // namespace
}  // namespace radir
