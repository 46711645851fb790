#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "radir/data/table_encoder.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/workflows/table_settings.h"

// Simple models to compare a network with.

namespace radir::workflows {

/// Predicts the same for every row: mean and standard deviation of the training
/// targets, or the frequencies of the classes.
class ConstantModel {
 public:
  ConstantModel(const data::TableEncoder& encoder,
                const data::EncodedRows& rows);

  likelihood::PredictiveMixture number() const;
  likelihood::ClassPrediction classes() const;

 private:
  double mean_ = 0;
  double deviation_ = 1;
  std::vector<double> frequencies_;
};

/// Ridge regression of a numeric target on the encoded inputs, without pieces
/// of numbers, in closed form: penalty 1 on standardised weights, noise from
/// the residuals, error bars of the weights included.
class LinearModel {
 public:
  /// With more inputs than this its cost, cubic in them, would be felt.
  static constexpr std::int64_t kMostInputs = 500;

  /// None beyond kMostInputs.
  static std::optional<LinearModel> fit(const data::TableEncoder& encoder,
                                        const data::EncodedRows& rows);

  /// The prediction for encoded inputs, in original units; none where it is not
  /// finite.
  std::optional<likelihood::PredictiveMixture> predict(
      const float* inputs) const;

 private:
  std::vector<double> centred(const float* inputs) const;

  double target_mean_ = 0;
  double target_scale_ = 1;
  double level_ = 0;  // standardised, as the noise
  double noise_ = 1;
  std::vector<std::size_t> used_;  // inputs, of an encoded row
  std::vector<double> centre_;
  std::vector<double> weights_;
  std::vector<double> factor_;  // Cholesky factor of the penalised Gram matrix
};

/// Settings of the linear model of classes: a network without hidden layers.
TableSettings linear_class_settings(std::uint64_t seed);

}  // namespace radir::workflows
