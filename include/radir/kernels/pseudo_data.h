#pragma once

#include <cstdint>
#include <vector>

namespace radir::kernels {

/// Where the gradient of PseudoData goes; everything is added.
template <typename T>
struct PseudoDataGradients {
  T* draw = nullptr;              ///< [rows][columns]
  T* column_variances = nullptr;  ///< [columns]
  T* inputs = nullptr;            ///< [count][columns]
  T* outputs = nullptr;           ///< [count][rows]
};

/// Normal weights W [rows][columns] with independent columns of variance u_j
/// times that of the row, conditioned on A W' = Y, A [count][columns] being
/// pseudo-inputs and Y [count][rows] pseudo-outputs (C. Louizos and M.
/// Welling, 2016). A draw W0 without the condition becomes one with it by
///   W = W0 + (Y' - W0 A') S^-1 A U,   S = A U A' + jitter
/// (Matheron's rule). The same map takes the mean to the mean.
///
/// T is float or double; S is factored in double. Holds the work space of its
/// operations.
template <typename T>
class PseudoData {
 public:
  PseudoData(std::int64_t rows, std::int64_t columns, std::int64_t count);

  std::int64_t count() const { return count_; }

  /// Takes the diagonal of U, and A. Throws NumericalError when S is not
  /// positive definite.
  void factor(const T* column_variances, const T* inputs);
  /// Conditions a draw or a mean, in place, on Y.
  void condition(const T* outputs, T* draw);
  /// Adds the gradient through the last factor() and condition() by all of
  /// their arguments, given that by the result.
  void backward(const T* weight_gradient,
                const PseudoDataGradients<T>& gradients);

  /// S^-1 A U, [count][columns]: how the weights follow the pseudo-outputs.
  std::vector<double> gain() const;
  /// S^-1 (Y - A W0') of the last condition(), [count][rows].
  const std::vector<double>& multipliers() const { return multipliers_; }
  /// What factor() and condition() were given.
  const std::vector<T>& column_variances() const { return variances_; }
  const std::vector<T>& inputs() const { return inputs_; }
  const std::vector<T>& outputs() const { return outputs_; }

 private:
  /// values [count][width] <- S^-1 values.
  void solve(std::vector<double>& values, std::int64_t width) const;
  void add_matrix_gradient(const PseudoDataGradients<T>& gradients);

  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t count_;
  std::vector<T> variances_;
  std::vector<T> inputs_;
  std::vector<T> outputs_;
  std::vector<T> scaled_;      // A U, [count][columns]
  std::vector<double> lower_;  // Cholesky factor of S, [count][count]
  std::vector<T> draw_;        // before conditioning
  std::vector<double> multipliers_;
  // Of the backward pass:
  std::vector<double> by_residual_;  // [count][rows]
  std::vector<T> by_scaled_;         // [count][columns]
  std::vector<double> by_matrix_;    // [count][count]
};

}  // namespace radir::kernels
