#include "radir/workflows/table_predictor.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/data/column_code.h"
#include "radir/likelihood/draw_columns.h"
#include "radir/likelihood/gaussian.h"
#include "radir/likelihood/likelihood.h"
#include "radir/likelihood/options.h"
#include "radir/math/constants.h"
#include "radir/math/predictive.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"

namespace radir::workflows {
namespace {

/// Rows whose outputs under all draws are in memory at a time. An odd number of
/// cache lines: with a power of two, a row's outputs would share cache sets.
constexpr std::int64_t kRowsAtOnce = 1008;
/// Rows one task of the pool turns into distributions.
constexpr std::int64_t kRowsPerTask = 16;

using RowNumbers = std::vector<std::int64_t>;

/// Finite components near the largest double can have a mean beyond it.
/// Quantiles are finite where the moments are.
bool has_finite_moments(const likelihood::PredictiveMixture& mixture) {
  return std::isfinite(mixture.mean()) &&
         std::isfinite(mixture.epistemic_deviation()) &&
         std::isfinite(mixture.aleatoric_deviation()) &&
         std::isfinite(mixture.standard_deviation());
}

}  // namespace

class TablePredictor::Impl {
 public:
  Impl(const TableModel& model, std::int64_t samples, std::uint64_t seed,
       ThreadPool* pool)
      : encoder_(model.encoder),
        correction_(model.correction),
        weights_(model.weights),
        model_(model.spec),
        samples_(model_.has_noise() ? samples : 1),
        pool_(pool),
        networks_(model_, model.networks, samples_, seed, pool) {
    for (const std::vector<float>& parameters : model.networks) {
      own_.push_back(train::likelihood_parameters(model_, parameters));
    }
  }

  const data::TableEncoder& encoder() const { return encoder_; }
  const likelihood::QuantileCorrection& correction() const {
    return correction_;
  }

  template <typename Visit>
  RowNumbers regression(const data::EncodedRows& rows, const Visit& visit) {
    return for_each(
        rows, [&](std::int64_t row, std::int64_t in_chunk, std::int64_t chunk) {
          const auto prediction = mixture_of(in_chunk, chunk);
          if (prediction) visit(row, *prediction);
          return prediction.has_value();
        });
  }

  template <typename Visit>
  RowNumbers scores(const data::EncodedRows& rows,
                    const likelihood::QuantileCorrection& correction,
                    const Visit& visit) {
    const data::ColumnCode& code = encoder_.target();
    const likelihood::RegressionScorer scorer(correction, code.resolution);
    const likelihood::RegressionScorer encoded_scorer(
        correction, code.resolution / code.scale);
    return for_each(
        rows, [&](std::int64_t row, std::int64_t in_chunk, std::int64_t chunk) {
          const auto target =
              static_cast<double>(rows.targets[static_cast<std::size_t>(row)]);
          if (!std::isfinite(target)) return false;
          likelihood::RegressionScore score;
          if (const auto columns = columns_of(in_chunk, chunk)) {
            if (!can_be_decoded(*columns)) return false;
            score = encoded_scorer(*columns, target).scaled(code.scale);
          } else {
            const auto prediction = mixture_of(in_chunk, chunk);
            if (!prediction) return false;
            score = scorer(*prediction, data::target_value(code, target));
          }
          if (score.is_finite()) visit(row, score);
          return score.is_finite();
        });
  }

  template <typename Visit>
  RowNumbers classification(const data::EncodedRows& rows, const Visit& visit) {
    return for_each(
        rows, [&](std::int64_t row, std::int64_t in_chunk, std::int64_t chunk) {
          std::vector<likelihood::ClassPrediction> of_networks;
          for (std::size_t k = 0; k < own_.size(); ++k) {
            of_networks.push_back(
                model_.likelihood().predict_class(draws(k, in_chunk, chunk)));
          }
          visit(row, likelihood::mixture_of(of_networks, weights_));
          return true;
        });
  }

  double published_estimator(const data::EncodedRows& rows) {
    RADIR_CHECK(model_.spec().likelihood.kind == likelihood::Kind::Gaussian,
                ArgumentError,
                "published_estimator: is defined for the Gaussian ",
                "likelihood alone");
    const double scale = encoder_.target().scale;
    const auto precision = likelihood::precision_of(own_.front().data());
    const double tau = precision.shape / precision.rate;
    std::vector<math::detail::LogSumExp<double>> sums(
        static_cast<std::size_t>(samples_));
    for (std::int64_t begin = 0; begin < rows.count; begin += kRowsAtOnce) {
      const std::int64_t chunk = run(rows, begin);
      for (std::int64_t s = 0; s < samples_; ++s) {
        for (std::int64_t i = 0; i < chunk; ++i) {
          const double target = static_cast<double>(
              rows.targets[static_cast<std::size_t>(begin + i)]);
          const double residual =
              scale * (target - static_cast<double>(*output(0, s, i, chunk)));
          sums[static_cast<std::size_t>(s)].add(-tau / 2 * residual * residual);
        }
      }
    }
    const double samples = static_cast<double>(samples_);
    double mean = 0;
    for (const auto& sum : sums) mean += sum.value() / samples;
    return mean - std::log(samples) - math::detail::kHalfLog2Pi +
           std::log(tau) / 2;
  }

 private:
  /// None where it is too large for a double.
  std::optional<likelihood::PredictiveMixture> mixture_of(
      std::int64_t row, std::int64_t chunk) const {
    std::vector<likelihood::MixtureComponent> components;
    components.reserve(static_cast<std::size_t>(networks_.samples()));
    for (std::size_t k = 0; k < own_.size(); ++k) {
      const std::size_t first = components.size();
      model_.likelihood().add_components(draws(k, row, chunk), own_[k].data(),
                                         components);
      if (weights_.empty()) continue;
      for (std::size_t i = first; i < components.size(); ++i) {
        components[i].weight *= weights_[k];
      }
    }
    const data::ColumnCode& target = encoder_.target();
    // On the scale of a logarithm if there is one.
    for (likelihood::MixtureComponent& c : components) {
      c.location = target.mean + target.scale * c.location;
      c.scale *= target.scale;
      c.offset *= target.scale;
      if (!std::isfinite(c.location) || !std::isfinite(c.scale) ||
          c.scale == 0) {
        return std::nullopt;
      }
    }
    likelihood::PredictiveMixture mixture(std::move(components),
                                          target.transform);
    if (!has_finite_moments(mixture)) return std::nullopt;
    return mixture;
  }

  /// In the units of the network; none where networks have weights or the
  /// target a transform.
  std::optional<likelihood::DrawColumns> columns_of(std::int64_t row,
                                                    std::int64_t chunk) const {
    if (!weights_.empty() || !encoder_.target().transform.is_none()) {
      return std::nullopt;
    }
    likelihood::DrawColumns columns;
    columns.locations.reserve(static_cast<std::size_t>(networks_.samples()));
    columns.log_scales.reserve(static_cast<std::size_t>(networks_.samples()));
    for (std::size_t k = 0; k < own_.size(); ++k) {
      if (!model_.likelihood().add_columns(draws(k, row, chunk), own_[k].data(),
                                           columns)) {
        return std::nullopt;
      }
    }
    return columns;
  }

  /// Whether they are numbers in the units of the table as well.
  bool can_be_decoded(const likelihood::DrawColumns& columns) const {
    const data::ColumnCode& target = encoder_.target();
    const double share = 1 / static_cast<double>(columns.locations.size());
    double mean = 0;
    bool result = true;
    for (const double location : columns.locations) {
      const double decoded = target.mean + target.scale * location;
      mean += share * decoded;
      result &= std::isfinite(decoded);
    }
    result &= std::isfinite(mean);
    double widest = columns.log_scales.front();
    for (const double log_scale : columns.log_scales) {
      widest = std::max(widest, log_scale);
    }
    return result && std::isfinite(target.scale * std::exp(widest));
  }

  /// Outputs of a chunk of rows from `begin` on; returns its length.
  std::int64_t run(const data::EncodedRows& rows, std::int64_t begin) {
    const std::int64_t chunk = std::min(kRowsAtOnce, rows.count - begin);
    const std::int64_t size =
        bounded_product({networks_.samples(), chunk, model_.output_size()});
    if (size > static_cast<std::int64_t>(outputs_.capacity())) {
      check_memory({size, static_cast<std::int64_t>(sizeof(float))},
                   "the outputs of all draws", "use fewer samples");
    }
    outputs_.resize(static_cast<std::size_t>(size));
    networks_.run(rows.inputs.data() + begin * model_.input_size(), chunk,
                  outputs_.data());
    return chunk;
  }

  /// Whether inputs and outputs of some rows are all numbers. Infinite inputs
  /// can give finite outputs, where they switch every unit off.
  bool are_finite(const data::EncodedRows& rows, std::int64_t row,
                  std::int64_t in_chunk, std::int64_t count,
                  std::int64_t chunk) const {
    const auto all_finite = [count](const float* values, std::int64_t each) {
      bool result = true;
      for (std::int64_t i = 0; i < count * each; ++i) {
        result &= std::isfinite(values[i]);
      }
      return result;
    };
    const float* inputs = rows.inputs.data() + row * model_.input_size();
    if (!all_finite(inputs, model_.input_size())) return false;
    for (std::size_t k = 0; k < own_.size(); ++k) {
      for (std::int64_t s = 0; s < samples_; ++s) {
        if (!all_finite(output(k, s, in_chunk, chunk), model_.output_size())) {
          return false;
        }
      }
    }
    return true;
  }

  /// Calls visit(row, row in chunk, rows in chunk) for the rows whose outputs
  /// are finite; returns the others and those for which it was false.
  template <typename Visit>
  RowNumbers for_each(const data::EncodedRows& rows, const Visit& visit) {
    std::vector<char> skipped(static_cast<std::size_t>(rows.count), 0);
    for (std::int64_t begin = 0; begin < rows.count; begin += kRowsAtOnce) {
      const std::int64_t chunk = run(rows, begin);
      const auto task = [&](std::int64_t t) {
        const std::int64_t first = t * kRowsPerTask;
        const std::int64_t end = std::min(chunk, first + kRowsPerTask);
        // Nearly always; only where it is not so, row by row.
        const bool all =
            are_finite(rows, begin + first, first, end - first, chunk);
        for (std::int64_t i = first; i < end; ++i) {
          const bool is_predicted =
              (all || are_finite(rows, begin + i, i, 1, chunk)) &&
              visit(begin + i, i, chunk);
          if (!is_predicted) skipped[static_cast<std::size_t>(begin + i)] = 1;
        }
      };
      const std::int64_t tasks = (chunk + kRowsPerTask - 1) / kRowsPerTask;
      if (pool_ != nullptr) {
        pool_->run(tasks, task);
      } else {
        for (std::int64_t t = 0; t < tasks; ++t) task(t);
      }
    }
    RowNumbers result;
    for (std::size_t row = 0; row < skipped.size(); ++row) {
      if (skipped[row] != 0) result.push_back(rows.table_rows[row]);
    }
    return result;
  }

  const float* output(std::size_t network, std::int64_t sample,
                      std::int64_t row, std::int64_t chunk) const {
    const auto first = static_cast<std::int64_t>(network) * samples_;
    return outputs_.data() +
           ((first + sample) * chunk + row) * model_.output_size();
  }

  /// Of one row, under all draws of a network.
  likelihood::Draws<float> draws(std::size_t network, std::int64_t row,
                                 std::int64_t chunk) const {
    return {output(network, 0, row, chunk), model_.output_size(), samples_,
            chunk * model_.output_size()};
  }

  data::TableEncoder encoder_;
  likelihood::QuantileCorrection correction_;
  std::vector<double> weights_;  // of the networks; empty: equal
  train::Model model_;
  std::int64_t samples_;  // of each network
  ThreadPool* pool_;
  train::Predictor<float> networks_;
  std::vector<std::vector<double>> own_;  // per network, of the likelihood
  std::vector<float> outputs_;            // of one chunk
};

TablePredictor::TablePredictor(const TableModel& model, std::int64_t samples,
                               std::uint64_t seed, ThreadPool* pool)
    : impl_(std::make_unique<Impl>(model, samples, seed, pool)) {}
TablePredictor::~TablePredictor() = default;
TablePredictor::TablePredictor(TablePredictor&&) noexcept = default;
TablePredictor& TablePredictor::operator=(TablePredictor&&) noexcept = default;

const data::TableEncoder& TablePredictor::encoder() const {
  return impl_->encoder();
}

const likelihood::QuantileCorrection& TablePredictor::correction() const {
  return impl_->correction();
}

std::vector<std::int64_t> TablePredictor::regression(
    const data::EncodedRows& rows,
    const std::function<void(std::int64_t,
                             const likelihood::PredictiveMixture&)>& visit) {
  RADIR_CHECK(!encoder().is_classification(), ArgumentError,
              "regression: the model predicts classes");
  return impl_->regression(rows, visit);
}

std::vector<std::int64_t> TablePredictor::scores(
    const data::EncodedRows& rows,
    const likelihood::QuantileCorrection& correction,
    const std::function<void(std::int64_t, const likelihood::RegressionScore&)>&
        visit) {
  RADIR_CHECK(!encoder().is_classification(), ArgumentError,
              "scores: the model predicts classes");
  return impl_->scores(rows, correction, visit);
}

std::vector<std::int64_t> TablePredictor::classification(
    const data::EncodedRows& rows,
    const std::function<void(std::int64_t, const likelihood::ClassPrediction&)>&
        visit) {
  RADIR_CHECK(encoder().is_classification(), ArgumentError,
              "classification: the model predicts a number");
  return impl_->classification(rows, visit);
}

double TablePredictor::published_estimator(const data::EncodedRows& rows) {
  return impl_->published_estimator(rows);
}

TableScores::TableScores(const data::TableEncoder& encoder,
                         const likelihood::QuantileCorrection& correction)
    : encoder_(encoder), correction_(correction), numbers_(correction) {}

std::vector<std::int64_t> TableScores::add(TablePredictor& predictor,
                                           const data::EncodedRows& rows) {
  const RowNumbers left_out = encoder_.is_classification()
                                  ? add_classes(predictor, rows)
                                  : add_regression(predictor, rows);
  count_ += rows.count - static_cast<std::int64_t>(left_out.size());
  return left_out;
}

std::vector<std::int64_t> TableScores::add_regression(
    TablePredictor& predictor, const data::EncodedRows& rows) {
  std::vector<std::optional<likelihood::RegressionScore>> scores(
      static_cast<std::size_t>(rows.count));
  RowNumbers left_out = predictor.scores(
      rows, correction_,
      [&](std::int64_t row, const likelihood::RegressionScore& score) {
        scores[static_cast<std::size_t>(row)] = score;
      });
  for (const auto& score : scores) {
    if (score) numbers_.add(*score);
  }
  return left_out;
}

std::vector<std::int64_t> TableScores::add_classes(
    TablePredictor& predictor, const data::EncodedRows& rows) {
  std::vector<likelihood::ClassPrediction> predictions(
      static_cast<std::size_t>(rows.count));
  RowNumbers left_out = predictor.classification(
      rows, [&](std::int64_t row, const likelihood::ClassPrediction& p) {
        predictions[static_cast<std::size_t>(row)] = p;
      });
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    if (predictions[row].probabilities.empty()) continue;
    classes_.add(predictions[row], rows.labels[row]);
  }
  return left_out;
}

std::vector<std::pair<std::string, double>> TableScores::metrics() const {
  RADIR_CHECK(count_ > 0, ArgumentError,
              "there are no rows to evaluate the model on");
  return encoder_.is_classification() ? classes_.metrics() : numbers_.metrics();
}

}  // namespace radir::workflows
