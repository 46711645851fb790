#include "radir/workflows/compress_run.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/data/builtin_data.h"
#include "radir/data/idx.h"
#include "radir/io/model_file.h"
#include "radir/workflows/compress.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

class CompressRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(options_.data);
    data::write_idx_folder(options_.data,
                           data::make_digits_dataset(100, 50, 1));
    options_.model =
        folder_.write("network.json",
                      R"({"input": [1, 28, 28], "layers": [{"type": "flatten"},
            {"type": "dense", "outputs": 4}, {"type": "relu"},
            {"type": "dense", "outputs": 10}]})");
    options_.settings.epochs = 1;
    options_.settings.fine_tune_epochs = 0;
    options_.settings.samples = 1;
    options_.settings.seed = 5;
  }

  testing::TemporaryFolder folder_;
  CompressRunOptions options_{folder_ / "images", "", "", false, {}};
};

TEST_F(CompressRuns, ConfigSaysWhatResumesThem) {
  CompressRunOptions kept = options_;
  kept.data = "/elsewhere";
  const CompressRun run = begin_compress(options_, kept);
  EXPECT_EQ(run.config["epochs"], 1);
  EXPECT_EQ(run.config["network"], options_.model);
  EXPECT_EQ(run.config["data"]["source"], options_.data);
  EXPECT_EQ(run.config["data"]["train"], 100);
  EXPECT_EQ(run.config["data"]["fingerprint"], run.images.fingerprint);
  EXPECT_EQ(run.config["program"], version());
  EXPECT_EQ(run.config["command"]["name"], kCompressCommand);
  EXPECT_EQ(run.config["command"]["data"], "/elsewhere");
  EXPECT_EQ(run.config["command"]["settings"]["seed"], 5);
}

TEST_F(CompressRuns, AreResumedAsTheyWereBegun) {
  const CompressRun run = begin_compress(options_, options_);
  const CompressRun resumed = resume_compress(run.config, "config.json", "");
  EXPECT_EQ(to_json(resumed.options.settings), to_json(run.options.settings));
  EXPECT_EQ(resumed.images.fingerprint, run.images.fingerprint);
  EXPECT_EQ(resumed.config, run.config);
  auto damaged = run.config;
  damaged["command"]["settings"]["epochs"] = 0;
  testing::expect_error<IoError>(
      [&] { resume_compress(damaged, "config.json", ""); },
      "config.json.command: compress: epochs must be >= 1");
}

TEST_F(CompressRuns, LeaveTheirFiles) {
  const CompressRun run = begin_compress(options_, options_);
  const CompressResult result = compress(run.images, run.options.settings);
  const io::RunFolder folder = io::RunFolder::create(folder_ / "run");
  write_compress_files(folder, run, result);
  EXPECT_TRUE(std::filesystem::exists(folder.file("report.html")));
  const io::SavedModel model = io::read_model(folder.model_file());
  EXPECT_EQ(model.networks.front(), result.parameters);
  EXPECT_EQ(model.seed, 5u);
}

TEST(CompressMetrics, HaveALineForEachRemoval) {
  CompressResult result;
  EXPECT_EQ(metrics_lines(result), "");
  result.removals.resize(2);
  const std::string lines = metrics_lines(result);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
}

TEST_F(CompressRuns, RefuseImagesThatDoNotFit) {
  options_.settings.pressure = -1;
  testing::expect_error<ArgumentError>(
      [&] { begin_compress(options_, options_); }, "pressure must be >= 0");
  options_.settings.pressure = 1;
  options_.model = "lenet";
  testing::expect_error<IoError>([&] { begin_compress(options_, options_); },
                                 "lenet");
}

}  // namespace
}  // namespace radir::workflows
