#include "posterior/pseudo_conditions.h"

#include <algorithm>
#include <cmath>

namespace radir::posterior {
namespace {

/// Calls visit(place among all groups, place in the group) for the numbers of
/// one group in an array [count][groups][width].
template <typename Visit>
void for_each_of_group(std::int64_t count, std::int64_t groups,
                       std::int64_t group, std::int64_t width,
                       const Visit& visit) {
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t i = 0; i < width; ++i) {
      visit((p * groups + group) * width + i,
            static_cast<std::size_t>(p * width + i));
    }
  }
}

template <typename V>
double number(const std::vector<V>& values, std::int64_t i) {
  return static_cast<double>(values[static_cast<std::size_t>(i)]);
}

}  // namespace

template <typename T>
PseudoConditions<T>::PseudoConditions(const network::WeightShape& shape,
                                      std::int64_t count)
    : shape_(shape),
      count_(count),
      groups_(static_cast<std::size_t>(count > 0 ? shape.groups : 0),
              kernels::PseudoData<T>(shape.out, shape.row_length(), count)),
      variances_(static_cast<std::size_t>(shape.row_length())),
      inputs_(static_cast<std::size_t>(count * shape.row_length())),
      outputs_(static_cast<std::size_t>(count * shape.out)) {}

template <typename T>
void PseudoConditions<T>::apply(const T* column_log_scales, const T* inputs,
                                const T* outputs, T* weight) {
  const std::int64_t length = shape_.row_length();
  for (std::int64_t g = 0; g < shape_.groups; ++g) {
    for (std::int64_t j = 0; j < length; ++j) {
      variances_[static_cast<std::size_t>(j)] =
          std::exp(2 * column_log_scales[g * shape_.in + j / shape_.kernel]);
    }
    for_each_of_group(
        count_, shape_.groups, g, length,
        [&](std::int64_t at, std::size_t i) { inputs_[i] = inputs[at]; });
    for_each_of_group(
        count_, shape_.groups, g, shape_.out,
        [&](std::int64_t at, std::size_t i) { outputs_[i] = outputs[at]; });
    auto& condition = groups_[static_cast<std::size_t>(g)];
    condition.factor(variances_.data(), inputs_.data());
    condition.condition(outputs_.data(), weight + g * shape_.out * length);
  }
}

template <typename T>
void PseudoConditions<T>::backward(
    const T* column_log_scales, const T* weight_gradient,
    const kernels::PseudoDataGradients<T>& gradients) {
  const std::int64_t length = shape_.row_length();
  for (std::int64_t g = 0; g < shape_.groups; ++g) {
    std::fill(variances_.begin(), variances_.end(), T(0));
    std::fill(inputs_.begin(), inputs_.end(), T(0));
    std::fill(outputs_.begin(), outputs_.end(), T(0));
    const std::int64_t offset = g * shape_.out * length;
    groups_[static_cast<std::size_t>(g)].backward(
        weight_gradient + offset, {gradients.draw + offset, variances_.data(),
                                   inputs_.data(), outputs_.data()});
    for_each_of_group(count_, shape_.groups, g, length,
                      [&](std::int64_t at, std::size_t i) {
                        gradients.inputs[at] += inputs_[i];
                      });
    for_each_of_group(count_, shape_.groups, g, shape_.out,
                      [&](std::int64_t at, std::size_t i) {
                        gradients.outputs[at] += outputs_[i];
                      });
    for (std::int64_t j = 0; j < length; ++j) {
      const std::int64_t column = g * shape_.in + j / shape_.kernel;
      gradients.column_variances[column] +=
          2 * std::exp(2 * column_log_scales[column]) *
          variances_[static_cast<std::size_t>(j)];
    }
  }
}

template <typename T>
void PseudoConditions<T>::variances(const T* row_log_scales, const T* mean,
                                    const Noise& noise, T* variance) const {
  for (std::int64_t g = 0; g < shape_.groups; ++g) {
    const std::int64_t offset = g * shape_.out * shape_.row_length();
    group_variances(g, row_log_scales + g * shape_.out, mean + offset, noise,
                    variance + offset);
  }
}

template <typename T>
void PseudoConditions<T>::group_variances(std::int64_t group,
                                          const T* row_log_scales,
                                          const T* mean, const Noise& noise,
                                          T* variance) const {
  const std::int64_t length = shape_.row_length();
  const auto& condition = groups_[static_cast<std::size_t>(group)];
  const std::vector<double> gain = condition.gain();
  std::vector<double> covariance(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < length; ++j) {
    double left = 0;  // of the variance, for a row of variance 1
    for (std::int64_t l = 0; l < length; ++l) {
      double factor = l == j ? 1 : 0;  // of I - K A
      for (std::int64_t p = 0; p < count_; ++p) {
        factor -= number(gain, p * length + j) *
                  number(condition.inputs(), p * length + l);
      }
      const double column = number(condition.column_variances(), l);
      covariance[static_cast<std::size_t>(l)] = factor * column;
      left += factor * factor * column;
    }
    for (std::int64_t i = 0; i < shape_.out; ++i) {
      variance[i * length + j] = static_cast<T>(
          std::exp(2 * static_cast<double>(row_log_scales[i])) * left +
          noise_variance(condition, gain, covariance, i, j, mean + i * length,
                         noise));
    }
  }
}

/// `covariance` is the row of C of the column, `mean` that of the weights.
template <typename T>
double PseudoConditions<T>::noise_variance(
    const kernels::PseudoData<T>& condition, const std::vector<double>& gain,
    const std::vector<double>& covariance, std::int64_t row,
    std::int64_t column, const T* mean, const Noise& noise) const {
  const std::int64_t length = shape_.row_length();
  double sum = 0;
  for (std::int64_t p = 0; p < count_; ++p) {
    const double by_output = number(gain, p * length + column);
    const double output =
        by_output * number(condition.outputs(), p * shape_.out + row);
    sum += noise.outputs * output * output;
    const double multiplier =
        number(condition.multipliers(), p * shape_.out + row);
    for (std::int64_t l = 0; l < length; ++l) {
      const double slope = number(covariance, l) * multiplier -
                           by_output * static_cast<double>(mean[l]);
      const double change = slope * number(condition.inputs(), p * length + l);
      sum += noise.inputs * change * change;
    }
  }
  return sum;
}

template class PseudoConditions<float>;
template class PseudoConditions<double>;

}  // namespace radir::posterior
