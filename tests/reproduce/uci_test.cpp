#include "radir/reproduce/uci.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/data/uci.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/resumable_run.h"
#include "support/expect_error.h"
#include "support/small_uci_set.h"
#include "support/stops.h"
#include "support/temporary_folder.h"

namespace radir::reproduce {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// Everything but the seconds.
std::vector<double> numbers(const UciSplitResult& result) {
  std::vector<double> all = {static_cast<double>(result.split)};
  for (const UciNoiseResult* noise :
       {&result.gaussian, &result.predicted_noise}) {
    all.insert(all.end(), {noise->validation, noise->published_estimator});
    for (const UciScore* score : {&noise->single, &noise->mixture}) {
      all.insert(all.end(),
                 {score->log_likelihood, score->rmse, score->coverage_90});
    }
  }
  return all;
}

std::vector<std::vector<double>> numbers(
    const std::vector<UciSplitResult>& results) {
  std::vector<std::vector<double>> all;
  for (const UciSplitResult& result : results) all.push_back(numbers(result));
  return all;
}

/// The benchmark with one small set.
class SmallBenchmark : public ::testing::Test {
 protected:
  SmallBenchmark() {
    testing::write_small_uci_set(data_);
    options_.data_dir = data_.path();
    options_.sets = {"yacht"};
    options_.steps = 100;
  }

  std::vector<UciSplitResult> run(
      const workflows::ResumableRun* run = nullptr) {
    done_.clear();
    return run_uci(
        options_, read_uci_sets(options_), pool_,
        [&](const UciSplitResult& latest, double share) {
          done_.push_back(latest.split);
          share_ = share;
        },
        run);
  }

  TemporaryFolder data_;
  UciOptions options_;
  ThreadPool pool_{2};
  io::RunFolder folder_ = io::RunFolder::create(data_ / "run");
  std::vector<std::int64_t> done_;  ///< splits that were run
  double share_ = 0;
};

TEST_F(SmallBenchmark, RunsEverySplitOnce) {
  options_.steps = 400;
  const workflows::ResumableRun kept(folder_, {});
  const auto first = run(&kept);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(done_.size(), 2u);
  EXPECT_DOUBLE_EQ(share_, 1);
  for (const UciSplitResult& result : first) {
    EXPECT_LT(result.gaussian.single.rmse, 0.5);
    EXPECT_NE(result.gaussian.published_estimator, 0);
  }
  EXPECT_TRUE(folder_.checkpoint_parts().empty());
  // A second run takes what is kept, and reads all of it.
  EXPECT_EQ(numbers(run(&kept)), numbers(first));
  EXPECT_TRUE(done_.empty());
}

TEST_F(SmallBenchmark, DependsOnSeedsAndStepsAndNotOnStopsOrThreads) {
  const auto whole = numbers(run());
  std::vector<UciSplitResult> resumed;
  const int stops = workflows::train_with_stops(
      folder_, 2000, [&](const workflows::ResumableRun& stopping) {
        resumed = run(&stopping);
      });
  EXPECT_GE(stops, 3);
  EXPECT_EQ(numbers(resumed), whole);
  ThreadPool one(1);
  EXPECT_EQ(numbers(run_uci(options_, read_uci_sets(options_), one)), whole);
  options_.steps = 101;
  EXPECT_NE(numbers(run()), whole);
}

TEST_F(SmallBenchmark, WhatIsChosenDoesNotDependOnTestRows) {
  options_.steps = 30;
  std::vector<data::UciSet> sets = read_uci_sets(options_);
  for (data::UciSet& set : sets) set.splits.resize(1);
  const auto before = run_uci(options_, sets, pool_);
  for (std::int64_t row : sets[0].splits[0].test) {
    sets[0].targets[static_cast<std::size_t>(row)] += 1000;
  }
  const auto after = run_uci(options_, sets, pool_);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].gaussian.validation, before[0].gaussian.validation);
  EXPECT_EQ(after[0].predicted_noise.validation,
            before[0].predicted_noise.validation);
  EXPECT_EQ(after[0].gaussian.chosen, before[0].gaussian.chosen);
  EXPECT_GT(after[0].gaussian.single.rmse,
            100 * before[0].gaussian.single.rmse);
}

TEST_F(SmallBenchmark, ResultsThatAreDamagedOrOfOtherSettingsAreDoneAgain) {
  options_.splits = 1;
  options_.steps = 10;
  const workflows::ResumableRun kept(folder_, {});
  const auto first = numbers(run(&kept));
  // Without its checksum, as version 0.1 wrote it.
  const std::string summed =
      testing::read_bytes(folder_.file("yacht-split-0.json"));
  const std::string good = "{" + summed.substr(summed.find(',') + 1);
  const auto with = [&](const std::string& key, const std::string& value) {
    std::string text = good;
    const std::size_t at = text.find("\"" + key + "\": ") + key.size() + 4;
    return text.replace(at, text.find_first_of(",\n", at) - at, value);
  };
  // Asked before a split that has to be run, and only then.
  const workflows::ResumableRun no_split(folder_, workflows::stop_at(0));
  data_.write("run/yacht-split-0.json", with("rmse", "7"));
  EXPECT_EQ(run(&no_split)[0].gaussian.single.rmse, 7);
  // What JSON cannot say is no damage.
  data_.write("run/yacht-split-0.json", with("rmse", "null"));
  EXPECT_TRUE(std::isnan(run(&no_split)[0].gaussian.single.rmse));
  std::string edited = summed;
  edited.replace(edited.find("\"rmse\": ") + 8, 1, "7");
  for (const std::string& bad :
       {edited, std::string("{"), std::string("[]"), with("rmse", "1e999"),
        with("coverage_90", "null"), with("split", "1e300"), with("split", "1"),
        with("set", "\"wine\""), with("seconds", "1, \"more\": 2")}) {
    data_.write("run/yacht-split-0.json", bad);
    EXPECT_THROW(run(&no_split), workflows::Interrupted) << bad;
  }
  EXPECT_EQ(numbers(run(&kept)), first);
  EXPECT_EQ(numbers(run(&no_split)), first);
  options_.seed = 1;
  EXPECT_THROW(run(&no_split), workflows::Interrupted);
}

TEST_F(SmallBenchmark, AResultThatCannotBeKeptCostsNothing) {
  const std::string file = folder_.file("yacht-split-1.json");
  std::filesystem::create_directory(file);
  const workflows::ResumableRun kept(folder_, {});
  expect_error<IoError>([&] { run(&kept); }, "yacht-split-1.json");
  EXPECT_FALSE(folder_.checkpoint_parts().empty());
  std::filesystem::remove(file);
  // Asked before the split and never after: not a step is left.
  const workflows::ResumableRun no_step(folder_, workflows::stop_at(1));
  const auto resumed = numbers(run(&no_step));
  EXPECT_EQ(done_, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(resumed, numbers(run()));
}

TEST_F(SmallBenchmark, ExplainsWhatItCannotRun) {
  options_.sets = {"yach"};
  expect_error<IoError>([&] { read_uci_sets(options_); }, "yacht");
  options_.sets = {"yacht", "yacht"};
  expect_error<ArgumentError>([&] { read_uci_sets(options_); }, "twice");
  options_.sets = {"yacht"};
  options_.splits = -1;
  expect_error<ArgumentError>([&] { read_uci_sets(options_); }, "splits");
  options_.splits = 1;
  EXPECT_EQ(read_uci_sets(options_)[0].splits.size(), 1u);
  options_.steps = -1;
  expect_error<ArgumentError>([&] { read_uci_sets(options_); }, "steps");
}

TEST_F(SmallBenchmark, TellsDataApart) {
  auto sets = read_uci_sets(options_);
  const std::string before = fingerprint(sets);
  std::swap(sets[0].splits[0], sets[0].splits[1]);
  EXPECT_NE(fingerprint(sets), before);
  std::swap(sets[0].splits[0], sets[0].splits[1]);
  EXPECT_EQ(fingerprint(sets), before);
  ++sets[0].hidden_units;
  EXPECT_NE(fingerprint(sets), before);
  --sets[0].hidden_units;
  sets[0].targets[3] += 1;
  EXPECT_NE(fingerprint(sets), before);
}

TEST(UciOptions, ComeBackFromJson) {
  UciOptions options;
  options.data_dir = "data";
  options.sets = {"yacht", "energy"};
  options.splits = 3;
  options.quick = true;
  options.steps = 7;
  options.seed = 0xffffffffffffffffu;
  const std::string text = to_json(options);
  const UciOptions back = uci_options_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.sets, options.sets);
  EXPECT_EQ(back.seed, options.seed);
  expect_error<IoError>([] { uci_options_from_json("{}"); },
                        "options: \"data_dir\" is missing");
  std::string bad = text;
  bad.replace(bad.find("\"splits\":3"), 10, "\"splits\":-3");
  expect_error<IoError>([&] { uci_options_from_json(bad); }, "but is -3");
}

UciSplitResult result_of(std::int64_t split, double gaussian,
                         double predicted) {
  UciSplitResult result;
  result.set = "yacht";
  result.split = split;
  result.gaussian.single.log_likelihood = gaussian;
  result.gaussian.validation = 1;
  result.predicted_noise.single.log_likelihood = predicted;
  result.predicted_noise.validation = split == 0 ? 0 : 2;
  return result;
}

TEST(Uci, SummarisesSplits) {
  const std::vector<UciSplitResult> results = {result_of(0, 1, 10),
                                               result_of(1, 3, 20)};
  const UciMean mean = mean_over_splits(results, "yacht", [](const auto& r) {
    return r.gaussian.single.log_likelihood;
  });
  EXPECT_DOUBLE_EQ(mean.mean, 2);
  EXPECT_DOUBLE_EQ(mean.standard_error, 1);
  // The validation scores choose Gaussian noise once, predicted noise once.
  EXPECT_DOUBLE_EQ(mean_over_splits(results, "yacht",
                                    [](const auto& r) {
                                      return r.tuned().single.log_likelihood;
                                    })
                       .mean,
                   10.5);
  EXPECT_EQ(
      mean_over_splits({results[0]}, "yacht", [](const auto&) { return 5.0; })
          .standard_error,
      0);
  expect_error<ArgumentError>(
      [&] {
        mean_over_splits(results, "wine", [](const auto&) { return 0.0; });
      },
      "wine");
  EXPECT_EQ(uci_sets_of(results), (std::vector<std::string>{"yacht"}));
}

TEST(Uci, TablesHoldOursBesideThePublishedOnes) {
  const std::vector<UciSplitResult> results = {result_of(0, -0.8, -0.1)};
  const std::string text = to_markdown(uci_log_likelihood_table(results));
  for (const char* part : {"-0.800 ± 0.000", "-0.100", "-2.36", "-1.63",
                           "-0.47 (DVI)", "no log-likelihood"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(to_markdown(uci_error_table(results)).find("90 %"),
            std::string::npos);
  for (const PublishedColumn& column : published_uci()) {
    EXPECT_EQ(column.log_likelihoods.size(), data::uci_set_names().size())
        << column.name;
  }
}

}  // namespace
}  // namespace radir::reproduce
