#include "radir/prune/selection.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "prune/arrays.h"
#include "radir/core/error.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"

namespace radir::prune {
namespace {

constexpr std::size_t kFewestUnits = 2;

template <typename T>
posterior::UnitScores layer_scores(const train::Model& model,
                                   const train::WeightedLayer& layer,
                                   const std::vector<T>& parameters) {
  posterior::WeightPosterior<T> posterior(layer.shape, layer.weight);
  return posterior.unit_scores(arrays(model, layer.first_weight_parameter,
                                      posterior.parameter_blocks().size(),
                                      parameters.data()));
}

/// The score of a unit by its row and its column, where it has them.
double unit_score(const double* row, const double* column, bool are_gates) {
  if (row == nullptr) return *column;
  if (column == nullptr) return *row;
  return are_gates ? std::min(*row, *column) : *row + *column;
}

/// Inputs, the highest score first.
std::vector<std::int64_t> ranked(const std::vector<double>& scores) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return scores[static_cast<std::size_t>(a)] >
           scores[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The best inputs, of no more than the given number of makers.
std::vector<std::int64_t> best(const std::vector<std::int64_t>& makers,
                               const std::vector<double>& scores,
                               std::size_t most_makers,
                               std::size_t most_inputs) {
  std::set<std::int64_t> chosen_makers;
  std::vector<std::int64_t> chosen;
  for (std::int64_t input : ranked(scores)) {
    if (chosen.size() == most_inputs) break;
    const std::int64_t maker = makers[static_cast<std::size_t>(input)];
    if (chosen_makers.size() == most_makers &&
        chosen_makers.count(maker) == 0) {
      continue;
    }
    chosen_makers.insert(maker);
    chosen.push_back(input);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

template <typename T>
Scores unit_scores(const train::Model& model,
                   const std::vector<T>& parameters) {
  RADIR_CHECK(
      static_cast<std::int64_t>(parameters.size()) == model.parameter_count(),
      ArgumentError, "unit_scores: the model has ", model.parameter_count(),
      " parameters, but got ", parameters.size());
  const network::Wiring wiring(model.spec().network);
  Scores result(wiring.size());
  std::vector<double> rows;  // of the layer before
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const auto scores = layer_scores(model, model.layers()[l], parameters);
    if (wiring.removable(l) && !(rows.empty() && scores.columns.empty())) {
      for (std::size_t i = 0; i < wiring.makers(l).size(); ++i) {
        const auto maker = static_cast<std::size_t>(wiring.makers(l)[i]);
        result[l].push_back(
            unit_score(rows.empty() ? nullptr : &rows[maker],
                       scores.columns.empty() ? nullptr : &scores.columns[i],
                       scores.are_gates));
      }
    }
    rows = scores.rows;
  }
  return result;
}

Selection all_units(const network::Wiring& wiring) {
  Selection selection;
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    selection.inputs.emplace_back(wiring.makers(l).size());
    std::iota(selection.inputs[l].begin(), selection.inputs[l].end(), 0);
  }
  return selection;
}

Selection select(const network::Wiring& wiring, const Scores& scores,
                 const std::vector<double>& thresholds) {
  RADIR_CHECK(
      scores.size() == wiring.size() && thresholds.size() == wiring.size(),
      ArgumentError, "select: the network has ", wiring.size(),
      " layers with weights, but there are scores for ", scores.size(),
      " and thresholds for ", thresholds.size());
  Selection selection = all_units(wiring);
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    if (scores[l].empty()) continue;
    auto& kept = selection.inputs[l];
    kept = ranked(scores[l]);
    std::size_t count = 0;
    while (
        count < kept.size() &&
        (count < kFewestUnits ||
         scores[l][static_cast<std::size_t>(kept[count])] >= thresholds[l])) {
      ++count;
    }
    kept.resize(count);
    std::sort(kept.begin(), kept.end());
  }
  return selection;
}

Selection select_best(const network::Wiring& wiring, const Scores& scores,
                      const std::vector<std::int64_t>& units) {
  Selection selection = all_units(wiring);
  std::size_t next = 0;
  const auto take = [&] {
    RADIR_CHECK(next < units.size(), ArgumentError, "there are ", units.size(),
                " numbers of units to keep, but the network is ",
                architecture(wiring, all_units(wiring)));
    RADIR_CHECK(units[next] >= std::int64_t{kFewestUnits}, ArgumentError,
                "at least ", kFewestUnits, " units of a layer must be kept, ",
                "but number ", next + 1, " is ", units[next]);
    return static_cast<std::size_t>(units[next++]);
  };
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    if (l == 0 && !wiring.removable(l)) continue;
    const bool from_filters = l > 0 && wiring.features_per_maker(l) > 1;
    const std::size_t makers = from_filters ? take() : wiring.makers(l).size();
    const std::size_t inputs = take();
    if (!scores[l].empty()) {
      selection.inputs[l] = best(wiring.makers(l), scores[l], makers, inputs);
    }
  }
  RADIR_CHECK(next == units.size(), ArgumentError, "there are ", units.size(),
              " numbers of units to keep, but the network is ",
              architecture(wiring, all_units(wiring)));
  return selection;
}

std::vector<std::int64_t> kept_outputs(const network::Wiring& wiring,
                                       const Selection& selection,
                                       std::size_t layer) {
  std::vector<bool> kept(static_cast<std::size_t>(wiring.outputs(layer)),
                         layer + 1 == wiring.size());
  if (layer + 1 < wiring.size()) {
    for (std::int64_t input : selection.inputs[layer + 1]) {
      const auto& makers = wiring.makers(layer + 1);
      kept[static_cast<std::size_t>(makers[static_cast<std::size_t>(input)])] =
          true;
    }
  }
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) result.push_back(static_cast<std::int64_t>(i));
  }
  return result;
}

std::string architecture(const network::Wiring& wiring,
                         const Selection& selection) {
  std::string text;
  const auto add = [&](std::size_t count) {
    text += (text.empty() ? "" : "-") + std::to_string(count);
  };
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    if (l == 0 && !wiring.removable(l)) continue;
    if (l > 0 && wiring.features_per_maker(l) > 1) {
      add(kept_outputs(wiring, selection, l - 1).size());
    }
    add(selection.inputs[l].size());
  }
  return text;
}

template Scores unit_scores(const train::Model&, const std::vector<float>&);
template Scores unit_scores(const train::Model&, const std::vector<double>&);

}  // namespace radir::prune
