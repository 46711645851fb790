#include "train/batch_loss.h"

#include <algorithm>

#include "radir/kernels/likelihood.h"
#include "radir/likelihood/likelihood.h"

namespace radir::train {
namespace {

/// The batch's rows of `width` numbers, one after the other. Rows are short: a
/// call of memmove for each would take longer than the copying.
template <typename T, typename V>
void gather(const Batch<T>& batch, const V* from, std::int64_t width, V* to) {
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const V* row = from + batch.row(i) * width;
    for (std::int64_t k = 0; k < width; ++k) *to++ = row[k];
  }
}

}  // namespace

template <typename T>
BatchLoss<T>::BatchLoss(const Model& model, std::int64_t max_batch,
                        std::int64_t max_shards)
    : model_(model),
      targets_(static_cast<std::size_t>(max_batch * model.target_size())),
      labels_(static_cast<std::size_t>(max_batch)),
      own_gradient_(
          static_cast<std::size_t>(model.likelihood_parameter_count())),
      sums_(static_cast<std::size_t>(max_shards) * (own_gradient_.size() + 1)) {
}

template <typename T>
void BatchLoss<T>::take(const Batch<T>& batch) {
  if (model_.likelihood().has_labels()) {
    gather(batch, batch.labels, 1, labels_.data());
  } else {
    gather(batch, batch.targets, model_.target_size(), targets_.data());
  }
}

template <typename T>
double BatchLoss<T>::part(kernels::Network<T>& network, const T* outputs,
                          std::int64_t begin, std::int64_t end, double scale,
                          const std::vector<double>& own,
                          double* own_gradient) const {
  if (begin == end) return 0;
  kernels::LikelihoodData<T> data;
  data.outputs = outputs + begin;
  data.num_outputs = model_.output_size();
  data.batch = end - begin;
  data.stride = network.stride();
  data.gradient = network.output_gradient() + begin;
  data.scale = scale;
  data.width = (end == network.batch() ? data.stride : end) - begin;
  return model_.likelihood().loss(
      data,
      {targets_.data() + begin * model_.target_size(), labels_.data() + begin},
      own.data(), own_gradient);
}

template <typename T>
void BatchLoss<T>::in_shards(kernels::Network<T>& network, const T* outputs,
                             const std::vector<std::int64_t>& ends,
                             double scale, const std::vector<double>& own,
                             T* sum) {
  const std::size_t width = own.size() + 1;
  std::int64_t begin = 0;
  T* to = sums_.data();
  for (const std::int64_t end : ends) {
    std::fill(own_gradient_.begin(), own_gradient_.end(), 0.0);
    const double loss =
        part(network, outputs, begin, end, scale, own, own_gradient_.data());
    for (double value : own_gradient_) *to++ = T(value);
    *to++ = T(scale * loss);
    begin = end;
  }
  for (std::size_t step = 1; step < ends.size(); step *= 2) {
    for (std::size_t left = 0; left < ends.size(); left += 2 * step) {
      T* const at = sums_.data() + left * width;
      for (std::size_t i = 0; i < width; ++i) at[i] += at[step * width + i];
    }
  }
  std::copy_n(sums_.begin(), width, sum);
}

template class BatchLoss<float>;
template class BatchLoss<double>;

}  // namespace radir::train
