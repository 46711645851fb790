#include "radir/train/chain_diagnostics.h"

#include <gtest/gtest.h>

#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

/// Chains of x' = memory x + normal noise, each around its own centre.
std::vector<std::vector<double>> chains(double memory, double apart) {
  std::vector<std::vector<double>> result;
  for (std::uint32_t c = 0; c < 4; ++c) {
    std::vector<double> chain(2000);
    kernels::fill_normal({8, c, 0}, 0, 2000, chain.data());
    for (std::size_t i = 1; i < chain.size(); ++i) {
      chain[i] += memory * chain[i - 1];
    }
    for (double& value : chain) value += apart * c;
    result.push_back(chain);
  }
  return result;
}

TEST(ChainAgreement, OfIndependentDraws) {
  const ChainAgreement found = chain_agreement(chains(0, 0));
  EXPECT_NEAR(found.r_hat, 1, 0.003);
  EXPECT_NEAR(found.effective_draws, 8000, 1200);
}

/// (1 - memory) / (1 + memory) of the draws count.
TEST(ChainAgreement, OfCorrelatedDraws) {
  const ChainAgreement found = chain_agreement(chains(0.8, 0));
  EXPECT_NEAR(found.r_hat, 1, 0.01);
  EXPECT_NEAR(found.effective_draws, 8000.0 / 9, 250);
}

/// Centres 0, 1, 2, 3 have the variance 5/3 beside one of 1 within.
TEST(ChainAgreement, OfChainsThatDisagree) {
  const ChainAgreement found = chain_agreement(chains(0, 1));
  EXPECT_NEAR(found.r_hat, 1.56, 0.05);
  EXPECT_LT(found.effective_draws, 30);
}

/// A trend within the chains, which they all share.
TEST(ChainAgreement, OfChainsThatStillMove) {
  auto moving = chains(0, 0);
  for (auto& chain : moving) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      chain[i] += static_cast<double>(i) / 500;
    }
  }
  EXPECT_GT(chain_agreement(moving).r_hat, 1.3);
}

TEST(ChainAgreement, OfAConstant) {
  const ChainAgreement found = chain_agreement({{2, 2, 2, 2}, {2, 2, 2, 2}});
  EXPECT_EQ(found.r_hat, 1);
  EXPECT_EQ(found.effective_draws, 8);
}

TEST(ChainAgreement, RefusesTooFewDraws) {
  expect_error<ArgumentError>(
      [] {
        chain_agreement({{1, 2, 3}});
      },
      "at least four draws");
  expect_error<ArgumentError>(
      [] {
        chain_agreement({{1, 2, 3, 4}, {1, 2, 3, 4, 5}});
      },
      "different lengths");
}

}  // namespace
}  // namespace radir::train
