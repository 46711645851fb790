#include "radir/io/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

namespace fs = std::filesystem;
using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

TEST(RunFolder, IsTakenByOneAtATime) {
  const TemporaryFolder place;
  {
    const RunFolder first = RunFolder::create(place / "a/run");
    expect_error<IoError>([&] { RunFolder::create(place / "a/run"); },
                          "another process is training here");
    files::write_file(first.config_file(), "{}");
    expect_error<IoError>([&] { RunFolder::open(place / "a/run"); },
                          "another process is training here");
  }
  EXPECT_FALSE(fs::exists(place / "a/run/lock"));
  EXPECT_EQ(RunFolder::open(place / "a/run").config(), "{}");
}

TEST(RunFolder, ALockThatAKilledProcessLeftIsInNobodysWay) {
  const TemporaryFolder place;
  place.write("run/lock", "");
  place.write("run/config.json.417-0.tmp", "{");
  place.write("run/config.json.tmp", "{");  // of radir 0.1
  EXPECT_NO_THROW(RunFolder::create(place / "run"));
  place.write("run/config.json", "{}");
  place.write("run/lock", "");
  EXPECT_NO_THROW(RunFolder::open(place / "run"));
}

TEST(RunFolder, NothingThatIsThereIsTouched) {
  const TemporaryFolder place;
  const auto expect_refused = [&](const char* part) {
    expect_error<ArgumentError>([&] { RunFolder::check_free(place / "run"); },
                                part);
    expect_error<ArgumentError>([&] { RunFolder::create(place / "run"); },
                                part);
  };
  place.write("run", "a file");
  expect_refused("is not a directory");
  fs::remove(place / "run");
  place.write("run/notes.txt", "");
  expect_refused("already exists; choose another");
  fs::remove(place / "run/notes.txt");
  place.write("run/config.json", "");
  place.write("run/checkpoint.safetensors", "");
  expect_refused("contains a run; resume it (--resume ");
  place.write("run/model.safetensors", "");
  expect_refused("already contains a finished run; choose another");
  fs::remove_all(place / "run");
  fs::create_directory(place / "run");
  EXPECT_NO_THROW(RunFolder::check_free(place / "run"));
}

TEST(RunFolder, LinksInItAreNotFollowed) {
  const TemporaryFolder place;
  place.write("run/config.json", "{}");
  place.write("precious", "keep");
  fs::create_symlink("../precious", place / "run/checkpoint.safetensors");
  expect_error<IoError>([&] { RunFolder::open(place / "run"); },
                        "run/checkpoint.safetensors: is a symbolic link");
  fs::remove(place / "run/checkpoint.safetensors");
  fs::create_directory_symlink("run", place / "link");
  EXPECT_EQ(RunFolder::open(place / "link").config(), "{}");
}

TEST(RunFolder, WithoutAConfigThereIsNothingToOpen) {
  const TemporaryFolder place;
  expect_error<IoError>([&] { RunFolder::open(place / "run"); },
                        "contains no config.json, so it is not a run");
  place.write("file", "");
  expect_error<IoError>([&] { RunFolder::create(place / "file/run"); },
                        "cannot create the folder");
}

TEST(RunFolder, ItsConfigIsAnObjectAndNotTooDeep) {
  EXPECT_NO_THROW(check_config("c", R"({"a":{"b":[1]}})"));
  expect_error<IoError>([] { check_config("c", ""); },
                        "c is not well-formed JSON");
  expect_error<IoError>([] { check_config("c", "[1]"); },
                        "c is not an object, but [1]");
  expect_error<IoError>([] { check_config("c", R"({"a":1,"a":2})"); },
                        "c has the key \"a\" twice");
  expect_error<IoError>([] { check_config("c", std::string(99999, '[')); },
                        "c is nested deeper than 32 levels");
  const TemporaryFolder place;
  place.write("run/config.json", "{");
  expect_error<IoError>([&] { RunFolder::open(place / "run").config(); },
                        "run/config.json is not well-formed JSON");
}

TEST(RunFolder, RemovesItsCheckpointsAndNothingElse) {
  const TemporaryFolder place;
  const RunFolder run = RunFolder::create(place / "run");
  for (const std::string& path :
       {run.checkpoint_file(), run.checkpoint_file("2"),
        run.checkpoint_file("trial-1"), run.checkpoint_file() + ".tmp",
        run.file("checkpoints.txt"), run.config_file()}) {
    files::write_file(path, "x");
  }
  EXPECT_TRUE(fs::exists(place / "run/checkpoint.safetensors"));
  EXPECT_TRUE(fs::exists(place / "run/checkpoint-trial-1.safetensors"));
  run.discard_if_nothing_done();  // there are some
  EXPECT_TRUE(fs::exists(run.config_file()));
  run.remove_checkpoints();
  EXPECT_FALSE(fs::exists(run.checkpoint_file()));
  EXPECT_FALSE(fs::exists(run.checkpoint_file("2")));
  EXPECT_FALSE(fs::exists(run.checkpoint_file("trial-1")));
  EXPECT_FALSE(fs::exists(run.checkpoint_file() + ".tmp"));
  EXPECT_TRUE(fs::exists(run.file("checkpoints.txt")));
  EXPECT_TRUE(fs::exists(run.config_file()));
}

TEST(RunFolder, RemovesTheCheckpointsOfOnePart) {
  const TemporaryFolder place;
  const RunFolder run = RunFolder::create(place / "run");
  for (const char* part : {"a-1", "a-1-trial-2", "a-10", "a-10-1", "a"}) {
    files::write_file(run.checkpoint_file(part), "x");
  }
  files::write_file(run.checkpoint_file("a-1") + ".tmp", "x");
  run.remove_checkpoints("a-1");
  EXPECT_EQ(run.checkpoint_parts(),
            (std::vector<std::string>{"a", "a-10", "a-10-1"}));
  EXPECT_FALSE(fs::exists(run.checkpoint_file("a-1") + ".tmp"));
}

TEST(RunFolder, ARunWithNothingToGoOnWithCanBeDiscarded) {
  const TemporaryFolder place;
  {
    const RunFolder run = RunFolder::create(place / "run");
    files::write_file(run.config_file(), "{}");
    run.discard_if_nothing_done();
  }
  EXPECT_FALSE(fs::exists(place / "run"));
  const RunFolder run = RunFolder::create(place / "run");
  for (const std::string& done : {run.file("part-1.json"), run.model_file()}) {
    files::write_file(run.config_file(), "{}");
    files::write_file(done, "x");
    EXPECT_EQ(run.is_finished(), done == run.model_file());
    run.discard_if_nothing_done();
    EXPECT_TRUE(fs::exists(run.config_file())) << done;
    fs::remove(done);
  }
}

TEST(RunFolder, CanBeLookedAtWhileSomebodyHasIt) {
  const TemporaryFolder place;
  expect_error<IoError>([&] { RunFolder::look_at(place / "run"); },
                        "contains no config.json, so it is not a run");
  const RunFolder run = RunFolder::create(place / "run");
  files::write_file(run.config_file(), "{}");
  for (const char* part : {"stage-10", "stage-2", "1"}) {
    files::write_file(run.checkpoint_file(part), "");
  }
  place.write("run/checkpoint-3.safetensors.tmp", "");
  const RunFolder seen = RunFolder::look_at(place / "run");
  EXPECT_EQ(seen.config(), "{}");
  EXPECT_EQ(seen.checkpoint_parts(),
            (std::vector<std::string>{"1", "stage-2", "stage-10"}));
  files::write_file(run.checkpoint_file(), "");
  EXPECT_EQ(seen.checkpoint_parts().front(), "");
}

TEST(RunFolder, CanBeMadeAgain) {
  const TemporaryFolder place;
  RunFolder run = RunFolder::create(place / "run");
  fs::remove_all(place / "run");
  run.restore();
  run.write_config(R"({"a":1})");
  fs::remove_all(place / "run");
  const RunFolder same = std::move(run);
  same.restore();
  EXPECT_EQ(same.config(), R"({"a":1})");
}

TEST(RunFolder, CanBeMadeAgainWhenItWasOpened) {
  const TemporaryFolder place;
  place.write("run/config.json", "{}");
  const RunFolder run = RunFolder::open(place / "run");
  fs::remove_all(place / "run");
  run.restore();
  EXPECT_EQ(run.config(), "{}");
}

}  // namespace
}  // namespace radir::io
