#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;

// Address space is a limit of the sanitizers' own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RADIR_SKIP_LIMITS GTEST_SKIP() << "the sanitizer needs the memory"
#else
#define RADIR_SKIP_LIMITS
#endif

TEST(Limits, ThreadsThatCannotBeStartedAreDoneWithout) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const ProgramResult result = run_program(
      "train '" + table + "' --target y --epochs 20 --threads 200 --out run",
      "run/model.safetensors", "ulimit -v 400000");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "of 200 threads could not be started"))
      << result.err;
  const ProgramResult alone =
      run_program("train '" + table + "' --target y --epochs 20 --out run",
                  "run/model.safetensors");
  EXPECT_EQ(result.file, alone.file);
}

TEST(Limits, ATableOfCategoriesIsRefusedWithAnEstimate) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  constexpr int kColumns = 60;
  std::string text;
  for (int j = 0; j < kColumns; ++j) text += "c" + std::to_string(j) + ",";
  text += "y\n";
  for (int i = 0; i < 30000; ++i) {  // 32 inputs for each category
    for (int j = 0; j < kColumns; ++j) {
      text += {static_cast<char>('A' + (i * (2 * j + 1) + j) % 32), ','};
    }
    text += std::to_string(i % 7) + "\n";
  }
  const std::string table = folder.write("t.csv", text);
  const ProgramResult result =
      run_program("train '" + table + "' --target y --threads 1 --out run", "",
                  "ulimit -v 200000");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_TRUE(contains(result.err, "GiB of memory, but only 0.")) << result.err;
}

TEST(Limits, DrawsThatDoNotFitAreRefusedWithAnEstimate) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = " '" + (folder / "run") + "' ";
  ASSERT_EQ(run_program("train '" + table +
                        "' --target y --method rdp --epochs 2 --out" + run)
                .exit_code,
            0);
  for (const std::string command : {"predict", "evaluate"}) {
    const ProgramResult result = run_program(
        command + run + "'" + table + "' --threads 1 --samples 5000000", "",
        "ulimit -v 1000000");
    EXPECT_EQ(result.exit_code, 6) << result.err;
    EXPECT_TRUE(contains(result.err,
                         "the drawn weights of all networks would "
                         "take "))
        << result.err;
  }
}

// Their bytes are 0, or few, modulo 2^64.
TEST(Limits, NumbersOfDrawsBeyondAnyMemoryAreRefused) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = " '" + (folder / "run") + "' ";
  ASSERT_EQ(run_program("train '" + table +
                        "' --target y --method rdp --restarts 2 --epochs 2 "
                        "--no-holdout --out" +
                        run)
                .exit_code,
            0);
  for (const std::string samples :
       {"4611686018427387904", "9223372036854775807", "10000000000000000"}) {
    for (const std::string& command :
         {"predict" + run + "'" + table + "'",
          "evaluate" + run + "'" + table + "'",
          "export" + run + "--everything --onnx net.onnx"}) {
      const ProgramResult result =
          run_program(command + " --threads 1 --samples " + samples);
      EXPECT_EQ(result.exit_code, 6) << command << result.err;
      EXPECT_TRUE(contains(result.err, "GiB of memory, but only "))
          << command << result.err;
    }
  }
}

TEST(Limits, ANetworkThatDoesNotFitIsRefusedWithAnEstimate) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const ProgramResult result =
      run_program("train '" + table +
                      "' --target y --method rdp --epochs 1 --no-holdout "
                      "--hidden 20000,20000 --out run",
                  "", "ulimit -v 4000000");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_TRUE(contains(result.err, "the training of this network would take "))
      << result.err;
}

TEST(Limits, AModelThatDoesNotFitIsNoDamagedFile) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  const std::string model = folder.write("big.safetensors", "");
  std::filesystem::resize_file(model, 600000000);
  const ProgramResult result =
      run_program("inspect '" + model + "'", "", "ulimit -v 400000");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_TRUE(contains(result.err, "there is no memory for its 600000000 "))
      << result.err;
}

// Stacks of threads that are larger than all the memory there is.
TEST(Limits, AJobWithoutThreadsIsNoBug) {
  RADIR_SKIP_LIMITS;
  const ProgramResult result =
      run_program("launch --workers 2 -- version", "",
                  "ulimit -s 4000000 && ulimit -v 3000000");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_TRUE(contains(result.err, "cannot start a thread for the store of "))
      << result.err;
}

TEST(Limits, RunningOutOfMemoryIsNoBug) {
  RADIR_SKIP_LIMITS;
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", testing::small_table());
  const ProgramResult result = run_program(
      "train '" + table +
          "' --target y --method rdp --epochs 1 --no-holdout --hidden 1000000 "
          "--threads 1 --out run",
      "", "ulimit -v 700000");
  EXPECT_EQ(result.exit_code, 6) << result.err;
  EXPECT_TRUE(contains(result.err, "radir: out of memory; ")) << result.err;
}

}  // namespace
}  // namespace radir
