#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;

TEST(Arguments, AnOptionBeforeItsCommandIsToldItsPlace) {
  expect_failure("--seed 3 version", 2,
                 "--seed must follow the command it belongs to: radir version "
                 "... --seed");
  expect_failure("--json=true bench math", 2, "radir bench math ... --json");
}

TEST(Arguments, WrongNumbersAndChoicesAreExplained) {
  for (const char* seed : {"18446744073709551616", "99999999999999999999999",
                           "-1", "1.5", "1e3", "many", "''"}) {
    expect_failure(std::string("version --seed ") + seed, 2,
                   "--seed: must be an integer from 0 to 18446744073709551615, "
                   "but is \"");
  }
  EXPECT_EQ(run_program("version --seed 18446744073709551615").exit_code, 0);
  expect_failure("version --threads 1025", 2,
                 "--threads: must be an integer from 0 (all) to 1024, but is "
                 "\"1025\"");
  expect_failure("train t.csv --target y --epochs 9223372036854775808", 2,
                 "--epochs: must be an integer from");
  expect_failure("train t.csv --target y --hidden 5,many", 2,
                 "--hidden: must be an integer from");
  expect_failure("train t.csv --target y --learning-rate fast", 2,
                 "--learning-rate: must be a number, but is \"fast\"");
  expect_failure("train t.csv --target y --learning-rate 1e999", 2,
                 "--learning-rate: must be a number");
  expect_failure("export run --onnx f --weights middle", 2,
                 "--weights must be mean or mode, but is \"middle\"");
}

TEST(Arguments, WhatIsMissingOrTooMuchIsNamed) {
  expect_failure("train t.csv --target y --shards x", 2,
                 "--shards: must be an integer from 0 to 1024, but is \"x\"");
  expect_failure("launch --workers x -- version", 2,
                 "--workers: must be an integer from 1 to 1000, but is \"x\"");
  expect_failure("reproduce uci --restarts 0", 2,
                 "--restarts: must be an integer from 1 to 1000, but is \"0\"");
  expect_failure("reproduce uci --restarts", 2,
                 "--restarts needs a value: --restarts N");
  expect_failure("train --target", 2,
                 "--target needs a value: --target COLUMN,... (see radir ");
  expect_failure("version --json=maybe", 2,
                 "--json takes no value, but has \"maybe\"");
  expect_failure("version --seed 1 --seed 2", 2,
                 "--seed takes one value, but is given 2");
  expect_failure("predict", 2,
                 "RUN|MODEL is missing (see radir predict --help)");
  expect_failure("predict run", 2, "TABLE is missing");
  expect_failure("prune run", 2, "--out FILE is missing");
  expect_failure("export run --onnx f --samples 5", 2,
                 "--samples needs --everything");
}

TEST(Arguments, HelpIsACommandToo) {
  EXPECT_EQ(run_program("help help").out, run_program("--help").out);
  EXPECT_EQ(run_program("help").out, run_program("--help").out);
  EXPECT_EQ(run_program("help train").out, run_program("train --help").out);
  EXPECT_EQ(run_program("help bench math").out,
            run_program("bench math --help").out);
  expect_failure("help trian", 2, "did you mean \"train\"?");
}

TEST(Arguments, AGroupHasItsOwnHelpAndExample) {
  for (const char* name : {"bench", "reproduce", "data"}) {
    const std::string group = name;
    const std::string help = run_program(group + " --help").out;
    EXPECT_TRUE(contains(help, "Example:\n  radir " + group + " ")) << help;
    const ProgramResult bare = run_program(group);
    EXPECT_EQ(bare.exit_code, 2);
    EXPECT_EQ(bare.err, help);
  }
}

TEST(Arguments, AWrongInstructionSetIsNotTheModelsFault) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  ASSERT_EQ(run_program("train '" + table + "' --target y --epochs 1 --out '" +
                        run + "'")
                .exit_code,
            0);
  const ProgramResult result =
      run_program("inspect '" + run + "'", "", "export RADIR_ISA=sse9");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "radir: RADIR_ISA must be generic, avx2 or avx512, but is "
            "\"sse9\"\n");
  EXPECT_EQ(run_program("version", "", "export RADIR_ISA=sse9").out, "");
}

TEST(Arguments, AFolderThatWasThereStaysAfterAFailure) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  std::filesystem::create_directory(run);
  const std::string begin =
      "train '" + table + "' --target y --out '" + run + "' ";
  expect_failure(begin + "--epochs 20 --learning-rate 1e38 --json", 3,
                 "cannot be drawn");
  EXPECT_TRUE(std::filesystem::is_empty(run));
  EXPECT_EQ(run_program(begin + "--epochs 1").exit_code, 0);
}

}  // namespace
}  // namespace radir
