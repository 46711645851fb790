#include "radir/workflows/resumable_run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <limits>
#include <numeric>

#include "radir/data/builtin_data.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/files/atomic_file.h"
#include "radir/posterior/grouping.h"
#include "radir/train/sharded_sum.h"
#include "radir/workflows/shared_run.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_search.h"
#include "support/expect_error.h"
#include "support/stops.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

namespace fs = std::filesystem;
using ::radir::testing::expect_error;
using ::radir::testing::read_bytes;
using ::radir::testing::TemporaryFolder;
using std::chrono::milliseconds;

/// A small table and its settings.
struct Problem {
  data::Table table = data::make_robot_arm_table(300, 1);
  data::TableEncoder encoder = data::TableEncoder::fit(table, "distance");
  data::EncodedRows rows = encoder.encode(table, true);
  TableSettings settings;

  Problem() {
    settings.hidden = {10};
    settings.epochs = 40;
  }

  std::vector<std::vector<float>> fit(const ResumableRun* run,
                                      ThreadPool* pool = nullptr) const {
    return fit_networks(encoder, rows, settings, nullptr, pool, run).networks;
  }
};

TEST(ResumableRun, GivesTheBitsOfARunThatWasNeverStopped) {
  for (std::uint64_t seed : {1, 2, 3}) {
    const TemporaryFolder place;
    const io::RunFolder folder = io::RunFolder::create(place / "run");
    Problem problem;
    problem.settings.seed = seed;
    std::vector<std::vector<float>> resumed;
    const int steps = 7 + 4 * static_cast<int>(seed);
    const int stops = train_with_stops(
        folder, steps,
        [&](const ResumableRun& run) { resumed = problem.fit(&run); });
    EXPECT_EQ(stops, (120 - 1) / steps);  // 40 epochs of three steps
    EXPECT_EQ(resumed, problem.fit(nullptr));
  }
}

TEST(ResumableRun, NetworksSideBySideKeepCheckpointsOfTheirOwn) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  Problem problem;
  problem.settings.restarts = 3;
  ThreadPool pool(2);
  std::vector<std::vector<float>> resumed;
  const int stops = train_with_stops(folder, 50, [&](const ResumableRun& run) {
    resumed = problem.fit(&run, &pool);
  });
  EXPECT_GE(stops, 3);
  EXPECT_EQ(resumed, problem.fit(nullptr));
  EXPECT_TRUE(fs::exists(folder.checkpoint_file("3")));
}

TEST(ResumableRun, TrialsAreNotRunTwice) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  Problem problem;
  std::vector<std::int64_t> rows(300);
  std::iota(rows.begin(), rows.end(), 0);
  auto candidates = tuning_candidates(problem.settings, false);
  candidates.resize(8);
  const auto compare = [&](const ResumableRun* run) {
    std::vector<double> scores;
    for (const TableTrial& trial : compare_candidates(
             problem.table, "distance", data::MissingValues::Refuse, rows,
             candidates, nullptr, nullptr, run)) {
      scores.push_back(trial.log_likelihood);
    }
    return scores;
  };
  std::vector<double> resumed;
  const int stops = train_with_stops(
      folder, 100, [&](const ResumableRun& run) { resumed = compare(&run); });
  EXPECT_GE(stops, 5);
  EXPECT_EQ(resumed, compare(nullptr));
  // With all of them done, not a step is left.
  const ResumableRun no_step(folder, stop_at(0));
  EXPECT_EQ(compare(&no_step), resumed);
}

TEST(ResumableRun, ReportsOfEarlierEpochsComeAgain) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  std::vector<std::int64_t> epochs;
  const auto fit = [&](const CheckpointOptions& options) {
    epochs.clear();
    const ResumableRun run(folder, options);
    fit_networks(
        problem.encoder, problem.rows, problem.settings,
        [&](std::int64_t, const train::EpochReport& report) {
          epochs.push_back(report.epoch);
          return true;
        },
        nullptr, &run);
  };
  EXPECT_THROW(fit(stop_at(20)), Interrupted);
  EXPECT_EQ(epochs.size(), 6u);
  fit({});
  std::vector<std::int64_t> all(40);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(epochs, all);
}

TEST(ResumableRun, RefusesACheckpointOfOtherSettingsOrData) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  Problem problem;
  const ResumableRun run(folder, {});
  problem.fit(&run);
  Problem other = problem;
  other.settings.learning_rate = 0.02;
  expect_error<IoError>([&] { other.fit(&run); },
                        "\"learning_rate\" is 0.01 there, but 0.02 here");
  other = problem;
  other.rows.targets[7] += 1;
  expect_error<IoError>([&] { other.fit(&run); }, "\"data\" is");
}

TEST(ResumableRun, WritesACheckpointWhenOneIsDue) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  CheckpointOptions options;
  options.every = milliseconds(0);
  std::string last;
  int changes = 0;
  options.stop_requested = [&] {
    const std::string now = read_bytes(folder.checkpoint_file());
    changes += now != last ? 1 : 0;
    last = now;
    return false;
  };
  const ResumableRun run(folder, options);
  problem.fit(&run);
  EXPECT_EQ(changes, 120 - 2);  // every question but the first two sees one
}

/// Limits file sizes as a full disk would, for as long as it lives.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST(ResumableRun, AFailedCheckpointWarnsAndTheOldOneStays) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  const ResumableRun first(folder, stop_at(50));
  EXPECT_THROW(problem.fit(&first), Interrupted);
  const std::string good = read_bytes(folder.checkpoint_file());
  ASSERT_FALSE(good.empty());

  std::vector<std::string> warnings;
  CheckpointOptions options = stop_at(30);
  options.every = milliseconds(0);
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  {
    const SmallFiles full_disk(1000);
    const ResumableRun second(folder, options);
    EXPECT_THROW(problem.fit(&second), Interrupted);
  }
  EXPECT_EQ(warnings.size(), 1u);  // not after each of the 30 steps
  EXPECT_NE(warnings[0].find("the checkpoint was not written: cannot write"),
            std::string::npos)
      << warnings[0];
  EXPECT_EQ(read_bytes(folder.checkpoint_file()), good);

  const ResumableRun third(folder, {});
  EXPECT_EQ(problem.fit(&third), problem.fit(nullptr));
}

TEST(ResumableRun, TrainingGoesOnWhenTheFolderVanishes) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  int warnings = 0;
  CheckpointOptions options;
  options.every = milliseconds(0);
  options.warn = [&](const std::string& text) {
    ++warnings;
    EXPECT_NE(text.find("no such file or folder"), std::string::npos) << text;
  };
  fs::remove_all(place / "run");
  const ResumableRun run(folder, options);
  EXPECT_EQ(problem.fit(&run), problem.fit(nullptr));
  EXPECT_EQ(warnings, 1);
  // Of the next network there is nothing new to say, unless it was well
  // between.
  const auto fit_part = [&](const char* name) {
    const ResumableRun part = run.part(name);
    problem.fit(&part);
  };
  fit_part("1");
  EXPECT_EQ(warnings, 1);
  folder.restore();
  fit_part("2");
  fs::remove_all(place / "run");
  fit_part("3");
  EXPECT_EQ(warnings, 2);
}

TEST(ResumableRun, PartsOfPartsHaveNamesOfTheirOwn) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  const ResumableRun run(folder, {});
  const ResumableRun part = run.part("trial-2").part("1");
  problem.fit(&part);
  EXPECT_TRUE(fs::exists(folder.checkpoint_file("trial-2-1")));
}

TEST(ResumableRun, AResultThatIsKeptReplacesTheCheckpointsOfItsPart) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  const Problem problem;
  const ResumableRun run(folder, {});
  const ResumableRun part = run.part("a");
  for (const ResumableRun& inner : {part.part("1"), run.part("b")}) {
    problem.fit(&inner);
  }
  EXPECT_EQ(part.result(), std::nullopt);
  fs::create_directory(folder.file("a.json"));
  expect_error<IoError>([&] { part.keep_result("{}"); }, "a.json");
  EXPECT_TRUE(fs::exists(folder.checkpoint_file("a-1")));
  fs::remove(folder.file("a.json"));
  part.keep_result("{}");
  EXPECT_EQ(part.result(), "{}");
  EXPECT_EQ(folder.checkpoint_parts(), (std::vector<std::string>{"b"}));
  // One that somebody edited counts for nothing; one of version 0.1 does.
  part.keep_result("{\"rmse\":0.5}");
  EXPECT_EQ(part.result(), "{\"rmse\":0.5}");
  std::string edited = testing::read_bytes(folder.file("a.json"));
  edited.replace(edited.find("0.5"), 3, "0.4");
  files::write_file(folder.file("a.json"), edited);
  EXPECT_EQ(part.result(), std::nullopt);
  files::write_file(folder.file("a.json"), "{\"rmse\":0.4}");
  EXPECT_EQ(part.result(), "{\"rmse\":0.4}");
  // Also where somebody removed the folder.
  fs::remove_all(folder.path());
  part.keep_result("{}");
  EXPECT_EQ(part.result(), "{}");
}

/// A worker that was the oldest when it last heard of the others.
class DroppedWorker : public train::ShardedSum {
 public:
  DroppedWorker() : ShardedSum(1) {}
  bool may_write() override { return !is_dropped; }
  bool is_dropped = true;
};

TEST(ResumableRun, AWorkerThatWasDroppedWritesNothing) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  DroppedWorker sharded;
  CheckpointOptions options;
  options.every = milliseconds(0);
  options.sharded = &sharded;
  const ResumableRun part = ResumableRun(folder, options).part("a");
  const Problem problem;
  problem.fit(&part);
  part.keep_result("{}");
  EXPECT_FALSE(fs::exists(folder.checkpoint_file("a")));
  EXPECT_EQ(part.result(), std::nullopt);
  sharded.is_dropped = false;
  problem.fit(&part);
  EXPECT_TRUE(fs::exists(folder.checkpoint_file("a")));
  part.keep_result("{}");
  EXPECT_EQ(part.result(), "{}");
}

/// A worker during whose second checkpoint the others finish the run.
class SlowWorker : public train::ShardedSum {
 public:
  SlowWorker() : ShardedSum(2) {}
  bool may_write() override {
    if (++asked_ > 3) throw FinishedElsewhere("finished");
    return true;
  }
  int asked() const { return asked_; }

 private:
  int asked_ = 0;
};

TEST(ResumableRun, AWorkerLeavesNoCheckpointInAFinishedRun) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  Problem problem;
  SlowWorker worker;
  CheckpointOptions options;
  options.every = milliseconds(0);
  options.sharded = &worker;
  const ResumableRun run(folder, options);
  expect_error<FinishedElsewhere>([&] { problem.fit(&run); }, "finished");
  EXPECT_EQ(worker.asked(), 4);  // before and after each of two checkpoints
  EXPECT_TRUE(folder.checkpoint_parts().empty());
}

TEST(ResumableRun, StopsBetweenStepsToo) {
  const TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  EXPECT_NO_THROW(ResumableRun(folder, {}).check_stop());
  const ResumableRun run(folder, stop_at(1));
  EXPECT_NO_THROW(run.check_stop());
  expect_error<Interrupted>([&] { run.check_stop(); }, "stopped on request");
}

TEST(TableSettings, ComeBackFromJson) {
  TableSettings settings;
  settings.hidden = {3, 4};
  settings.grouping = posterior::Grouping::Column;
  settings.direction_gap = 0.1;
  settings.noise = likelihood::Kind::PredictedNoise;
  settings.epochs = 5;
  settings.steps = 6;
  settings.batch = 7;
  settings.learning_rate = 1.0 / 3;
  settings.kl_warmup = 0.2;
  settings.restarts = 8;
  settings.seed = 0xffffffffffffffffu;
  const TableSettings back = settings_from_json(to_json(settings));
  EXPECT_EQ(to_json(back), to_json(settings));
  EXPECT_EQ(back.learning_rate, settings.learning_rate);
  EXPECT_EQ(back.noise, settings.noise);
  EXPECT_EQ(back.grouping, settings.grouping);
}

TEST(TableSettings, AreReadStrictly) {
  expect_error<IoError>([] { settings_from_json("{"); },
                        "settings is not well-formed JSON");
  expect_error<IoError>([] { settings_from_json("{\"hidden\": [1]}"); },
                        "settings: \"grouping\" is missing");
  std::string text = to_json(TableSettings());
  text.replace(text.find("\"steps\":20000"), 13, "\"steps\":1e300");
  expect_error<IoError>([&] { settings_from_json(text); },
                        "\"steps\" must be an integer, but is 1e+300");
  text = to_json(TableSettings());
  text.replace(text.find("{"), 1, "{\"colour\":1,");
  expect_error<IoError>([&] { settings_from_json(text); },
                        "\"colour\" is unknown");
  text = to_json(TableSettings());
  text.replace(text.find("\"grouping\":\"auto\""), 17,
               "\"grouping\":\"triple\"");
  expect_error<IoError>([&] { settings_from_json(text); },
                        "\"triple\", which this program does not know");
}

TEST(TableSettings, ThatMakeNoSenseAreRefused) {
  const auto refused = [](auto member, std::int64_t value,
                          const std::string& part) {
    TableSettings settings;
    settings.*member = value;
    expect_error<ArgumentError>([&] { check(settings); }, part);
    expect_error<IoError>([&] { settings_from_json(to_json(settings)); },
                          "settings: " + part);
  };
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  refused(&TableSettings::batch, 0, "batch must be from 1 to");
  refused(&TableSettings::batch, kLargest, "batch must be from 1 to");
  refused(&TableSettings::epochs, -1, "epochs must be from 0 to");
  refused(&TableSettings::epochs, kLargest, "epochs must be from 0 to");
  refused(&TableSettings::steps, 0, "steps must be from 1 to");
  refused(&TableSettings::restarts, -1, "restarts must be from 0 to 1000");
}

}  // namespace
}  // namespace radir::workflows
