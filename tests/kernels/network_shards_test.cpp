#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/each_isa.h"
#include "kernels/network_cases.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/network.h"
#include "support/expect_error.h"
#include "support/worst_error.h"

// Gradients that are added up shard by shard, and then along a binary tree.

namespace radir::testing {
namespace {

using kernels::BatchShards;
using kernels::NetworkOptions;
using Tensors = std::vector<std::vector<float>>;

template <typename T>
void expect_matches_reference() {
  // The second shard is empty, the last fills no vector.
  const BatchShards shards{0, {16, 16, 32, 37}};
  WorstError<T> direct("direct sums", kAllowedEps);
  WorstError<T> fast("fast convolutions", kFastAllowedEps);
  for (const Case& c : cases()) {
    ReferenceNetwork reference(c.input, c.layers, 1);
    const Expected expected(reference, 37, 2);
    for_each_isa([&](Isa isa) {
      NetworkOptions options;
      options.max_batch = 37;
      options.max_shards = 4;
      options.isa = isa;
      Bound<T> bound(reference, c.layers, options);
      compare_step(c.fast ? fast : direct, bound, expected, 37,
                   std::string(to_string(isa)) + ", " + c.name, shards);
    });
  }
  direct.verify();
  fast.verify();
}

TEST(NetworkShards, MatchTheDefiningSumsInDouble) {
  expect_matches_reference<double>();
}

TEST(NetworkShards, MatchTheDefiningSumsInFloat) {
  expect_matches_reference<float>();
}

/// A batch in eight shards, of which the first and the fifth are empty.
class Subtrees {
 public:
  static constexpr std::int64_t kBatch = 100;
  static constexpr std::int64_t kShards = 8;

  Subtrees(const Case& c, NetworkOptions options, ThreadPool* pool = nullptr)
      : case_(c), reference_(c.input, c.layers, 3), options_(options) {
    options_.max_batch = kBatch;
    options_.max_shards = kShards;
    options_.pool = pool;
    rows_.resize(at(kBatch * inputs()));
    direction_.resize(at(kBatch * outputs()));
    std::mt19937 engine(4);
    ReferenceNetwork::fill(rows_, 1, engine);
    ReferenceNetwork::fill(direction_, 1, engine);
  }

  /// Gradients of all tensors, computed in so many subtrees.
  Tensors gradients(std::int64_t subtrees) {
    Bound<float> bound(reference_, case_.layers, options_);
    return sum(bound, 0, kShards, kShards / subtrees);
  }

 private:
  static std::int64_t begin_of(std::int64_t shard) {
    constexpr std::int64_t kBegins[] = {0, 0, 16, 32, 48, 48, 80, 96, kBatch};
    return kBegins[shard];
  }
  std::int64_t inputs() const { return reference_.input().size(); }
  std::int64_t outputs() const { return reference_.output().size(); }

  Tensors sum(Bound<float>& bound, std::int64_t first, std::int64_t number,
              std::int64_t together) {
    if (number == together) return pass(bound, first, number);
    Tensors left = sum(bound, first, number / 2, together);
    const Tensors right = sum(bound, first + number / 2, number / 2, together);
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t k = 0; k < left[i].size(); ++k) {
        left[i][k] += right[i][k];
      }
    }
    return left;
  }

  Tensors pass(Bound<float>& bound, std::int64_t first, std::int64_t number) {
    const std::int64_t begin = begin_of(first);
    const std::int64_t end = begin_of(first + number);
    BatchShards shards;
    shards.first = begin;
    for (std::int64_t i = 1; i <= number; ++i) {
      shards.ends.push_back(begin_of(first + i) - begin);
    }
    const auto part = [&](const Numbers& all, std::int64_t width) {
      return Numbers(all.begin() + begin * width, all.begin() + end * width);
    };
    if (begin < end) {
      bound.step(to<float>(part(rows_, inputs())), end - begin,
                 part(direction_, outputs()), shards);
    }
    Tensors result = bound.results;
    result.insert(result.end(), bound.variance_results.begin(),
                  bound.variance_results.end());
    if (begin == end) {
      for (std::vector<float>& t : result) std::fill(t.begin(), t.end(), 0.0f);
    }
    return result;
  }

  Case case_;
  ReferenceNetwork reference_;
  NetworkOptions options_;
  Numbers rows_;
  Numbers direction_;
};

void expect_same_bits(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(same_bits(a[i], b[i])) << "tensor " << i;
  }
}

void expect_bits_of_the_whole(const Case& c, const NetworkOptions& options) {
  const Tensors whole = Subtrees(c, options).gradients(1);
  for (const std::int64_t subtrees : {2, 4, 8}) {
    SCOPED_TRACE(std::to_string(subtrees) + " subtrees");
    expect_same_bits(Subtrees(c, options).gradients(subtrees), whole);
  }
}

TEST(NetworkShards, ASubtreeHasTheBitsItHasInTheWhole) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    for_each_isa([&](Isa isa) {
      NetworkOptions options;
      options.isa = isa;
      expect_bits_of_the_whole(c, options);
    });
  }
}

std::size_t weighted_layers(const Case& c) {
  return ReferenceNetwork(c.input, c.layers, 3).weights().size();
}

TEST(NetworkShards, NoiseBelongsToAnExampleOfTheBatch) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    NetworkOptions noisy;
    noisy.activation_noise.assign(weighted_layers(c), true);
    expect_bits_of_the_whole(c, noisy);
    NetworkOptions dropping;
    dropping.dropout.assign(weighted_layers(c), 0.3);
    expect_bits_of_the_whole(c, dropping);
    EXPECT_NE(Subtrees(c, dropping).gradients(1), Subtrees(c, {}).gradients(1));
  }
}

TEST(NetworkShards, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    ThreadPool pool(3);
    expect_same_bits(Subtrees(c, {}, &pool).gradients(1),
                     Subtrees(c, {}).gradients(1));
  }
}

TEST(NetworkShards, AreForgottenWithTheirBatch) {
  const Case c = cases().back();
  ReferenceNetwork reference(c.input, c.layers, 7);
  const Expected expected(reference, 37, 8);
  NetworkOptions options;
  options.max_batch = 37;
  options.max_shards = 2;
  const auto step = [&](Bound<float>& bound, const BatchShards& shards) {
    bound.step(to<float>(expected.rows), 37, expected.direction, shards);
  };
  Bound<float> fresh(reference, c.layers, options);
  Bound<float> used(reference, c.layers, options);
  step(fresh, {});
  step(used, {0, {16, 37}});
  EXPECT_NE(used.results, fresh.results);
  step(used, {});
  EXPECT_EQ(used.results, fresh.results);
}

TEST(NetworkShards, RefusesThoseThatDoNotFit) {
  const std::vector<LayerSpec> layers = {Dense{1}};
  NetworkOptions options;
  options.max_batch = 40;
  for (const std::int64_t shards : {0, 1025}) {
    options.max_shards = shards;
    expect_error<ArgumentError>(
        [&] { kernels::Network<float>({3}, layers, options); },
        "max_shards must be from 1 to 1024, but is " + std::to_string(shards));
  }
  options.max_shards = 4;
  kernels::Network<float> network({3}, layers, options);
  const std::vector<float> rows(3 * 40);
  network.set_input(rows.data(), 40);
  network.set_shards({5, {16, 16, 32, 40}});
  const std::vector<BatchShards> wrong = {
      {0, {}},                            // none
      {0, {16, 32, 40}},                  // no power of two
      {0, {0, 0, 0, 0, 16, 16, 32, 40}},  // more than max_shards
      {0, {16, 32}},                      // rows are left
      {0, {10, 40}},                      // inside a vector
      {0, {32, 16, 16, 40}},              // backwards
      {-1, {16, 40}}};
  for (const BatchShards& shards : wrong) {
    expect_error<ArgumentError>(
        [&] { network.set_shards(shards); },
        std::to_string(shards.ends.size()) +
            " shards do not fit a batch of 40; they end at multiples of 16");
  }
}

}  // namespace
}  // namespace radir::testing
