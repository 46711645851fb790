#pragma once

#include <cstdint>
#include <vector>

#include "radir/kernels/pseudo_data.h"
#include "radir/network/weight_shape.h"

// Private to the posteriors.

namespace radir::posterior {

/// kernels::PseudoData for a weight of any shape: one condition per group, a
/// column's scale shared by its kernel positions. Pseudo-inputs are
/// [count][columns][kernel], pseudo-outputs [count][rows].
template <typename T>
class PseudoConditions {
 public:
  /// Variances of the pseudo-data's noise relative to their squares.
  struct Noise {
    double inputs = 0;
    double outputs = 0;
  };

  PseudoConditions(const network::WeightShape& shape, std::int64_t count);

  /// Conditions weights, in place. Allocates nothing.
  void apply(const T* column_log_scales, const T* inputs, const T* outputs,
             T* weight);
  /// Adds the gradient through apply(). `column_variances` stands for the
  /// logarithms of the columns' scales here.
  void backward(const T* column_log_scales, const T* weight_gradient,
                const kernels::PseudoDataGradients<T>& gradients);

  /// Variances of the weights after apply() made `mean` of a mean: with
  ///   K = U A' S^-1,   C = U - K A U,   Z = S^-1 (Y - A M'),
  /// noise dA and dY of the pseudo-data moves the mean of a group by
  ///   Z' dA C + (dY' - mean dA') K'
  /// to first order.
  void variances(const T* row_log_scales, const T* mean, const Noise& noise,
                 T* variance) const;

 private:
  void group_variances(std::int64_t group, const T* row_log_scales,
                       const T* mean, const Noise& noise, T* variance) const;
  double noise_variance(const kernels::PseudoData<T>& condition,
                        const std::vector<double>& gain,
                        const std::vector<double>& covariance, std::int64_t row,
                        std::int64_t column, const T* mean,
                        const Noise& noise) const;

  network::WeightShape shape_;
  std::int64_t count_;
  std::vector<kernels::PseudoData<T>> groups_;
  // Of one group:
  std::vector<T> variances_;
  std::vector<T> inputs_;
  std::vector<T> outputs_;
};

}  // namespace radir::posterior
