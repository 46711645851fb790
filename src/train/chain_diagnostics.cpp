#include "radir/train/chain_diagnostics.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::train {
namespace {

using Chains = std::vector<std::vector<double>>;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// First and last halves, without the draw in the middle of an odd number.
Chains halves(const Chains& chains) {
  Chains result;
  for (const std::vector<double>& chain : chains) {
    const auto half = static_cast<std::ptrdiff_t>(chain.size() / 2);
    result.emplace_back(chain.begin(), chain.begin() + half);
    result.emplace_back(chain.end() - half, chain.end());
  }
  return result;
}

/// Mean over the chains of the autocovariance at a lag.
double autocovariance(const Chains& chains, const std::vector<double>& means,
                      std::size_t lag) {
  double sum = 0;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const std::vector<double>& x = chains[c];
    double of_chain = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i) {
      of_chain += (x[i] - means[c]) * (x[i + lag] - means[c]);
    }
    sum += of_chain / static_cast<double>(x.size());
  }
  return sum / static_cast<double>(chains.size());
}

/// Sum of the autocorrelations at all lags, by Geyer's initial monotone
/// sequence.
double autocorrelation_time(const Chains& chains,
                            const std::vector<double>& means, double within,
                            double total) {
  const auto correlation = [&](std::size_t lag) {
    return 1 - (within - autocovariance(chains, means, lag)) / total;
  };
  double sum = -1;
  double last_pair = 2;
  for (std::size_t lag = 0; lag + 1 < chains.front().size(); lag += 2) {
    const double pair = correlation(lag) + correlation(lag + 1);
    if (pair <= 0) break;
    last_pair = std::min(last_pair, pair);
    sum += 2 * last_pair;
  }
  return sum;
}

}  // namespace

ChainAgreement chain_agreement(const Chains& values) {
  RADIR_CHECK(!values.empty() && values.front().size() >= 4, ArgumentError,
              "chain_agreement: needs at least four draws of each chain");
  for (const std::vector<double>& chain : values) {
    RADIR_CHECK(chain.size() == values.front().size(), ArgumentError,
                "chain_agreement: the chains have different lengths");
  }
  const Chains chains = halves(values);
  const auto length = static_cast<double>(chains.front().size());
  const auto count = static_cast<double>(chains.size());
  std::vector<double> means;
  for (const std::vector<double>& chain : chains) {
    means.push_back(mean_of(chain));
  }
  const double within =
      autocovariance(chains, means, 0) * length / (length - 1);
  const double centre = mean_of(means);
  double between = 0;
  for (double mean : means) {
    between += (mean - centre) * (mean - centre) / (count - 1);
  }
  const double total = within * (length - 1) / length + between;
  ChainAgreement result;
  result.effective_draws = length * count;
  if (total <= 0) return result;
  result.r_hat = std::sqrt(total / std::max(within, 1e-300));
  // Antithetic chains can be better than independent draws; not without limit.
  const double time =
      std::max(autocorrelation_time(chains, means, within, total),
               1 / std::log10(std::max(length * count, 10.0)));
  result.effective_draws = length * count / time;
  return result;
}

}  // namespace radir::train
