#include "radir/kernels/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <tuple>

namespace radir::kernels {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words words(PhiloxBlock block) {
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

// kat_vectors of Random123 (Salmon et al. 2011), philox 4x32 with 10 rounds.
TEST(Philox, MatchesPublishedVectors) {
  EXPECT_EQ(words(philox({{0, 0, 0, 0}}, {{0, 0}})),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(words(philox({{ones, ones, ones, ones}}, {{ones, ones}})),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                         {{0xa4093822, 0x299f31d0}})),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsAConstantExpression) {
  constexpr PhiloxBlock block = philox({{0, 0, 0, 0}}, {{0, 0}});
  static_assert(block.word[0] == 0x6627e8d5);
  EXPECT_EQ(block.word[3], 0x9b00dbd8);
}

TEST(Philox, CountersOfAStreamDiffer) {
  const RandomStream stream = {1, 2, 0x0000ABCD12345678};
  std::set<std::tuple<std::uint32_t, std::uint32_t>> seen;
  for (std::uint32_t index : {0u, 1u, 0xFFFFFFFFu}) {
    for (std::uint32_t draw : {0u, 1u, 0xFFFFu}) {
      const PhiloxBlock counter = counter_of(stream, index, draw);
      EXPECT_EQ(counter.word[1], 2u);
      EXPECT_EQ(counter.word[2], 0x12345678u);
      EXPECT_EQ(counter.word[3] & 0xFFFF, 0xABCDu);
      seen.insert({counter.word[0], counter.word[3]});
    }
  }
  EXPECT_EQ(seen.size(), 9u);
}

TEST(Philox, OpenUnitIsOpen) {
  EXPECT_EQ(open_unit(0, 0), 0x1p-53);
  EXPECT_EQ(open_unit(0xFFFFFFFF, 0xFFFFFFFF), 1 - 0x1p-53);
  EXPECT_EQ(open_unit(0, 0x80000000), 0.5 + 0x1p-53);
}

TEST(PhiloxEngine, ElementsAreReproducibleAndDiffer) {
  const RandomStream stream = {1, 2, 3};
  PhiloxEngine a(stream, 5), again(stream, 5), b(stream, 6);
  for (int i = 0; i < 10; ++i) {
    const double x = a.uniform();
    EXPECT_EQ(x, again.uniform());
    EXPECT_NE(x, b.uniform());
  }
}

// Means and mean squares over elements, second draws included, are within five
// standard errors.
TEST(PhiloxEngine, DrawsFollowTheirDistributions) {
  const RandomStream stream = {1, 2, 3};
  constexpr int kCount = 100000;
  const auto expect_moments = [&](auto draw, double mean, double square,
                                  double fourth) {
    double sum = 0, sum_of_squares = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      PhiloxEngine engine(stream, i);
      engine.uniform();
      const double x = draw(engine);
      sum += x;
      sum_of_squares += x * x;
    }
    EXPECT_NEAR(sum / kCount, mean,
                5 * std::sqrt((square - mean * mean) / kCount));
    EXPECT_NEAR(sum_of_squares / kCount, square,
                5 * std::sqrt((fourth - square * square) / kCount));
  };
  using Engine = PhiloxEngine;
  expect_moments([](Engine& e) { return e.uniform(); }, 0.5, 1. / 3, 0.2);
  expect_moments([](Engine& e) { return e.normal(); }, 0, 1, 3);
  expect_moments([](Engine& e) { return e.exponential(); }, 1, 2, 24);
  expect_moments([](Engine& e) { return e.gamma(3); }, 3, 12, 360);
}

}  // namespace
}  // namespace radir::kernels
