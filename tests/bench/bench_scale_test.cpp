#include "radir/bench/bench_scale.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using ::radir::testing::expect_error;

TEST(BenchScale, TimesWorkersAndTheirExchange) {
  BenchScaleOptions options;
  options.networks = {"uci"};
  options.workers = {1, 2};
  options.rounds = 1;
  const BenchScaleResult result = bench_scale(options);
  ASSERT_EQ(result.networks.size(), 1u);
  const BenchScaleNetwork& network = result.networks[0];
  EXPECT_EQ(network.network, "uci");
  // Weights and biases, shape and rate of the precision, and the loss.
  EXPECT_EQ(network.cost.numbers, 13 * 50 + 50 + 50 + 1 + 2 + 1);
  EXPECT_GT(network.plain_us, 0);
  EXPECT_GT(network.sharded_us, 0);
  EXPECT_NEAR(network.ratio, network.sharded_us / network.plain_us, 1e-9);
  EXPECT_GT(network.two_threads_gain, 0);
  EXPECT_GT(network.cost.divided_seconds, 0);
  ASSERT_EQ(network.rows.size(), 2u);
  for (const BenchScaleRow& row : network.rows) {
    EXPECT_GT(row.step_us, 0) << row.workers;
    EXPECT_GT(row.processor_us, 0) << row.workers;
    EXPECT_GT(row.model_us, 0) << row.workers;
  }
  ASSERT_EQ(result.exchanges.size(), 3u);
  EXPECT_GT(result.exchange.seconds(2, 1000), 0);
}

TEST(BenchScale, OneWorkerExchangesNothing) {
  BenchScaleOptions options;
  options.networks = {"uci"};
  options.workers = {1};
  options.rounds = 1;
  const BenchScaleResult result = bench_scale(options);
  EXPECT_TRUE(result.exchanges.empty());
  EXPECT_EQ(result.networks[0].rows.size(), 1u);
}

TEST(BenchScale, RefusesWhatItCannotMeasure) {
  const auto refused = [](const BenchScaleOptions& options,
                          const std::string& text) {
    expect_error<ArgumentError>([&] { bench_scale(options); }, text);
  };
  BenchScaleOptions options;
  options.networks = {"lenet"};
  refused(options, "the networks are lenet5 and uci, but got \"lenet\"");
  options = {};
  options.rounds = 0;
  refused(options, "rounds must be positive, but is 0");
  options = {};
  options.workers = {1, 0};
  refused(options, "workers must be positive, but is 0");
  options.workers = {};
  refused(options, "there must be networks and numbers of workers");
  options = {};
  options.networks = {"uci"};
  options.shards = 3;
  refused(options, "the number of shards must be a power of two");
}

}  // namespace
}  // namespace radir::bench
