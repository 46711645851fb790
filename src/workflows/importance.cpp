#include "radir/workflows/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "radir/data/column_code.h"
#include "radir/data/table_encoder.h"
#include "radir/kernels/philox.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/network/plain_network.h"
#include "radir/network/wiring.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/train/trainer.h"
#include "radir/workflows/table_predictor.h"
#include "workflows/encoded_subset.h"
#include "workflows/layer_arrays.h"

namespace radir::workflows {
namespace {

/// The column of each encoded input.
std::vector<std::size_t> columns_of_inputs(const data::TableEncoder& encoder) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < encoder.inputs().size(); ++c) {
    columns.insert(columns.end(),
                   static_cast<std::size_t>(encoder.inputs()[c].width()), c);
  }
  return columns;
}

/// Measures the columns of a network, one draw of its weights after another.
class StrengthMeter {
 public:
  explicit StrengthMeter(const TableModel& model)
      : model_(model.spec),
        wiring_(model.spec.network),
        columns_(columns_of_inputs(model.encoder)),
        lengths_(model.encoder.inputs().size()) {
    for (const train::WeightedLayer& layer : model_.layers()) {
      posteriors_.emplace_back(layer.shape, layer.weight);
    }
  }

  bool has_noise() const { return model_.has_noise(); }

  /// Takes the mean weights of a network, to which its draws are compared.
  void look_at(const std::vector<float>& parameters) {
    // From the outputs back: the squared length of what leads from a unit of
    // the first layer to them.
    reach_.assign(static_cast<std::size_t>(wiring_.outputs(wiring_.size() - 1)),
                  1);
    for (std::size_t l = wiring_.size(); l-- > 1;) {
      const std::vector<float> weights = mean_weights(parameters, l);
      const auto& makers = wiring_.makers(l);
      std::vector<double> before(
          static_cast<std::size_t>(wiring_.outputs(l - 1)));
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto weight = static_cast<double>(weights[i]);
        before[static_cast<std::size_t>(makers[i % makers.size()])] +=
            weight * weight * reach_[i / makers.size()];
      }
      reach_ = std::move(before);
    }
    mean_ = mean_weights(parameters, 0);
    lengths_ = products(mean_);
    for (double& length : lengths_) length = std::sqrt(length);
  }

  /// Of each column, the part of a draw along the mean.
  std::vector<double> measure(const std::vector<float>& parameters,
                              std::uint64_t seed, std::uint64_t draw) {
    std::vector<float> weights(mean_.size());
    posteriors_[0].sample(arrays(parameters, 0), {seed, 0, draw},
                          weights.data());
    std::vector<double> result = products(weights);
    for (std::size_t c = 0; c < result.size(); ++c) {
      result[c] = lengths_[c] > 0 ? result[c] / lengths_[c] : 0;
    }
    return result;
  }

 private:
  posterior::Arrays<const float> arrays(const std::vector<float>& parameters,
                                        std::size_t l) const {
    return weight_arrays(model_, model_.layers()[l], posteriors_[l],
                         parameters);
  }

  std::vector<float> mean_weights(const std::vector<float>& parameters,
                                  std::size_t l) {
    std::vector<float> mean(
        static_cast<std::size_t>(model_.layers()[l].shape.size()));
    posteriors_[l].moments(arrays(parameters, l), mean.data(), nullptr);
    return mean;
  }

  /// Of each column, the product of these weights of the first layer and their
  /// means, units weighted by their reach.
  std::vector<double> products(const std::vector<float>& weights) const {
    std::vector<double> sums(lengths_.size());
    const auto& makers = wiring_.makers(0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto input = static_cast<std::size_t>(makers[i % makers.size()]);
      sums[columns_[input]] += static_cast<double>(weights[i]) *
                               static_cast<double>(mean_[i]) *
                               reach_[i / makers.size()];
    }
    return sums;
  }

  train::Model model_;
  network::Wiring wiring_;
  std::vector<std::size_t> columns_;  // of each input
  std::vector<posterior::WeightPosterior<float>> posteriors_;
  std::vector<double> reach_;    // of each unit of the first layer
  std::vector<float> mean_;      // weights of the first layer
  std::vector<double> lengths_;  // of each column's mean weights
};

ColumnStrength summary(const std::string& column, std::vector<double> draws) {
  ColumnStrength result;
  result.column = column;
  const auto count = static_cast<double>(draws.size());
  for (const double value : draws) result.mean += value / count;
  for (const double value : draws) {
    result.sd += (value - result.mean) * (value - result.mean) / count;
  }
  result.sd = std::sqrt(result.sd);
  std::sort(draws.begin(), draws.end());
  const auto quantile = [&](double share) {
    return draws[static_cast<std::size_t>(share * (count - 1) + 0.5)];
  };
  result.lower = quantile(0.05);
  result.upper = quantile(0.95);
  return result;
}

/// Of each row: the squared residual, standardised, or the negative
/// log-likelihood of its class. NaN for a row that is not predicted.
std::vector<double> losses_of(TablePredictor& predictor,
                              const data::EncodedRows& rows) {
  std::vector<double> losses(static_cast<std::size_t>(rows.count), NAN);
  const data::ColumnCode& target = predictor.encoder().target();
  if (predictor.encoder().is_classification()) {
    predictor.classification(rows, [&](std::int64_t row,
                                       const likelihood::ClassPrediction& p) {
      const auto at = static_cast<std::size_t>(row);
      constexpr double kLeast = 1e-12;
      losses[at] = -std::log(std::max(
          kLeast, p.probabilities[static_cast<std::size_t>(rows.labels[at])]));
    });
    return losses;
  }
  predictor.regression(
      rows, [&](std::int64_t row, const likelihood::PredictiveMixture& p) {
        const auto at = static_cast<std::size_t>(row);
        const double actual =
            data::target_value(target, static_cast<double>(rows.targets[at]));
        const double residual = (p.mean() - actual) / target.scale;
        losses[at] = residual * residual;
      });
  return losses;
}

}  // namespace

std::vector<double> column_importance(const TableModel& model) {
  const train::Model network(model.spec);
  const network::Wiring wiring(model.spec.network);
  const std::vector<std::int64_t>& makers = wiring.makers(0);
  const std::vector<std::size_t> columns = columns_of_inputs(model.encoder);
  std::vector<double> squares(model.encoder.inputs().size());
  for (const std::vector<float>& parameters : model.networks) {
    const auto plain = train::point_network(network, parameters);
    const std::vector<float>& weight = plain.layers.front().weight;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const auto input = static_cast<std::size_t>(makers[i % makers.size()]);
      const auto value = static_cast<double>(weight[i]);
      squares[columns[input]] += value * value;
    }
  }
  for (double& value : squares) {
    value = std::sqrt(value / static_cast<double>(model.networks.size()));
  }
  return squares;
}

std::vector<ColumnStrength> column_strengths(const TableModel& model,
                                             std::int64_t samples,
                                             std::uint64_t seed) {
  StrengthMeter meter(model);
  const auto& columns = model.encoder.inputs();
  std::vector<std::vector<double>> draws(columns.size());
  for (const std::vector<float>& parameters : model.networks) {
    const std::int64_t count = meter.has_noise() ? samples : 1;
    meter.look_at(parameters);
    for (std::int64_t s = 0; s < count; ++s) {
      const auto found =
          meter.measure(parameters, seed, static_cast<std::uint64_t>(s));
      for (std::size_t c = 0; c < found.size(); ++c) {
        draws[c].push_back(found[c]);
      }
    }
  }
  std::vector<ColumnStrength> result;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    result.push_back(summary(columns[c].name, std::move(draws[c])));
  }
  return result;
}

std::vector<std::size_t> strength_order(
    const std::vector<ColumnStrength>& strengths) {
  std::vector<std::size_t> order(strengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return strengths[a].mean > strengths[b].mean;
                   });
  return order;
}

nlohmann::ordered_json to_json(const ColumnStrength& strength) {
  return {{"column", strength.column},
          {"strength", strength.mean},
          {"sd", strength.sd},
          {"lower", strength.lower},
          {"upper", strength.upper}};
}

report::Table strength_table(const std::vector<ColumnStrength>& strengths) {
  report::Table table;
  table.columns = {{"column", "column"},
                   {"strength", "strength", 3},
                   {"lower", "5 %", 3},
                   {"upper", "95 %", 3}};
  for (const std::size_t c : strength_order(strengths)) {
    const ColumnStrength& strength = strengths[c];
    table.rows.push_back(
        {strength.column, strength.mean, strength.lower, strength.upper});
  }
  return table;
}

ShuffledColumns::ShuffledColumns(const data::TableEncoder& encoder)
    : encoder_(encoder), rises_(encoder.inputs().size()) {}

void ShuffledColumns::add(const TableModel& model,
                          const data::EncodedRows& all_rows,
                          std::int64_t most_rows, std::int64_t samples,
                          std::uint64_t seed, ThreadPool* pool) {
  const std::int64_t inputs = encoder_.input_size();
  const data::EncodedRows rows = encoded_sample(all_rows, inputs, most_rows);
  TablePredictor predictor(model, samples, seed, pool);
  const std::vector<double> before = losses_of(predictor, rows);
  losses_.insert(losses_.end(), before.begin(), before.end());
  std::int64_t first = 0;
  for (std::size_t c = 0; c < rises_.size(); ++c) {
    const std::int64_t width = encoder_.inputs()[c].width();
    const auto order =
        train::shuffled(rows.count, seed, static_cast<std::int64_t>(c));
    data::EncodedRows shuffled = rows;
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const float* from = rows.inputs.data() +
                          order[static_cast<std::size_t>(row)] * inputs + first;
      std::copy(from, from + width,
                shuffled.inputs.data() + row * inputs + first);
    }
    const std::vector<double> after = losses_of(predictor, shuffled);
    for (std::size_t row = 0; row < after.size(); ++row) {
      rises_[c].push_back(after[row] - before[row]);
    }
    first += width;
  }
}

std::vector<ColumnEffect> ShuffledColumns::effects() const {
  const bool classes = encoder_.is_classification();
  double loss = 0, losses = 0;
  for (const double value : losses_) {
    if (!std::isfinite(value)) continue;
    loss += value;
    ++losses;
  }
  std::vector<ColumnEffect> result;
  if (losses == 0) return result;
  loss /= losses;
  for (std::size_t c = 0; c < rises_.size(); ++c) {
    double mean = 0, squares = 0, count = 0;
    for (const double rise : rises_[c]) {
      if (!std::isfinite(rise)) continue;
      mean += rise;
      squares += rise * rise;
      ++count;
    }
    count = std::max(count, 1.0);
    mean /= count;
    const double error =
        std::sqrt(std::max(0.0, squares / count - mean * mean) /
                  std::max(1.0, count - 1));
    ColumnEffect effect{encoder_.inputs()[c].name, mean, error};
    if (!classes) {
      // From squares to the root of their mean, in units of the target.
      const double root = std::sqrt(std::max(0.0, loss + mean));
      const double scale = encoder_.target().scale;
      effect.rise = scale * (root - std::sqrt(loss));
      effect.error = scale * error / std::max(2 * root, 1e-12);
    }
    result.push_back(effect);
  }
  return result;
}

}  // namespace radir::workflows
