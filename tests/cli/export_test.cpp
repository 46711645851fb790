#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "radir/io/onnx.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::small_table;
using ::radir::testing::TemporaryFolder;

class ExportCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const ProgramResult trained = run_program(
        "train '" + folder_.write("t.csv", small_table()) +
        "' --target y --hidden 3 --epochs 2 --restarts 2 --out '" + run_ + "'");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }

  ProgramResult run_export(const std::string& more = "") {
    return run_program("export '" + run_ + "' --force --onnx '" + onnx_ + "' " +
                       more);
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
  std::string onnx_ = folder_ / "n.onnx";
};

TEST_F(ExportCommand, WritesANetworkAndSaysWhatItNeeds) {
  if (!io::has_onnx()) {
    expect_failure("export '" + run_ + "' --onnx '" + onnx_ + "'", 5,
                   "built without ONNX");
    return;
  }
  const ProgramResult result = run_export();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, onnx_ +
                            ": input 2, output 1, 13 weights and biases, "
                            "network 1 of 2\n");
  EXPECT_TRUE(contains(result.err, "input: the columns of a table"));
  EXPECT_TRUE(contains(result.err, "must be standardised"));
  const auto first = io::read_onnx(onnx_).layers[0].weight;

  const ProgramResult second = run_export("--network 2 --weights mode --json");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.err, "");
  const auto json = nlohmann::json::parse(second.out);
  EXPECT_EQ(json["file"], onnx_);
  EXPECT_EQ(json["network"], 2);
  EXPECT_EQ(json["networks"], 2);
  EXPECT_EQ(json["parameters"], 13);
  EXPECT_TRUE(contains(json["output_note"], "standardised target"));
  EXPECT_NE(io::read_onnx(onnx_).layers[0].weight, first);
}

TEST_F(ExportCommand, EverythingTakesRawColumns) {
  if (!io::has_onnx()) GTEST_SKIP() << "built without ONNX";
  const ProgramResult result =
      run_export("--everything --quantiles 0.1,0.9 --samples 5 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["outputs"], 6);
  EXPECT_EQ(json["networks"], 2);
  EXPECT_TRUE(contains(json["output_note"], "quantiles 0.1, 0.9"));
  EXPECT_TRUE(contains(json["input_note"], "NaN: missing"));
  expect_failure("export '" + run_ + "' --everything --torchscript x.pt", 2,
                 "--onnx FILE");
  expect_failure("export '" + run_ + "' --force --onnx '" + onnx_ +
                     "' --everything --quantiles 1.5",
                 2, "below 1, but got 1.5");
  expect_failure("export '" + run_ + "' --onnx '" + onnx_ + "' --samples 5", 2,
                 "--everything");
}

TEST_F(ExportCommand, FailuresAreOneLine) {
  if (!io::has_onnx()) GTEST_SKIP() << "built without ONNX";
  const std::string to_file = "' --onnx '" + onnx_ + "' ";
  expect_failure("export '" + run_ + "'", 2,
                 "--onnx FILE or --torchscript FILE");
  expect_failure("export '" + run_ + to_file + "--torchscript x.pt", 2,
                 "cannot be used with");
  expect_failure("export '" + run_ + to_file + "--network 3", 2, "from 1 to 2");
  expect_failure("export '" + run_ + to_file + "--weights middle", 2,
                 "--weights");
  expect_failure("export '" + folder_.path() + to_file, 4,
                 "no model.safetensors");
  expect_failure("export '" + run_ + "' --onnx /nowhere/n.onnx", 4, "/nowhere");
  folder_.write("broken", "hello");
  expect_failure("export '" + (folder_ / "broken") + to_file, 4, "broken");
  EXPECT_TRUE(testing::read_bytes(onnx_).empty());
}

#ifdef RADIR_WITH_TORCH

TEST_F(ExportCommand, WritesTorchScript) {
  const std::string file = folder_ / "n.pt";
  const std::string arguments =
      "'" + run_ + "' --torchscript '" + file + "' --json";
  const ProgramResult result = run_program("export " + arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["file"], file);
  EXPECT_EQ(json["format"], "torchscript");
  EXPECT_EQ(json["parameters"], 13);
  const std::string bytes = testing::read_bytes(file);
  EXPECT_TRUE(contains(bytes, "extra/preprocessing"));
  EXPECT_TRUE(contains(bytes, "must be standardised"));
  expect_failure("export " + arguments + " --force --network 3", 2,
                 "from 1 to 2");
  expect_failure("export '" + run_ + "' --torchscript /nowhere/n.pt", 4,
                 "/nowhere");
}

#else

TEST_F(ExportCommand, SaysWhatTorchScriptNeeds) {
  const std::string file = folder_ / "n.pt";
  expect_failure("export '" + run_ + "' --torchscript '" + file + "'", 5,
                 "needs libtorch and the module radir_torchscript.so");
  EXPECT_TRUE(testing::read_bytes(file).empty());
}

#endif

TEST(ExportHelp, HasAnExampleAndTheCommonOptions) {
  const ProgramResult result = run_program("export --help");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part :
       {"--onnx", "--torchscript", "--network", "--weights", "--seed",
        "--threads", "--json", "Example:\n  radir export"}) {
    EXPECT_TRUE(contains(result.out, part)) << part;
  }
}

}  // namespace
}  // namespace radir
