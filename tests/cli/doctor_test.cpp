#include <gtest/gtest.h>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using testing::ProgramResult;
using testing::run_program;
using testing::TemporaryFolder;

TEST(DoctorCommand, ItsExitCodeSaysWhetherThereIsAProblem) {
  const ProgramResult result = run_program("doctor");
  const bool has_problem = contains(result.out, "problem");
  EXPECT_EQ(result.exit_code, has_problem ? 1 : 0) << result.out;
  EXPECT_EQ(result.err.empty(), !has_problem) << result.err;
  for (const char* subject : {"processor", "threads", "speed", "libtorch",
                              "cuda", "memory", "disk", "data"}) {
    EXPECT_TRUE(contains(result.out, subject)) << subject;
  }
}

TEST(DoctorCommand, AProblemComesWithItsFix) {
  const TemporaryFolder folder;
  folder.write("uci/yacht/data.txt", "1 2 3\n");
  const std::string option = "--data-dir " + folder.path();
  const ProgramResult result = run_program("doctor " + option);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "uci/yacht/data.txt: it has 6 bytes"))
      << result.out;
  EXPECT_TRUE(contains(result.out, "-> radir data fetch yacht " + option));
  EXPECT_TRUE(contains(result.err, "found; each is listed with its fix"));
  EXPECT_FALSE(contains(result.err, "bug")) << result.err;
}

TEST(DoctorCommand, ItsLineAboutTheMachineGoesIntoEveryRun) {
  const std::string document = run_program("doctor --json").out;
  const std::size_t begin = document.find("\"machine\": ");
  ASSERT_NE(begin, std::string::npos) << document;
  const std::string line =
      document.substr(begin, document.find('\n', begin) - begin - 1);
  const ProgramResult run = run_program(
      "train builtin:robot-arm --target distance --epochs 1 --out run",
      "run/config.json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.file, line)) << line << "\n" << run.file;
}

}  // namespace
}  // namespace radir
