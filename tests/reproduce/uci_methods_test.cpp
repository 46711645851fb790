#include "radir/reproduce/uci_methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
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
std::vector<std::string> texts(const std::vector<UciMethodResult>& results) {
  std::vector<std::string> all;
  for (const UciMethodResult& one : results) {
    all.push_back(one.set + " " + std::to_string(one.split) + " " + one.method +
                  " " + one.chosen + " " + std::to_string(one.validation) +
                  " " + std::to_string(one.score.log_likelihood) + " " +
                  std::to_string(one.score.rmse));
  }
  return all;
}

class SmallComparison : public ::testing::Test {
 protected:
  SmallComparison() {
    testing::write_small_uci_set(data_);
    options_.data_dir = data_.path();
    options_.sets = {"yacht"};
    options_.steps = 30;
    options_.quick = true;
    options_.methods = {"rdp", "dropout", "pbp"};
  }

  std::vector<UciMethodResult> run(const workflows::ResumableRun* run = nullptr,
                                   int threads = 2) {
    ThreadPool pool(threads);
    computed_ = 0;
    return run_uci_methods(
        options_, read_uci_sets(options_), pool,
        [&](const UciMethodResult&, double share) {
          ++computed_;
          share_ = share;
        },
        run);
  }

  TemporaryFolder data_;
  UciOptions options_;
  io::RunFolder folder_ = io::RunFolder::create(data_ / "run");
  int computed_ = 0;
  double share_ = 0;
};

TEST_F(SmallComparison, RunsEveryMethodOnEverySplitOnce) {
  const workflows::ResumableRun kept(folder_, {});
  const auto results = run(&kept);
  ASSERT_EQ(results.size(), 6u);
  EXPECT_EQ(computed_, 6);
  EXPECT_DOUBLE_EQ(share_, 1);
  for (const UciMethodResult& one : results) {
    EXPECT_TRUE(std::isfinite(one.validation)) << one.method;
    EXPECT_LT(one.score.rmse, 1.6) << one.method;
    EXPECT_NE(one.chosen.find("\"" + one.method + "\""), std::string::npos);
  }
  EXPECT_TRUE(folder_.checkpoint_parts().empty());
  EXPECT_EQ(texts(run(&kept)), texts(results));
  EXPECT_EQ(computed_, 0);
  // Another number of steps is another result, except for pbp.
  options_.steps = 31;
  run(&kept);
  EXPECT_EQ(computed_, 6);
}

TEST_F(SmallComparison, DependsNeitherOnStopsNorOnThreads) {
  options_.splits = 1;
  const auto whole = texts(run());
  EXPECT_EQ(texts(run(nullptr, 1)), whole);
  std::vector<UciMethodResult> resumed;
  const int stops = workflows::train_with_stops(
      folder_, 300, [&](const workflows::ResumableRun& stopping) {
        resumed = run(&stopping);
      });
  EXPECT_GE(stops, 2);
  EXPECT_EQ(texts(resumed), whole);
}

TEST_F(SmallComparison, WhatIsChosenDoesNotDependOnTestRows) {
  options_.methods = {"rdp", "vi", "pbp", "hmc"};
  std::vector<data::UciSet> sets = read_uci_sets(options_);
  ThreadPool pool(2);
  const auto before = run_uci_methods(options_, sets, pool);
  for (data::UciSet& set : sets) {
    // The rows of one split's test part are in the others' training parts.
    set.splits.resize(1);
    for (std::int64_t row : set.splits[0].test) {
      set.targets[static_cast<std::size_t>(row)] += 1000;
    }
  }
  for (const UciMethodResult& after : run_uci_methods(options_, sets, pool)) {
    const auto same = std::find_if(
        before.begin(), before.end(), [&](const UciMethodResult& one) {
          return one.split == after.split && one.method == after.method;
        });
    ASSERT_NE(same, before.end());
    EXPECT_EQ(after.chosen, same->chosen);
    EXPECT_EQ(std::to_string(after.validation),
              std::to_string(same->validation));
    EXPECT_LT(after.score.log_likelihood, same->score.log_likelihood - 1);
  }
}

TEST_F(SmallComparison, TheArticlesPresetIsFittedAsItIs) {
  options_.methods = {"article"};
  const auto results = run();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(std::isnan(results[0].validation));
  EXPECT_NE(results[0].chosen.find("\"noise_shape\":6"), std::string::npos);
  EXPECT_EQ(summaries(results).at(0).method, "article");
}

UciMethodResult made_up(const std::string& method, std::int64_t split,
                        double log_likelihood) {
  UciMethodResult result;
  result.set = "yacht";
  result.split = split;
  result.method = method;
  result.score.log_likelihood = log_likelihood;
  return result;
}

TEST(UciMethods, AreComparedSplitBySplit) {
  const std::vector<UciMethodResult> results = {
      made_up("vi", 1, -1.5), made_up("rdp", 0, -1), made_up("vi", 0, -1.2),
      made_up("rdp", 1, -2)};
  const auto found = summaries(results);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].method, "rdp");
  EXPECT_FALSE(found[0].compared);
  const UciMethodSummary& vi = found[1];
  EXPECT_EQ(vi.splits, 2);
  EXPECT_NEAR(vi.log_likelihood.mean, -1.35, 1e-12);
  ASSERT_TRUE(vi.compared);
  EXPECT_NEAR(vi.less_rdp.mean, 0.15, 1e-12);  // of -0.2 and 0.5
  EXPECT_NEAR(vi.less_rdp.standard_error, 0.35, 1e-12);
  EXPECT_NEAR(vi.corrected_error,
              0.35 * std::sqrt(2.0) * std::sqrt(1 / 2.0 + 1 / 9.0), 1e-12);
  ASSERT_EQ(vi.published.size(), 1u);
  EXPECT_EQ(vi.published[0].second, -3.43);

  const report::Table table = uci_method_table(results);
  EXPECT_EQ(table.rows.size(), 2u);
  const std::string page = to_html(uci_method_page(results));
  EXPECT_NE(page.find("-1.350"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  // Without a published column there is nothing to draw.
  EXPECT_EQ(to_html(uci_method_page({results[1]})).find("<svg"),
            std::string::npos);
}

TEST(UciMethods, AllAreThoseWithTheirOwnPosterior) {
  UciOptions options;
  options.methods = {"all"};
  const auto all = uci_methods_of(options);
  for (const char* name :
       {"rdp", "vi", "hmc", "map", "ensemble", "dropout", "vmg", "pbp"}) {
    EXPECT_EQ(std::count(all.begin(), all.end(), name), 1) << name;
  }
  EXPECT_EQ(all.size(), 8u);
  options.methods = {"vi", "all"};
  expect_error<ArgumentError>([&] { uci_methods_of(options); }, "twice");
  options.methods = {"elbo"};
  expect_error<ArgumentError>([&] { uci_methods_of(options); },
                              "which posterior to use");
  options.methods = {"auto"};
  expect_error<ArgumentError>([&] { uci_methods_of(options); },
                              "which posterior to use");
  options.methods = {"vii"};
  expect_error<UnsupportedError>([&] { uci_methods_of(options); },
                                 "there is no method \"vii\"");
}

TEST(UciMethods, TheirOptionsAreStored) {
  UciOptions options;
  options.methods = {"vi", "pbp"};
  EXPECT_EQ(uci_options_from_json(to_json(options)).methods, options.methods);
  options.methods.clear();
  EXPECT_EQ(to_json(options).find("methods"), std::string::npos);
  EXPECT_TRUE(uci_options_from_json(to_json(options)).methods.empty());
}

}  // namespace
}  // namespace radir::reproduce
