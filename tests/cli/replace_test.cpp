#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/program.h"
#include "radir/data/builtin_data.h"
#include "radir/data/idx.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

namespace fs = std::filesystem;
using ::radir::testing::expect_failure;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;

class Replace : public ::testing::Test {
 protected:
  void SetUp() override {
    table_ = folder_.write("t.csv", testing::small_table());
    ASSERT_EQ(run_program("train '" + table_ +
                          "' --target y --epochs 2 --out '" + run_ + "'")
                  .exit_code,
              0);
  }

  std::string predict(const std::string& out) const {
    return "predict '" + run_ + "' '" + table_ + "' --out '" + out + "'";
  }

  TemporaryFolder folder_;
  std::string table_;
  std::string run_ = folder_ / "run";
};

TEST_F(Replace, NoInputIsOverwritten) {
  const std::string before = read_bytes(table_);
  expect_failure(predict(table_), 2, "is the file that is read");
  fs::create_symlink(table_, folder_ / "link.csv");
  expect_failure(predict(folder_ / "link.csv"), 2, "is the file that is read");
  EXPECT_EQ(read_bytes(table_), before);
  const std::string model = run_ + "/model.safetensors";
  expect_failure("prune '" + run_ + "' --out '" + model + "'", 2,
                 "is the file that is read");
  expect_failure("export '" + run_ + "' --onnx '" + model + "'", 2,
                 "is the file that is read");
}

TEST_F(Replace, NoInputIsOverwrittenByForceEither) {
  const auto keeps = [](const std::string& file, const std::string& command) {
    const std::string before = read_bytes(file);
    ASSERT_FALSE(before.empty()) << file;
    expect_failure(command + " --out '" + file + "' --force", 2,
                   "is the file that is read");
    EXPECT_EQ(read_bytes(file), before) << command;
  };
  const std::string run = " '" + run_ + "' ";
  for (const char* name : {"model.safetensors", "config.json", "metrics.jsonl",
                           "effects.json", "holdout.json"}) {
    keeps(run_ + "/" + name, "report" + run);
    keeps(run_ + "/" + name, "predict" + run + "'" + table_ + "'");
    keeps(run_ + "/" + name, "prune" + run);
  }
  expect_failure("export" + run + "--force --onnx '" + run_ + "/config.json'",
                 2, "is the file that is read");
  keeps(table_, "report" + run + "--test '" + table_ + "'");
  keeps(table_, "predict" + run + "- < '" + table_ + "'");
  fs::create_directory(folder_ / "img");
  data::write_idx_folder(folder_ / "img", data::make_digits_dataset(20, 10, 1));
  const std::string images = "prune" + run + "--data ";
  keeps(folder_ / "img/train-images-idx3-ubyte",
        images + "'" + (folder_ / "img") + "'");
  keeps(folder_ / "img/t10k-labels-idx1-ubyte",
        images + "img --data-dir '" + folder_.path() + "'");
  // What a user put there is no part of a run.
  const std::string page = folder_.write("run/mine.html", "page");
  EXPECT_EQ(
      run_program("report" + run + "--force --out '" + page + "'").exit_code,
      0);
}

TEST_F(Replace, TheModeOfAFileStays) {
  const std::string out = folder_.write("p.csv", "secret");
  ASSERT_EQ(::chmod(out.c_str(), 0600), 0);
  ASSERT_EQ(run_program(predict(out) + " --force").exit_code, 0);
  struct stat status;
  ASSERT_EQ(::stat(out.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Replace, AFileWithContentsIsReplacedWhenAskedTo) {
  const std::string out = folder_.write("out", "precious");
  const std::string run = " '" + run_ + "' ";
  const std::string commands[] = {predict(out),
                                  "prune" + run + "--out '" + out + "'",
                                  "export" + run + "--onnx '" + out + "'",
                                  "report" + run + "--out '" + out + "'",
                                  "reproduce figures --out '" + out + "'"};
  for (const std::string& command : commands) {
    expect_failure(command, 2, "already exists; choose another path, or add ");
    EXPECT_EQ(read_bytes(out), "precious");
    EXPECT_EQ(run_program(command + " --force").exit_code, 0) << command;
    EXPECT_NE(read_bytes(out), "precious") << command;
    folder_.write("out", "precious");
  }
  folder_.write("out", "");  // as mktemp leaves it
  EXPECT_EQ(run_program(predict(out)).exit_code, 0);
  // The page of a run is its own.
  EXPECT_EQ(run_program("report" + run).exit_code, 0);
  EXPECT_EQ(run_program("report" + run).exit_code, 0);
  fs::rename(run_ + "/report.html", folder_ / "page");
  fs::create_symlink(folder_ / "page", run_ + "/report.html");
  expect_failure("report" + run, 4, "links inside a run are not followed");
}

TEST_F(Replace, StandardOutputHasNames) {
  const std::string printed =
      run_program("predict '" + run_ + "' '" + table_ + "'").out;
  EXPECT_EQ(run_program(predict("-")).out, printed);
  EXPECT_EQ(run_program(predict("/dev/stdout")).out, printed);
}

TEST_F(Replace, PipesAreRefusedAndFilesOfOthersStay) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0666), 0);
  expect_failure(predict(folder_ / "pipe"), 4, "device or pipe");
  ASSERT_EQ(::mkfifo((folder_ / "p.csv.1-1.tmp").c_str(), 0666), 0);
  EXPECT_EQ(run_program(predict(folder_ / "p.csv")).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "p.csv.1-1.tmp"));
  const std::string other = folder_.write("other", "keep");
  fs::create_hard_link(other, folder_ / "q.csv.tmp");
  EXPECT_EQ(run_program(predict(folder_ / "q.csv")).exit_code, 0);
  EXPECT_EQ(read_bytes(other), "keep");
  expect_failure("inspect '" + (folder_ / "pipe") + "'", 4,
                 "not a regular file");
}

}  // namespace
}  // namespace radir
