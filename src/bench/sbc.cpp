#include "radir/bench/sbc.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::bench {
namespace {

/// How many draws are below the truth.
std::int64_t rank_of(double truth, const std::vector<double>& draws) {
  return std::count_if(draws.begin(), draws.end(),
                       [&](double draw) { return draw < truth; });
}

/// The ranks of all quantities of one simulation, and the number of draws.
struct Ranks {
  std::vector<std::int64_t> of_quantity;
  std::int64_t draws = 0;
};

Ranks ranks_of(const SbcSimulation& simulation, std::size_t quantities) {
  RADIR_CHECK(simulation.truth.size() == quantities &&
                  simulation.draws.size() == quantities,
              ArgumentError, "sbc: a simulation must have ", quantities,
              " quantities, but has ", simulation.truth.size(),
              " true values and draws of ", simulation.draws.size());
  Ranks ranks;
  ranks.draws = static_cast<std::int64_t>(simulation.draws.front().size());
  for (std::size_t q = 0; q < quantities; ++q) {
    RADIR_CHECK(
        static_cast<std::int64_t>(simulation.draws[q].size()) == ranks.draws,
        ArgumentError, "sbc: all quantities must have ", ranks.draws,
        " draws, but one has ", simulation.draws[q].size());
    ranks.of_quantity.push_back(
        rank_of(simulation.truth[q], simulation.draws[q]));
  }
  return ranks;
}

SbcQuantity statistics(const std::string& name, const std::vector<Ranks>& ranks,
                       std::size_t quantity, std::int64_t bins) {
  SbcQuantity result;
  result.name = name;
  result.histogram.resize(static_cast<std::size_t>(bins));
  const std::int64_t draws = ranks.front().draws;
  const std::int64_t per_bin = (draws + 1) / bins;
  const auto simulations = static_cast<double>(ranks.size());
  double squares = 0;
  for (const Ranks& one : ranks) {
    const std::int64_t rank = one.of_quantity[quantity];
    ++result.histogram[static_cast<std::size_t>(rank / per_bin)];
    const double share = static_cast<double>(rank) / static_cast<double>(draws);
    result.mean_rank += share / simulations;
    squares += (share - 0.5) * (share - 0.5) / simulations;
  }
  // Of a uniform rank in 0 ... draws, divided by draws.
  const double uniform = (1 + 2 / static_cast<double>(draws)) / 12;
  result.spread = std::sqrt(squares / uniform);
  const double expected = simulations / static_cast<double>(bins);
  for (const std::int64_t count : result.histogram) {
    const double excess = static_cast<double>(count) - expected;
    result.chi_square += excess * excess / expected;
  }
  result.p_value =
      chi_square_tail(result.chi_square, static_cast<int>(bins - 1));
  return result;
}

}  // namespace

std::vector<SbcQuantity> simulation_based_calibration(
    const std::vector<std::string>& names, std::int64_t simulations,
    std::int64_t bins,
    const std::function<SbcSimulation(std::int64_t)>& simulate,
    ThreadPool* pool) {
  RADIR_CHECK(!names.empty(), ArgumentError, "sbc: there is no quantity");
  RADIR_CHECK(bins >= 2 && bins <= 1000 && simulations >= 5 * bins,
              ArgumentError, "sbc: needs from 2 to 1000 bins and at least 5 ",
              "simulations per bin, but got ", bins, " bins and ", simulations,
              " simulations");
  std::vector<Ranks> ranks(static_cast<std::size_t>(simulations));
  run_tasks(pool, simulations, [&](std::int64_t i) {
    ranks[static_cast<std::size_t>(i)] = ranks_of(simulate(i), names.size());
  });
  const std::int64_t draws = ranks.front().draws;
  for (const Ranks& one : ranks) {
    RADIR_CHECK(one.draws == draws && (draws + 1) % bins == 0, ArgumentError,
                "sbc: every simulation must have as many draws as the first ",
                "one, and their number plus 1 must be a multiple of the ", bins,
                " bins, but got ", draws, " and ", one.draws, " draws");
  }
  std::vector<SbcQuantity> result;
  for (std::size_t q = 0; q < names.size(); ++q) {
    result.push_back(statistics(names[q], ranks, q, bins));
  }
  return result;
}

double chi_square_tail(double value, int degrees) {
  RADIR_CHECK(value >= 0 && degrees >= 1, DomainError,
              "chi_square_tail: needs value >= 0 and degrees >= 1, but got ",
              value, " and ", degrees);
  // Q(a, z) for a = degrees/2, z = value/2: Q(1, z) = exp(-z), Q(1/2, z) =
  // erfc(sqrt z), and Q(a + 1, z) = Q(a, z) + z^a exp(-z) / Gamma(a + 1)
  // (DLMF 8.8.6). All terms are positive.
  const double z = value / 2;
  double a = degrees % 2 == 0 ? 1 : 0.5;
  double tail = degrees % 2 == 0 ? std::exp(-z) : std::erfc(std::sqrt(z));
  // z^a exp(-z) / Gamma(a + 1); Gamma(3/2) = sqrt(pi)/2.
  double term = degrees % 2 == 0
                    ? z * std::exp(-z)
                    : std::sqrt(z) * std::exp(-z) * 1.1283791670955125739;
  for (; a < degrees / 2.0; a += 1) {
    tail += term;
    term *= z / (a + 1);
  }
  return std::min(1.0, tail);
}

}  // namespace radir::bench
