#include "radir/train/sharded_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kExamples = 37;  // shards of different sizes

/// As another worker would compute it: the right half of the tree first.
class Backwards : public ShardedSum {
 public:
  using ShardedSum::ShardedSum;
  void add_up(std::int64_t count, const ShardFunction& compute,
              float* sum) override {
    std::vector<float> right(static_cast<std::size_t>(count));
    add_subtree(shards() / 2, shards() / 2, count, compute, right.data());
    add_subtree(0, shards() / 2, count, compute, sum);
    add_to(right.data(), count, sum);
  }
};

class ShardedTraining : public ::testing::Test {
 protected:
  ShardedTraining() {
    kernels::fill_normal({1, 0, 0}, 0, 2 * kExamples, inputs_.data());
    kernels::fill_normal({1, 1, 0}, 0, kExamples, targets_.data());
    options_.epochs = 5;
    options_.batch_size = 16;
    options_.optimizer.learning_rate = 0.01;
  }

  static ModelSpec spec() {
    ModelSpec result;
    result.network = network::multilayer_perceptron(2, {8}, 1);
    return result;
  }

  std::vector<float> trained(ShardedSum* sharded, ThreadPool* pool = nullptr,
                             const ModelSpec& of = spec()) {
    TrainerOptions options = options_;
    options.sharded = sharded;
    const DataView<float> data{inputs_.data(), targets_.data(), nullptr,
                               kExamples};
    return fit<float>(Model(of), data, options, nullptr, pool).parameters;
  }

  std::vector<float> inputs_ = std::vector<float>(2 * kExamples);
  std::vector<float> targets_ = std::vector<float>(kExamples);
  TrainerOptions options_;
};

TEST_F(ShardedTraining, OneShardIsTheCompleteBatch) {
  ShardedSum one(1);
  EXPECT_EQ(trained(&one), trained(nullptr));
}

TEST_F(ShardedTraining, HasTheBitsOfItsNumberOfShardsAlone) {
  ShardedSum eight(8);
  Backwards backwards(8);
  ThreadPool pool(2);
  const std::vector<float> parameters = trained(&eight);
  EXPECT_EQ(trained(&backwards), parameters);
  EXPECT_EQ(trained(&eight, &pool), parameters);
  // The same training, but for rounding.
  const std::vector<float> plain = trained(nullptr);
  EXPECT_NE(parameters, plain);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(parameters[i], plain[i], 1e-3 * (1 + std::fabs(plain[i]))) << i;
  }
}

// The noise of local reparametrisation belongs to an example of a shard.
TEST_F(ShardedTraining, ShardsHaveTheirOwnNoise) {
  ModelSpec local = spec();
  posterior::GaussianOptions gaussian;
  gaussian.noise = posterior::GaussianOptions::Noise::Activations;
  local.weights = {gaussian, gaussian};
  ShardedSum two(2);
  Backwards backwards(2);
  EXPECT_EQ(trained(&two, nullptr, local), trained(&backwards, nullptr, local));
}

TEST_F(ShardedTraining, IsRefusedWhereItCannotBe) {
  ShardedSum two(2);
  options_.method = "hmc";
  expect_error<UnsupportedError>(
      [&] { trained(&two); },
      "the method hmc cannot compute a batch in shards");
  for (std::int64_t shards : {0, 3, 2048}) {
    expect_error<ArgumentError>([&] { ShardedSum sum(shards); },
                                "the number of shards must be a power of two");
  }
}

TEST(ShardedSum, AddsAlongATree) {
  ShardedSum four(4);
  // Their sum depends on the order: (1e8 + 1) + (-1e8 + 1).
  const float parts[] = {1e8f, 1, -1e8f, 1};
  float sum = 0;
  four.add_up(
      1, [&](std::int64_t shard, float* part) { *part = parts[shard]; }, &sum);
  EXPECT_EQ(sum, (1e8f + 1.0f) + (-1e8f + 1.0f));
}

}  // namespace
}  // namespace radir::train
