#include "radir/experiments/uci.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/io/uci.h"
#include "radir/kernels/random.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::experiments {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// A folder with one small set called yacht: y = x1 - x2 with noise.
class SmallBenchmark : public ::testing::Test {
 protected:
  SmallBenchmark() {
    std::vector<double> noise(3 * kRows);
    kernels::fill_normal({1, 1, 0}, 0, 3 * kRows, noise.data());
    std::string data;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double a = noise[3 * i], b = noise[3 * i + 1];
      data += std::to_string(a) + " " + std::to_string(b) + " " +
              std::to_string(a - b + 0.1 * noise[3 * i + 2]) + "\n";
    }
    write("data.txt", data);
    write("index_features.txt", "0\n1\n");
    write("index_target.txt", "2\n");
    write("n_splits.txt", "2\n");
    write("n_hidden.txt", "5\n");
    for (int split : {0, 1}) {
      std::string train, test;
      for (int i = 0; i < kRows; ++i) {
        (i % 5 == split ? test : train) += std::to_string(i) + "\n";
      }
      write("index_train_" + std::to_string(split) + ".txt", train);
      write("index_test_" + std::to_string(split) + ".txt", test);
    }
    options_.data_dir = folder_.path();
    options_.sets = {"yacht"};
    options_.steps = 400;
    options_.out = folder_ / "out";
  }

  void write(const std::string& name, const std::string& text) const {
    folder_.write("uci/yacht/" + name, text);
  }

  static constexpr int kRows = 100;
  TemporaryFolder folder_;
  UciOptions options_;
};

TEST_F(SmallBenchmark, RunsEverySplitOnce) {
  ThreadPool pool(2);
  double share = 0;
  int calls = 0;
  const auto first =
      run_uci(options_, pool, [&](const UciSplitResult&, double done) {
        EXPECT_GT(done, share);
        share = done;
        ++calls;
      });
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(calls, 2);
  EXPECT_DOUBLE_EQ(share, 1);
  for (const UciSplitResult& result : first) {
    EXPECT_LT(result.gaussian.single.rmse, 0.5);
    EXPECT_NE(result.gaussian.published_estimator, 0);
  }

  // A second run takes the stored results: these.
  const std::string file = folder_ / "out/yacht-1.json";
  std::string stored = testing::read_bytes(file);
  const std::string key = "\"rmse\": ";
  stored.replace(stored.find(key) + key.size(), 1, "7");
  folder_.write("out/yacht-1.json", stored);
  auto again = run_uci(options_, pool);
  EXPECT_GE(again[1].gaussian.single.rmse, 7);
  EXPECT_EQ(again[0].tuned().mixture.log_likelihood,
            first[0].tuned().mixture.log_likelihood);

  // Damaged ones and those of other settings are done again, with the same
  // result whatever the threads.
  folder_.write("out/yacht-1.json", "{");
  ThreadPool one(1);
  again = run_uci(options_, one);
  EXPECT_EQ(again[1].tuned().single.log_likelihood,
            first[1].tuned().single.log_likelihood);
  options_.steps = 500;
  again = run_uci(options_, pool);
  EXPECT_NE(again[1].tuned().single.log_likelihood,
            first[1].tuned().single.log_likelihood);
}

TEST_F(SmallBenchmark, ExplainsWhatItCannotRun) {
  ThreadPool pool(1);
  options_.sets = {"yach"};
  expect_error<IoError>([&] { run_uci(options_, pool); }, "yacht");
  options_.sets = {"yacht"};
  options_.splits = -1;
  expect_error<ArgumentError>([&] { run_uci(options_, pool); }, "splits");
  options_.splits = 1;
  options_.out = folder_.write("file", "") + "/out";
  expect_error<IoError>([&] { run_uci(options_, pool); }, "cannot make");
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
    EXPECT_EQ(column.log_likelihoods.size(), io::uci_set_names().size())
        << column.name;
  }
}

}  // namespace
}  // namespace radir::experiments
