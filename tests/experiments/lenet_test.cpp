#include "radir/experiments/lenet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::experiments {
namespace {

const PublishedNetwork& named(bool dense, const std::string& method) {
  for (const PublishedNetwork& network : published_lenet(dense)) {
    if (network.method == method) return network;
  }
  throw ArgumentError("no published network " + method);
}

/// In thousands, to one decimal.
std::pair<double, double> thousands(bool dense, const std::string& method) {
  const prune::Cost cost = published_cost(named(dense, method));
  const auto rounded = [](std::int64_t count) {
    return std::round(static_cast<double>(count) / 100) / 10;
  };
  return {rounded(cost.flops), rounded(cost.parameters)};
}

// Counted by hand from the formula.
TEST(PublishedLenet, CostsByTheFormula) {
  EXPECT_EQ(thousands(false, "RDP (article)"), (std::pair{113.1, 8.8}));
  EXPECT_EQ(thousands(false, "BC-GHS"), (std::pair{156.9, 2.8}));
  EXPECT_EQ(thousands(true, "VIB"), (std::pair{9.7, 9.7}));
}

LenetRun run(std::uint64_t seed, double error) {
  LenetRun result;
  result.seed = seed;
  result.fine_tuned.test_error = error;
  result.fine_tuned.architecture = "a" + std::to_string(seed);
  return result;
}

TEST(Lenet, TheMedianIsOneOfTheRuns) {
  const std::vector<LenetRun> runs = {run(1, 0.03), run(2, 0.01), run(3, 0.02)};
  EXPECT_EQ(median_run(runs).seed, 3u);
  EXPECT_EQ(median_run({run(1, 0.03), run(2, 0.01)}).seed, 2u);
  testing::expect_error<ArgumentError>([] { median_run({}); }, "no runs");
  LenetOptions options;
  const report::Table table = lenet_table(options, runs);
  EXPECT_EQ(table.rows.size(), published_lenet(false).size() + 7);
  EXPECT_EQ(std::get<std::string>(table.rows.back()[1]), "a3");
}

TEST(Lenet, RefusesNoSeeds) {
  LenetOptions options;
  options.seeds = 0;
  ThreadPool pool(1);
  testing::expect_error<ArgumentError>([&] { run_lenet(options, pool); },
                                       "from 1 to 1000, but is 0");
}

}  // namespace
}  // namespace radir::experiments
