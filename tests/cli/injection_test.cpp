#include <gtest/gtest.h>

#include <csignal>

#include "cli/program.h"
#include "cli/running_program.h"
#include "radir/core/version.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;

constexpr const char* kHarmful[] = {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"};

TEST(Injection, NamesInMessagesAreText) {
  const TemporaryFolder folder;
  const std::string name = "m\x1b]0;x\x07\xc2\x9b\xe2\x80\xae";
  const std::string table =
      folder.write("t.csv", "a," + name + ",y\n1,2,4\n5,6,8\n7,8,x\n");
  const ProgramResult missing = run_program("predict '" + name + "' t.csv");
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_TRUE(contains(missing.err, "m\\x1b]0;x\\x07\\u009b\\u202e"))
      << missing.err;
  const ProgramResult column =
      run_program("train '" + table + "' --target n --categorical mx --out r");
  for (const std::string& text : {missing.err, column.err}) {
    for (const char* harmful : kHarmful) EXPECT_FALSE(contains(text, harmful));
  }
  // Other text is as it was.
  const std::string letters = "\xc3\xa4\xe2\x82\xac\xe2\x80\x93\xd8\xa7";
  EXPECT_TRUE(
      contains(run_program("predict '" + letters + "' t.csv").err, letters));
}

TEST(Injection, NamesBeginNoNewLine) {
  const TemporaryFolder folder;
  testing::expect_failure("predict 'no\nradir: all is fine' t.csv", 4,
                          "no\\nradir: all is fine");
  const std::string table = folder.write("t.csv", testing::small_table());
  const std::string run = folder / "run";
  ASSERT_EQ(run_program("train '" + table + "' --target y --epochs 2 --out '" +
                        run + "'")
                .exit_code,
            0);
  const std::string other =
      folder.write("o.csv", "a,b,\"c\nradir: all is fine\"\n1,2,3\n");
  const ProgramResult ignored =
      run_program("predict '" + run + "' '" + other + "'");
  EXPECT_EQ(ignored.exit_code, 0) << ignored.err;
  EXPECT_TRUE(contains(ignored.err, "\"c\\nradir: all is fine\""))
      << ignored.err;
}

TEST(Injection, AnIdIsNoFormula) {
  const TemporaryFolder folder;
  std::string text = "=HYPERLINK(1),a,y\n";
  for (int i = 0; i < 40; ++i) {
    text += "n" + std::to_string(i) + "," + std::to_string(i) + "," +
            std::to_string(2 * i) + "\n";
  }
  const std::string table = folder.write("t.csv", text);
  const std::string run = folder / "run";
  const ProgramResult trained = run_program(
      "train '" + table +
      "' --target y --epochs 2 --id '=HYPERLINK(1)' --out '" + run + "'");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string out =
      run_program("predict '" + run + "' '" + table + "'").out;
  EXPECT_EQ(out.rfind("row,'=HYPERLINK(1),", 0), 0U) << out;
}

TEST(Injection, LabelsAreNoFormulas) {
  const TemporaryFolder folder;
  std::string text = "a,y\n";
  const char* const labels[] = {"=1+2", "@sum", "-1", "+x"};
  for (int i = 0; i < 80; ++i) {
    text += std::to_string(i / 20 * 10 + i % 3) + "," + labels[i / 20] + "\n";
  }
  const std::string table = folder.write("t.csv", text);
  const std::string run = folder / "run";
  ASSERT_EQ(run_program("train '" + table +
                        "' --target y --epochs 300 --out '" + run + "'")
                .exit_code,
            0);
  const std::string out =
      run_program("predict '" + run + "' '" + table + "'").out;
  for (const char* cell : {",'=1+2,", ",'@sum,", ",'+x,", ",-1,"}) {
    EXPECT_TRUE(contains(out, cell)) << cell << "\n" << out;
  }
}

TEST(Injection, HintsCanBePastedIntoAShell) {
  const TemporaryFolder folder;
  const std::string run = folder / "it's `here`";
  testing::RunningProgram program({"train", "builtin:robot-arm", "--target",
                                   "distance", "--epochs", "1000000",
                                   "--checkpoint-every", "5ms", "--out", run});
  ASSERT_TRUE(program.waits_for(run + "/checkpoint.safetensors"));
  program.send(SIGTERM);
  program.wait();
  EXPECT_TRUE(contains(program.err(),
                       "--resume '" + folder.path() + "/it'\\''s `here`'"))
      << program.err();
}

// A hint with the name of the command would end another one.
TEST(Injection, ARunWithAnotherCommandIsDamaged) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const std::string config = std::string(R"("program":")") + version() +
                             R"(","isa":"x; rm -rf ~ #","data":{}})";
  for (const std::string command : {"train --resume", "compress --resume",
                                    "reproduce uci --resume", "report"}) {
    folder.write("run/config.json",
                 R"({"command":{"name":"x; rm -rf ~ #"},)" + config);
    testing::expect_failure(command + " '" + run + "'", 4,
                            "contains no valid command; the file is damaged");
  }
  folder.write("run/config.json", R"({"command":{"name":"train"},)" + config);
  testing::expect_failure("train --resume '" + run + "'", 2,
                          "RADIR_ISA='x; rm -rf ~ #'");
}

TEST(Injection, HintsQuoteTheDataFolder) {
  const TemporaryFolder folder;
  folder.write("a b;c/uci/other/data.txt", "1\n");
  folder.write("a b;c/uci/yacht.txt", "1\n");
  const std::string quoted = "--data-dir '" + (folder / "a b;c") + "'";
  testing::expect_failure("reproduce uci --sets yacht " + quoted, 4,
                          "radir data fetch yacht " + quoted);
  folder.write("a b;c/uci/yacht/data.txt", "1 2 3\n");
  EXPECT_TRUE(contains(run_program("data list " + quoted).err,
                       "radir data fetch yacht " + quoted));
  testing::expect_failure("report '" + (folder / "a b;c") + "'", 4,
                          "start one with --out '" + (folder / "a b;c") + "'");
}

}  // namespace
}  // namespace radir
