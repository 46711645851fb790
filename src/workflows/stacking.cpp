#include "radir/workflows/stacking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/likelihood/stacking.h"
#include "radir/math/predictive.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/workflows/holdout.h"
#include "workflows/encoded_subset.h"

namespace radir::workflows {
namespace {

/// Draws of each network; those of a chain are networks.
constexpr std::int64_t kSamples = 200;

using Densities = std::vector<std::vector<double>>;  // [fit][row]

Densities log_densities(const TableModel& model, const data::EncodedRows& rows,
                        std::int64_t fits, std::uint64_t seed,
                        ThreadPool* pool) {
  const train::Model network(model.spec);
  const std::int64_t samples = network.has_noise() ? kSamples : 1;
  const std::size_t each =
      model.networks.size() / static_cast<std::size_t>(fits);
  const auto count = static_cast<std::size_t>(rows.count);
  Densities result;
  for (std::size_t first = 0; first < model.networks.size(); first += each) {
    Densities of_rows(count);
    for (std::size_t k = first; k < first + each; ++k) {
      const auto values = train::predictive_log_likelihoods(
          network, model.networks[k], rows.view(), samples, seed, pool);
      for (std::size_t i = 0; i < count; ++i) of_rows[i].push_back(values[i]);
    }
    std::vector<double>& of_fit = result.emplace_back();
    for (const std::vector<double>& values : of_rows) {
      of_fit.push_back(math::log_mean_exp(
          values.data(), static_cast<std::int64_t>(values.size())));
    }
  }
  return result;
}

/// The rows that some fit predicts. One that fails has a density of 0 there.
Densities finite_rows(const Densities& densities) {
  Densities result(densities.size());
  for (std::size_t i = 0; i < densities.front().size(); ++i) {
    const bool finite = std::any_of(
        densities.begin(), densities.end(),
        [i](const auto& of_fit) { return std::isfinite(of_fit[i]); });
    if (!finite) continue;
    for (std::size_t k = 0; k < densities.size(); ++k) {
      const double value = densities[k][i];
      result[k].push_back(std::isfinite(value)
                              ? value
                              : -std::numeric_limits<double>::infinity());
    }
  }
  return result;
}

}  // namespace

std::vector<double> stacked_fit_weights(const data::TableEncoder& encoder,
                                        const data::EncodedRows& rows,
                                        const TableSettings& settings,
                                        const FitRows& fit, ThreadPool* pool) {
  const auto parts = holdout_parts(rows.table_rows, settings, /*tuned=*/true);
  if (parts.empty()) return {};
  const auto subset = [&](const std::vector<std::int64_t>& chosen) {
    return encoded_subset(rows, encoder.input_size(), chosen);
  };
  const TableModel model = fit(subset(parts.front().fitted));
  const Densities found =
      finite_rows(log_densities(model, subset(parts.front().held_out),
                                settings.fits(), settings.seed, pool));
  RADIR_CHECK(!found.front().empty(), NumericalError, "stacking: none of ",
              parts.front().held_out.size(),
              " held-out rows has a finite prediction; ask for equal ",
              "mixture_weights");
  return likelihood::stacking_weights(found);
}

std::vector<double> network_weights(const std::vector<double>& fit_weights,
                                    std::size_t networks) {
  if (fit_weights.empty()) return {};
  const std::size_t each = networks / fit_weights.size();
  std::vector<double> result;
  for (const double weight : fit_weights) {
    result.insert(result.end(), each, weight / static_cast<double>(each));
  }
  return result;
}

std::vector<double> fit_weights(const TableModel& model, std::int64_t fits) {
  if (model.weights.empty()) return {};
  const auto count = static_cast<std::size_t>(fits);
  const std::size_t each = model.weights.size() / count;
  std::vector<double> result(count);
  for (std::size_t k = 0; k < model.weights.size(); ++k) {
    result[k / each] += model.weights[k];
  }
  return result;
}

}  // namespace radir::workflows
