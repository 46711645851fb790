#include "radir/likelihood/stacking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// Rows that each component counts as having predicted alone.
constexpr double kOwnRows = 1;
/// Of the objective, per row, when EM ends.
constexpr double kAccuracy = 1e-8;
constexpr int kMostIterations = 10000;

using Rows = std::vector<std::vector<double>>;

/// densities[row][component] relative to the largest of the row.
Rows relative_densities(const Rows& log_densities) {
  const std::size_t count = log_densities.front().size();
  for (const std::vector<double>& component : log_densities) {
    RADIR_CHECK(component.size() == count, ArgumentError,
                "stacking_weights: one component has ", count,
                " rows, another ", component.size());
  }
  Rows rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const std::vector<double>& component : log_densities) {
      const double value = component[i];
      RADIR_CHECK(
          !std::isnan(value) && value < std::numeric_limits<double>::infinity(),
          ArgumentError, "stacking_weights: the log density of row ", i + 1,
          " must be a number, but is ", value);
      largest = std::max(largest, value);
    }
    RADIR_CHECK(std::isfinite(largest), ArgumentError, "stacking_weights: row ",
                i + 1, " is impossible under every component; leave it out");
    for (const std::vector<double>& component : log_densities) {
      rows[i].push_back(std::exp(component[i] - largest));
    }
  }
  return rows;
}

}  // namespace

std::vector<double> stacking_weights(const Rows& log_densities) {
  RADIR_CHECK(!log_densities.empty(), ArgumentError,
              "stacking_weights: needs at least one component");
  const Rows rows = relative_densities(log_densities);
  const std::size_t count = log_densities.size();
  const double total =
      static_cast<double>(rows.size()) + kOwnRows * static_cast<double>(count);
  std::vector<double> weights(count, 1 / static_cast<double>(count));
  std::vector<double> shares(count);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    std::fill(shares.begin(), shares.end(), kOwnRows / total);
    for (const std::vector<double>& row : rows) {
      double density = 0;
      for (std::size_t k = 0; k < count; ++k) density += weights[k] * row[k];
      for (std::size_t k = 0; k < count; ++k) {
        shares[k] += weights[k] * row[k] / (density * total);
      }
    }
    // The objective is concave: it is below its maximum by at most the largest
    // derivative less the mean one, which is 1.
    double largest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      largest = std::max(largest, shares[k] / weights[k]);
    }
    weights = shares;
    if (largest - 1 < kAccuracy) break;
  }
  return weights;
}

}  // namespace radir::likelihood
