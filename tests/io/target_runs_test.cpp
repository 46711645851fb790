#include "radir/io/target_runs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "radir/core/error.h"
#include "radir/io/model_file.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

TEST(TargetRuns, NamesOfFoldersDifferAndStandForThemselves) {
  const std::string longer(200, 'x');
  const auto runs =
      new_target_runs("run", {"a b", "a/b", "..", longer, "größe"});
  EXPECT_EQ(runs[0].path, "run/targets/a_b");
  EXPECT_EQ(runs[1].path, "run/targets/a_b-2");
  EXPECT_EQ(runs[2].path, "run/targets/_.");
  EXPECT_EQ(runs[3].path, "run/targets/" + std::string(80, 'x'));
  EXPECT_EQ(runs[4].path, "run/targets/größe");
}

TEST(TargetRuns, AreListedInTheConfiguration) {
  const TemporaryFolder folder;
  EXPECT_TRUE(target_runs(folder.path()).empty());
  const auto runs = new_target_runs(folder.path(), {"a b", "c"});
  const nlohmann::ordered_json config = {{"targets", to_json(runs)}};
  folder.write("config.json", config.dump());
  const auto read = target_runs(folder.path());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].target, "a b");
  EXPECT_EQ(read[0].path, runs[0].path);
  expect_error<ArgumentError>(
      [&] { model_path(folder.path()); },
      "has several targets, each with a model of its own");
  expect_error<ArgumentError>(
      [&] {
        check_one_target(folder.path(), {"radir export", "--onnx FILE"});
      },
      "radir export " + runs[0].path + " --onnx FILE");
  // All have to be finished.
  folder.write("targets/a_b/config.json", "{}");
  folder.write("targets/a_b/model.safetensors", "");
  EXPECT_FALSE(has_finished_targets(folder.path()));
  folder.write("targets/c/config.json", "{}");
  folder.write("targets/c/model.safetensors", "");
  EXPECT_TRUE(has_finished_targets(folder.path()));
  // A folder with a model is the run of one target.
  folder.write("model.safetensors", "");
  EXPECT_TRUE(target_runs(folder.path()).empty());
}

TEST(TargetRuns, DamageIsNamed) {
  const TemporaryFolder folder;
  const auto expect_damage = [&](const char* config, const char* part) {
    folder.write("config.json", config);
    expect_error<IoError>([&] { target_runs(folder.path()); }, part);
    EXPECT_FALSE(has_finished_targets(folder.path()));
  };
  expect_damage(R"({"targets": []})", "lists no targets");
  expect_damage(R"({"targets": 3})", "targets");
  expect_damage(R"({"targets": [{"target": "u", "folder": "../u"}]})",
                "is not the name of a folder");
  expect_damage(R"({"targets": [{"target": "u", "folder": ""}]})",
                "is not the name of a folder");
}

}  // namespace
}  // namespace radir::io
