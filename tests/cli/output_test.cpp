#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::run_program_into;
using ::radir::testing::TemporaryFolder;

// A full disk under standard output: each command says so, whatever it prints.
TEST(StandardOutput, AFailedWriteIsExitCode4) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  const std::string both = "'" + run + "' '" + table + "'";
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), std::string("version"),
        std::string("version --json"), std::string("data list"),
        std::string("doctor --json"),
        "train '" + table + "' --target y --epochs 2 --out '" + run + "'",
        "train '" + table + "' --target y --epochs 2 --json --out '" +
            (folder / "other") + "'",
        "predict " + both, "evaluate " + both, "inspect '" + run + "'",
        "export '" + run + "' --onnx '" + (folder / "net.onnx") + "'"}) {
    const ProgramResult result = run_program_into("/dev/full", arguments);
    EXPECT_EQ(result.exit_code, 4) << arguments << "\n" << result.err;
    EXPECT_TRUE(contains(result.err,
                         "radir: cannot write to standard output: the disk or "
                         "quota is full"))
        << arguments << "\n"
        << result.err;
  }
}

TEST(StandardOutput, ARunIsStoredEvenIfItsFiguresCannotBePrinted) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  run_program_into(
      "/dev/full",
      "train '" + table + "' --target y --epochs 2 --out '" + run + "'");
  EXPECT_EQ(run_program("inspect '" + run + "'").exit_code, 0);
}

// The first file that a run opens would get the free descriptor, and with it
// what is printed.
TEST(StandardOutput, AClosedOneIsNoFileOfTheRun) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  const std::string err = folder / "err";
  const std::string code = folder / "code";
  const std::string command = "'" RADIR_PROGRAM "' train '" + table +
                              "' --target y --epochs 2 --out '" + run +
                              "' >&- 2>'" + err + "'; echo $? >'" + code + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(testing::read_bytes(code), "4\n");
  const std::string message = testing::read_bytes(err);
  EXPECT_TRUE(contains(message, "radir: cannot write to standard output"))
      << message;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
    EXPECT_FALSE(contains(testing::read_bytes(entry.path()), "held-out rows  "))
        << entry.path();
  }
}

// As any program in a pipe whose reader has gone.
TEST(StandardOutput, AClosedPipeEndsItBySignal) {
  const TemporaryFolder folder;
  const std::string code = folder / "code";
  const std::string command = "{ sleep 0.2; '" RADIR_PROGRAM
                              "' --help; echo $? >'" +
                              code + "'; } | true";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(testing::read_bytes(code), std::to_string(128 + SIGPIPE) + "\n");
}

}  // namespace
}  // namespace radir
