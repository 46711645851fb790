#pragma once

#include <cstdint>
#include <vector>

#include "radir/train/method.h"

namespace radir::train {

/// Coordinate-ascent variational inference (C. Bishop, Pattern Recognition and
/// Machine Learning, section 10.1) for a linear model: one dense layer with
/// normal weights, normal targets, precision tau with a Gamma posterior. Each
/// factor of
///
///   q = prod_j N(w_j | m_j, s_j^2) Gamma(tau | a, b)
///
/// is set, in turn, to the one that maximises the evidence lower bound given
/// the others; with x_j the values of input j (1 for a bias), r_j the residuals
/// without w_j, p_j the prior's standard deviation and E[tau] = a / b,
///
///   1 / s_j^2 = E[tau] |x_j|^2 + 1 / p_j^2,   m_j = s_j^2 E[tau] x_j . r_j
///   a = a_0 + n / 2,   b = b_0 + E[sum of squared residuals] / 2
///
/// where n counts targets. A KL weight other than 1 divides |x_j|^2, x_j . r_j,
/// n and the sum of squares. A step is one pass over all factors, with all
/// examples; it needs no learning rate and draws no samples. The loss is that
/// of the parameters it ends with, and never rises with unchanged data.
template <typename T>
class CoordinateAscent final : public Method<T> {
 public:
  /// Throws UnsupportedError for any other model.
  explicit CoordinateAscent(const MethodSetup& setup);

  std::int64_t batch_size() const override { return data_count_; }
  TrainingState<T> initial_state(std::uint64_t seed) const override;
  /// Throws ArgumentError for a batch without all examples, a KL weight that is
  /// not above 0, or a state of another model.
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) override;

 private:
  void check(const TrainingState<T>& state, const Batch<T>& batch,
             const StepSettings& settings) const;
  void read_inputs(const Batch<T>& batch);
  void read_residuals(const Batch<T>& batch, const std::vector<T>& parameters,
                      std::int64_t output);
  double update_output(std::vector<T>& parameters, std::int64_t output,
                       double expected_precision);
  /// Of the weight from input j, or of the bias where j is input_size.
  std::size_t location(std::int64_t output, std::int64_t j) const;
  std::size_t log_scale(std::int64_t output, std::int64_t j) const;

  Model model_;
  std::int64_t data_count_;
  std::int64_t inputs_;
  double weight_prior_scale_ = 1;
  std::int64_t coordinates_;          // of each output: weights, then the bias
  std::vector<double> columns_;       // [coordinate][example]
  std::vector<double> column_norms_;  // squared
  std::vector<double> residuals_;     // [example], of one output
};

}  // namespace radir::train
