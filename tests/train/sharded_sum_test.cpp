#include "radir/train/sharded_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kShards = 8;
/// Two batches, one of which fills no vector, the other not all shards.
constexpr std::int64_t kExamples = 133;
constexpr std::int64_t kBatch = 100;

/// As so many workers would compute it, the last of them first.
class InSubtrees : public ShardedSum {
 public:
  explicit InSubtrees(std::int64_t subtrees)
      : ShardedSum(kShards), subtrees_(subtrees) {}

  void add_up(std::int64_t count, const ShardFunction& compute,
              float* sum) override {
    add(0, kShards, count, compute, sum);
  }

 private:
  void add(std::int64_t first, std::int64_t number, std::int64_t count,
           const ShardFunction& compute, float* sum) {
    const std::int64_t half = number / 2;
    if (number * subtrees_ == kShards) return compute(first, number, sum);
    std::vector<float> right(static_cast<std::size_t>(count));
    add(first + half, half, count, compute, right.data());
    add(first, half, count, compute, sum);
    add_to(right.data(), count, sum);
  }

  std::int64_t subtrees_;
};

class ShardedTraining : public ::testing::Test {
 protected:
  ShardedTraining() {
    options_.epochs = 3;
    options_.batch_size = kBatch;
    options_.optimizer.learning_rate = 0.01;
    for (std::int64_t i = 0; i < kExamples; ++i) labels_.push_back(i % 4);
  }

  static ModelSpec spec(std::int64_t outputs = 1) {
    ModelSpec result;
    result.network = network::multilayer_perceptron(2, {8}, outputs);
    return result;
  }

  std::vector<float> trained(ShardedSum* sharded, ThreadPool* pool = nullptr,
                             const ModelSpec& of = spec()) {
    const Model model(of);
    const std::vector<float> inputs = normal(0, model.input_size());
    const std::vector<float> targets = normal(1, model.target_size());
    TrainerOptions options = options_;
    options.sharded = sharded;
    const DataView<float> data{inputs.data(), targets.data(), labels_.data(),
                               kExamples};
    return fit<float>(model, data, options, nullptr, pool).parameters;
  }

  void expect_same_bits_in_subtrees(const ModelSpec& of) {
    ShardedSum whole(kShards);
    const std::vector<float> parameters = trained(&whole, nullptr, of);
    for (const std::int64_t subtrees : {2, 4, 8}) {
      InSubtrees parts(subtrees);
      EXPECT_EQ(trained(&parts, nullptr, of), parameters) << subtrees;
    }
  }

  static std::vector<float> normal(std::uint32_t stream, std::int64_t width) {
    std::vector<float> result(static_cast<std::size_t>(kExamples * width));
    kernels::fill_normal({1, stream, 0}, 0, kExamples * width, result.data());
    return result;
  }

  std::vector<std::int64_t> labels_;
  TrainerOptions options_;
};

TEST_F(ShardedTraining, OneShardIsTheCompleteBatch) {
  ShardedSum one(1);
  EXPECT_EQ(trained(&one), trained(nullptr));
}

TEST_F(ShardedTraining, HasTheBitsOfItsNumberOfShardsAlone) {
  ShardedSum eight(kShards);
  ThreadPool pool(2);
  const std::vector<float> parameters = trained(&eight);
  EXPECT_EQ(trained(&eight, &pool), parameters);
  expect_same_bits_in_subtrees(spec());
  // The same training, but for rounding.
  const std::vector<float> plain = trained(nullptr);
  EXPECT_NE(parameters, plain);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(parameters[i], plain[i], 1e-5 * (1 + std::fabs(plain[i]))) << i;
  }
}

// Also those whose noise is drawn in the activations or the inputs.
TEST_F(ShardedTraining, HasThemWithEveryFamily) {
  for (const posterior::Family* family : posterior::families()) {
    SCOPED_TRACE(family->name());
    ModelSpec of = spec();
    of.weights = {family->default_options()};
    expect_same_bits_in_subtrees(of);
  }
}

// The noise of an example is that which it has without shards.
TEST_F(ShardedTraining, HasTheNoiseOfTheCompleteBatch) {
  ModelSpec local = spec();
  posterior::GaussianOptions gaussian;
  gaussian.noise = posterior::GaussianOptions::Noise::Activations;
  local.weights = {gaussian};
  expect_same_bits_in_subtrees(local);
  ShardedSum eight(kShards);
  const std::vector<float> parameters = trained(&eight, nullptr, local);
  const std::vector<float> plain = trained(nullptr, nullptr, local);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(parameters[i], plain[i], 1e-5 * (1 + std::fabs(plain[i]))) << i;
  }
}

TEST_F(ShardedTraining, HasThemWithEveryLikelihood) {
  using likelihood::Kind;
  const std::pair<Kind, std::int64_t> kinds[] = {{Kind::Gaussian, 3},
                                                 {Kind::TwoNormals, 3},
                                                 {Kind::PredictedNoise, 4},
                                                 {Kind::Mixture, 9},
                                                 {Kind::Categorical, 4}};
  ASSERT_EQ(std::size(kinds), likelihood::kind_choices().size());
  for (const auto& [kind, outputs] : kinds) {
    SCOPED_TRACE(likelihood::to_string(kind));
    ModelSpec of = spec(outputs);
    of.likelihood.kind = kind;
    expect_same_bits_in_subtrees(of);
  }
}

TEST_F(ShardedTraining, HasThemForConvolutions) {
  options_.epochs = 1;
  ModelSpec of;
  of.network = network::lenet5();
  of.likelihood.kind = likelihood::Kind::Categorical;
  expect_same_bits_in_subtrees(of);
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

}  // namespace
}  // namespace radir::train
