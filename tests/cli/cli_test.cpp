#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "radir/core/version.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;

TEST(Cli, VersionIsTheLibrarys) {
  EXPECT_EQ(run_program("--version").out, std::string(version()) + "\n");
  const ProgramResult result = run_program("version");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, std::string("radir ") + version()));
  const auto json = nlohmann::json::parse(run_program("version --json").out);
  EXPECT_EQ(json["version"], version());
}

TEST(Cli, EveryCommandHasHelpWithAnExampleAndTheCommonOptions) {
  for (const char* command :
       {"version", "reproduce figures", "bench math", "bench calibration",
        "bench sbc", "bench scale", "data list", "data fetch", "doctor"}) {
    const ProgramResult result = run_program(command + std::string(" --help"));
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.err, "") << command;
    const std::string example = std::string("Example:\n  radir ") + command;
    EXPECT_TRUE(contains(result.out, example)) << result.out;
    for (const char* option : {"--seed", "--threads", "--device", "--json"}) {
      EXPECT_TRUE(contains(result.out, option)) << command << " " << option;
    }
  }
}

TEST(Cli, HelpListsTheCommands) {
  const ProgramResult result = run_program("--help");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* command :
       {"version", "reproduce", "bench", "data", "doctor"}) {
    EXPECT_TRUE(contains(result.out, command)) << command;
  }
}

TEST(Cli, WithoutACommandItShowsHelpAndFails) {
  for (const char* arguments : {"", "reproduce", "bench", "data"}) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_TRUE(contains(result.err, "Usage: radir")) << result.err;
  }
}

TEST(Cli, SuggestsTheNearestName) {
  expect_failure("reprodcue figures", 2,
                 "unknown command \"reprodcue\"; did you mean \"reproduce\"? "
                 "(see radir --help)");
  expect_failure("reproduce figurs", 2,
                 "\"figurs\"; did you mean \"figures\"? (see radir reproduce "
                 "--help)");
  expect_failure("reproduce figures --outt=x.html", 2,
                 "unknown option \"--outt\"; did you mean \"--out\"?");
  expect_failure("version --jsn", 2, "did you mean \"--json\"?");
}

TEST(Cli, SuggestsNothingFarFetched) {
  const ProgramResult result = run_program("xylophone");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_FALSE(contains(result.err, "did you mean")) << result.err;
  expect_failure("version 7", 2, "unexpected argument \"7\"");
  expect_failure("inspect \"$(printf '\\377')\"", 2, "is not valid UTF-8");
}

TEST(Cli, RejectsBadOptionValues) {
  expect_failure("version --threads=many", 2, "--threads");
  expect_failure("version --threads=-1", 2, "--threads");
  expect_failure("version --seed=-1", 2, "--seed");
  expect_failure("reproduce figures --out", 2, "--out");
}

TEST(Cli, ADeviceThatIsMissingIsExitCode5) {
  for (const char* device : {"cpu", "auto"}) {
    EXPECT_EQ(run_program("version --device " + std::string(device)).exit_code,
              0)
        << device;
  }
  expect_failure("version --device cuda", 5,
                 "the command version computes on the CPU; leave the option "
                 "out");
  expect_failure("version --device=gpu", 2,
                 "must be cpu, cuda or auto, but is \"gpu\"");
}

TEST(Cli, WhereThereIsNoGpuCommandsThatUseOneSayWhatToDo) {
  for (const char* command :
       {"train builtin:robot-arm --target distance --method rdp",
        "bench step"}) {
    const ProgramResult result =
        run_program(std::string(command) + " --device cuda");
    if (result.exit_code == 0) GTEST_SKIP() << "there is a GPU";
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_NE(result.err.find("--device cpu"), std::string::npos) << result.err;
  }
}

TEST(Cli, FiguresWritesOneSelfContainedPage) {
  const ProgramResult result =
      run_program("reproduce figures --out page.html", "page.html");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(result.err, "page.html")) << result.err;
  EXPECT_TRUE(contains(result.file, "<!DOCTYPE html>"));
  EXPECT_TRUE(contains(result.file, "</html>"));
  for (const char* part : {"<script", "src=", "href="}) {
    EXPECT_FALSE(contains(result.file, part)) << part;
  }
}

TEST(Cli, FiguresNamesThePageInItsJson) {
  const ProgramResult result =
      run_program("reproduce figures --json --out p.html");
  EXPECT_EQ(nlohmann::json::parse(result.out)["page"], "p.html");
  EXPECT_EQ(result.err, "");
}

TEST(Cli, AFileThatCannotBeWrittenIsExitCode4) {
  expect_failure("reproduce figures --out no/such/folder/page.html", 4,
                 "no/such/folder");
}

TEST(Cli, BenchMathPrintsTimesAndErrorsOfEveryMethod) {
  const std::string small =
      "bench math --dimensions 10 --values 64 --repetitions 3";
  const ProgramResult text = run_program(small);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "Nanoseconds per value")) << text.out;
  EXPECT_TRUE(contains(text.out, "Largest error in eps")) << text.out;

  const ProgramResult json = run_program(small + " --json");
  const auto document = nlohmann::json::parse(json.out);
  // Three methods in two precisions; where Boost was built in, its own default
  // and kept to double.
  const bool with_boost = !contains(text.out, "not built in");
  ASSERT_EQ(document["rows"].size(), with_boost ? 8u : 6u);
  for (const auto& row : document["rows"]) {
    EXPECT_EQ(row["m"], 10);
    EXPECT_GT(row["ns_per_value"], 0.0);
    if (row["method"] == "array") {
      EXPECT_LE(row["error_eps"], 8.0);
    }
  }
  expect_failure("bench math --dimensions 1", 2, "1");
  expect_failure("bench math --repetitions 0", 2, "repetitions");
}

}  // namespace
}  // namespace radir
