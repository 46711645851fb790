#include "radir/kernels/pseudo_data.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::kernels {
namespace {

/// Added to the diagonal of S, relative to its mean.
constexpr double kJitter = 1e-6;

std::size_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::size_t>(a * b);
}

/// Several running sums, so that the loop can use vectors; the order depends on
/// the length alone.
template <typename A, typename B>
double dot(const A* a, const B* b, std::int64_t count) {
  constexpr std::int64_t kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) {
      sums[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]);
    }
  }
  for (; i < count; ++i) {
    sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  double sum = 0;
  for (double part : sums) sum += part;
  return sum;
}

template <typename A, typename B>
void add(double factor, const A* from, std::int64_t count, B* to) {
  const B multiplier = static_cast<B>(factor);
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += multiplier * static_cast<B>(from[i]);
  }
}

}  // namespace

template <typename T>
PseudoData<T>::PseudoData(std::int64_t rows, std::int64_t columns,
                          std::int64_t count)
    : rows_(rows),
      columns_(columns),
      count_(count),
      variances_(product(1, columns)),
      inputs_(product(count, columns)),
      outputs_(product(count, rows)),
      scaled_(product(count, columns)),
      lower_(product(count, count)),
      draw_(product(rows, columns)),
      multipliers_(product(count, rows)),
      by_residual_(product(count, rows)),
      by_scaled_(product(count, columns)),
      by_matrix_(product(count, count)) {}

template <typename T>
void PseudoData<T>::factor(const T* column_variances, const T* inputs) {
  std::copy_n(column_variances, columns_, variances_.begin());
  std::copy_n(inputs, count_ * columns_, inputs_.begin());
  double trace = 0;
  for (std::int64_t p = 0; p < count_; ++p) {
    T* const scaled = scaled_.data() + p * columns_;
    const T* const input = inputs + p * columns_;
    for (std::int64_t j = 0; j < columns_; ++j) {
      scaled[j] = column_variances[j] * input[j];
    }
    double* const row = lower_.data() + p * count_;
    for (std::int64_t q = 0; q <= p; ++q) {
      row[q] = dot(inputs + q * columns_, scaled, columns_);
    }
    trace += row[p];
  }
  const double jitter = kJitter * trace / static_cast<double>(count_);
  for (std::int64_t p = 0; p < count_; ++p) {
    double* const row = lower_.data() + p * count_;
    row[p] += jitter;
    for (std::int64_t q = 0; q <= p; ++q) {
      const double* const other = lower_.data() + q * count_;
      const double rest = row[q] - dot(row, other, q);
      row[q] = q < p ? rest / other[q] : std::sqrt(rest);
    }
    RADIR_CHECK(row[p] > 0, NumericalError, "pseudo-data: number ", p + 1,
                " of ", count_, " depends on those before it or is not ",
                "finite; try a smaller learning rate or fewer of them");
  }
}

template <typename T>
void PseudoData<T>::solve(std::vector<double>& values,
                          std::int64_t width) const {
  const auto finish = [&](std::int64_t p) {
    const double inverse = 1 / lower_[product(p, count_ + 1)];
    for (std::int64_t i = p * width; i < (p + 1) * width; ++i) {
      values[static_cast<std::size_t>(i)] *= inverse;
    }
  };
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t q = 0; q < p; ++q) {
      add(-lower_[static_cast<std::size_t>(p * count_ + q)],
          values.data() + q * width, width, values.data() + p * width);
    }
    finish(p);
  }
  for (std::int64_t p = count_; p-- > 0;) {
    for (std::int64_t q = p + 1; q < count_; ++q) {
      add(-lower_[static_cast<std::size_t>(q * count_ + p)],
          values.data() + q * width, width, values.data() + p * width);
    }
    finish(p);
  }
}

template <typename T>
void PseudoData<T>::condition(const T* outputs, T* draw) {
  std::copy_n(draw, rows_ * columns_, draw_.begin());
  std::copy_n(outputs, count_ * rows_, outputs_.begin());
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      multipliers_[static_cast<std::size_t>(p * rows_ + i)] =
          static_cast<double>(outputs[p * rows_ + i]) -
          dot(inputs_.data() + p * columns_, draw + i * columns_, columns_);
    }
  }
  solve(multipliers_, rows_);
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t p = 0; p < count_; ++p) {
      add(multipliers_[static_cast<std::size_t>(p * rows_ + i)],
          scaled_.data() + p * columns_, columns_, draw + i * columns_);
    }
  }
}

template <typename T>
void PseudoData<T>::backward(const T* weight_gradient,
                             const PseudoDataGradients<T>& gradients) {
  // With Z the multipliers and G = A U: W = W0 + Z' G, Z = S^-1 R,
  // R = Y - A W0', S = A G' + jitter.
  std::fill(by_scaled_.begin(), by_scaled_.end(), T(0));
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const T* const by_weight = weight_gradient + i * columns_;
      const auto at = static_cast<std::size_t>(p * rows_ + i);
      by_residual_[at] =
          dot(scaled_.data() + p * columns_, by_weight, columns_);
      add(multipliers_[at], by_weight, columns_,
          by_scaled_.data() + p * columns_);
    }
  }
  solve(by_residual_, rows_);
  add(1, weight_gradient, rows_ * columns_, gradients.draw);
  add(1, by_residual_.data(), count_ * rows_, gradients.outputs);
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double by_residual =
          by_residual_[static_cast<std::size_t>(p * rows_ + i)];
      add(-by_residual, inputs_.data() + p * columns_, columns_,
          gradients.draw + i * columns_);
      add(-by_residual, draw_.data() + i * columns_, columns_,
          gradients.inputs + p * columns_);
    }
  }
  add_matrix_gradient(gradients);
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      const std::int64_t at = p * columns_ + j;
      const T by_scaled = by_scaled_[static_cast<std::size_t>(at)];
      gradients.inputs[at] +=
          by_scaled * variances_[static_cast<std::size_t>(j)];
      gradients.column_variances[j] +=
          by_scaled * inputs_[static_cast<std::size_t>(at)];
    }
  }
}

/// The part of the gradient that goes through S.
template <typename T>
void PseudoData<T>::add_matrix_gradient(
    const PseudoDataGradients<T>& gradients) {
  double trace = 0;
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t q = 0; q < count_; ++q) {
      by_matrix_[static_cast<std::size_t>(p * count_ + q)] =
          -dot(by_residual_.data() + p * rows_, multipliers_.data() + q * rows_,
               rows_);
    }
    trace += by_matrix_[product(p, count_ + 1)];
  }
  for (std::int64_t p = 0; p < count_; ++p) {
    by_matrix_[product(p, count_ + 1)] +=
        kJitter * trace / static_cast<double>(count_);
    for (std::int64_t q = 0; q < count_; ++q) {
      const double value = by_matrix_[static_cast<std::size_t>(p * count_ + q)];
      add(value, scaled_.data() + q * columns_, columns_,
          gradients.inputs + p * columns_);
      add(value, inputs_.data() + p * columns_, columns_,
          by_scaled_.data() + q * columns_);
    }
  }
}

template <typename T>
std::vector<double> PseudoData<T>::gain() const {
  std::vector<double> result(scaled_.begin(), scaled_.end());
  solve(result, columns_);
  return result;
}

template class PseudoData<float>;
template class PseudoData<double>;

}  // namespace radir::kernels
