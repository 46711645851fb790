#include "train/posterior_set.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"

#include <algorithm>

namespace radir::train {
namespace {

/// Stream numbers from here on draw starting values, those below it noise.
constexpr std::uint32_t kInitialStreams = 1u << 31;

}  // namespace

template <typename T>
PosteriorSet<T>::PosteriorSet(const Model& model, Purpose purpose,
                              std::int64_t more) {
  for (const WeightedLayer& layer : model.layers()) {
    add(model, layer.shape, layer.weight, layer.first_weight_parameter,
        purpose == Purpose::Training);
    Entry& weight = entries_.back();
    const bool by_moments = weight.by_moments;
    if (by_moments || weight.by_dropout) {
      weight.noisy_layer = activation_noise_.size();
    }
    activation_noise_.push_back(by_moments);
    dropout_.push_back(weight.by_dropout ? weight.posterior.dropout_rate() : 0);
    has_bias_.push_back(layer.bias_size > 0);
    if (layer.bias_size > 0) {
      add(model, {1, layer.bias_size, 1, 1}, layer.bias,
          layer.first_bias_parameter, by_moments);
    }
  }
  weights_ = weights_in(draw_.data());
  add_variances();
  gradients_.resize(static_cast<std::size_t>(gradient_count() + more));
  weight_gradients_ = weight_gradients_in(gradients_.data());
}

template <typename T>
std::vector<kernels::WeightGradients<T>> PosteriorSet<T>::weight_gradients_in(
    T* buffer) const {
  const auto place = [&](const T* p, const std::vector<T>& numbers, T* to) {
    return p == nullptr ? nullptr : to + (p - numbers.data());
  };
  T* const variances = buffer + draw_.size();
  std::vector<kernels::WeightGradients<T>> result;
  for (const kernels::Weights<T>& layer : weights_) {
    result.push_back({place(layer.weight, draw_, buffer),
                      place(layer.bias, draw_, buffer),
                      place(layer.weight_variance, variance_, variances),
                      place(layer.bias_variance, variance_, variances)});
  }
  return result;
}

template <typename T>
void PosteriorSet<T>::add_variances() {
  if (std::none_of(activation_noise_.begin(), activation_noise_.end(),
                   [](bool noise) { return noise; })) {
    return;
  }
  variance_.resize(draw_.size());
  for (std::size_t l = 0; l < weights_.size(); ++l) {
    if (!activation_noise_[l]) continue;
    kernels::Weights<T>& layer = weights_[l];
    const auto beside = [&](const T* p) {
      return p == nullptr ? nullptr : variance_.data() + (p - draw_.data());
    };
    layer.weight_variance = beside(layer.weight);
    layer.bias_variance = beside(layer.bias);
  }
}

template <typename T>
void PosteriorSet<T>::add(const Model& model, const network::WeightShape& shape,
                          const posterior::Options& options,
                          std::size_t first_parameter, bool training) {
  Entry entry{posterior::WeightPosterior<T>(shape, options),
              {},
              0,
              false,
              false,
              {},
              {},
              {}};
  const posterior::Noise noise = entry.posterior.noise();
  entry.by_moments = training && noise == posterior::Noise::Activations;
  entry.by_dropout = training && noise == posterior::Noise::Inputs;
  for (std::size_t i = 0; i < entry.posterior.parameter_blocks().size(); ++i) {
    entry.offsets.push_back(model.parameters()[first_parameter + i].offset);
  }
  entry.draw_offset = static_cast<std::int64_t>(draw_.size());
  draw_.resize(draw_.size() + static_cast<std::size_t>(shape.size()));
  entries_.push_back(std::move(entry));
}

template <typename T>
std::vector<kernels::Weights<T>> PosteriorSet<T>::weights_in(
    const T* buffer) const {
  std::vector<kernels::Weights<T>> result;
  auto entry = entries_.begin();
  for (bool has_bias : has_bias_) {
    kernels::Weights<T> layer;
    layer.weight = buffer + (entry++)->draw_offset;
    if (has_bias) layer.bias = buffer + (entry++)->draw_offset;
    result.push_back(layer);
  }
  return result;
}

template <typename T>
template <typename P>
const posterior::Arrays<P>& PosteriorSet<T>::Binding<P>::to(
    P* buffer, const std::vector<std::int64_t>& offsets) {
  if (buffer == flat) return arrays;
  flat = buffer;
  arrays.clear();
  for (std::int64_t offset : offsets) arrays.push_back(buffer + offset);
  return arrays;
}

template <typename T>
kernels::RandomStream PosteriorSet<T>::stream(std::size_t entry,
                                              std::uint64_t seed,
                                              std::uint64_t step) const {
  return {seed,
          static_cast<std::uint32_t>(entry) * posterior::kStreamsPerPosterior,
          step};
}

template <typename T>
void PosteriorSet<T>::initialize(std::uint64_t seed, T* parameters) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    kernels::RandomStream start = stream(i, seed, 0);
    start.stream += kInitialStreams;
    entries_[i].posterior.initialize(start, bind(entries_[i], parameters));
  }
}

template <typename T>
void PosteriorSet<T>::sample(const T* parameters, std::uint64_t seed,
                             std::uint64_t step, ThreadPool* pool) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    T* const draw = draw_.data() + entry.draw_offset;
    if (entry.by_moments || entry.by_dropout) {
      entry.posterior.step_moments(
          bind(entry, parameters), stream(i, seed, step), draw,
          entry.by_moments ? variance_.data() + entry.draw_offset : nullptr);
      if (entry.noisy_layer) {
        weights_[*entry.noisy_layer].noise = stream(i, seed, step);
      }
      continue;
    }
    entry.posterior.sample(bind(entry, parameters), stream(i, seed, step), draw,
                           pool);
  }
}

template <typename T>
void PosteriorSet<T>::backward(const T* parameters, T* gradient, double loss,
                               ThreadPool* pool) {
  for (Entry& entry : entries_) {
    if (entry.by_moments || entry.by_dropout) {
      entry.posterior.moments_backward(
          bind(entry, parameters), draw_gradient() + entry.draw_offset,
          entry.by_moments ? variance_gradient() + entry.draw_offset : nullptr,
          bind(entry, gradient));
      continue;
    }
    entry.posterior.backward(
        bind(entry, parameters), draw_.data() + entry.draw_offset,
        draw_gradient() + entry.draw_offset, bind(entry, gradient), loss, pool);
  }
}

template <typename T>
double PosteriorSet<T>::kl(const T* parameters) {
  double sum = 0;
  for (Entry& entry : entries_)
    sum += entry.posterior.kl(bind(entry, parameters));
  return sum;
}

template <typename T>
void PosteriorSet<T>::kl_backward(const T* parameters, double scale,
                                  T* gradient) {
  for (Entry& entry : entries_) {
    entry.posterior.kl_backward(bind(entry, parameters), scale,
                                bind(entry, gradient));
  }
}

template <typename T>
void PosteriorSet<T>::after_step(double rate, T* parameters) {
  for (Entry& entry : entries_) {
    if (!entry.posterior.has_after_step()) continue;
    entry.posterior.after_step(rate, bind(entry, parameters));
  }
}

template <typename T>
void PosteriorSet<T>::point(const T* parameters, kernels::PointWeight kind) {
  for (Entry& entry : entries_) {
    entry.posterior.point(bind(entry, parameters), kind,
                          draw_.data() + entry.draw_offset);
  }
}

template class PosteriorSet<float>;
template class PosteriorSet<double>;

}  // namespace radir::train
