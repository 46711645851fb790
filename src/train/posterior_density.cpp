#include "radir/train/posterior_density.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/kernels/network.h"
#include "radir/likelihood/likelihood.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/point.h"
#include "radir/posterior/weight_prior.h"

namespace radir::train {

ModelSpec spec_of_draws(const ModelSpec& spec) {
  ModelSpec result = spec;
  result.weights.assign(1, posterior::PointOptions{});
  return result;
}

template <typename T>
std::vector<std::vector<T>> separate_draws(const ModelSpec& spec,
                                           const std::vector<T>& kept) {
  const std::int64_t size = Model(spec_of_draws(spec)).parameter_count();
  std::vector<std::vector<T>> draws;
  for (auto at = kept.begin(); at != kept.end(); at += size) {
    draws.emplace_back(at, at + size);
  }
  return draws;
}

template std::vector<std::vector<float>> separate_draws(
    const ModelSpec&, const std::vector<float>&);
template std::vector<std::vector<double>> separate_draws(
    const ModelSpec&, const std::vector<double>&);

template <typename T>
class PosteriorDensity<T>::Impl {
 public:
  Impl(const Model& model, std::int64_t max_examples, Execution execution)
      : draws_(spec_of_draws(model.spec())),
        network_(model.spec().network.input, model.spec().network.layers,
                 network_options(max_examples, execution.pool)),
        parameters_(static_cast<std::size_t>(draws_.parameter_count())),
        gradient_(parameters_.size()),
        own_(static_cast<std::size_t>(draws_.likelihood_parameter_count())),
        own_priors_(draws_.likelihood().own_priors()) {
    for (std::size_t i = 0; i < model.layers().size(); ++i) {
      const WeightedLayer& layer = model.layers()[i];
      const WeightedLayer& drawn = draws_.layers()[i];
      kernels::Weights<T> weights;
      kernels::WeightGradients<T> gradients;
      const std::int64_t weight = offset(drawn.first_weight_parameter);
      add(layer.shape, layer.weight, weight);
      weights.weight = parameters_.data() + weight;
      gradients.weight = gradient_.data() + weight;
      if (layer.bias_size > 0) {
        const std::int64_t bias = offset(drawn.first_bias_parameter);
        add({1, layer.bias_size, 1, 1}, layer.bias, bias);
        weights.bias = parameters_.data() + bias;
        gradients.bias = gradient_.data() + bias;
      }
      weights_.push_back(weights);
      weight_gradients_.push_back(gradients);
    }
    first_own_ = size();
    is_scale_.resize(is_scale_.size() + own_priors_.size(), true);
  }

  std::int64_t size() const {
    return static_cast<std::int64_t>(is_scale_.size());
  }
  const std::vector<bool>& is_scale() const { return is_scale_; }
  const std::vector<T>& parameters() const { return parameters_; }

  void initialize(std::uint64_t seed, T* coordinates) const {
    std::uint32_t stream = 0;
    for (const Entry& entry : entries_) {
      entry.prior->initialize({seed, stream, 0}, coordinates + entry.begin);
      stream += posterior::kStreamsPerPosterior;
    }
    std::fill_n(coordinates + first_own_, own_priors_.size(), T(0));
  }

  void set_data(const Batch<T>& data) {
    network_.set_input(data.inputs, data.count, data.indices);
    const bool classes = draws_.likelihood().has_labels();
    RADIR_CHECK(classes ? data.labels != nullptr : data.targets != nullptr,
                ArgumentError, "posterior density: the data have no ",
                classes ? "labels" : "targets");
    const std::int64_t width = draws_.target_size();
    targets_.clear();
    labels_.clear();
    for (std::int64_t i = 0; i < data.count; ++i) {
      const std::int64_t row = data.row(i);
      if (classes) {
        labels_.push_back(data.labels[row]);
      } else {
        targets_.insert(targets_.end(), data.targets + row * width,
                        data.targets + (row + 1) * width);
      }
    }
  }

  Energy gradient(const T* coordinates, T* gradient) {
    if (!own_priors_.empty()) return with_own(coordinates, 1, gradient);
    return energy_of(
        coordinates, gradient, [&](const kernels::LikelihoodData<T>& data) {
          return draws_.likelihood().marginal_loss(
              data, {targets_.data(), labels_.data()}, own_.data());
        });
  }

  std::vector<double> initial_own(std::int64_t data_count) const {
    if (!own_priors_.empty()) return {};
    std::vector<double> own(own_.size());
    draws_.likelihood().initialize(data_count * draws_.target_size(),
                                   own.data());
    return own;
  }

  Energy estimate(const T* coordinates, std::int64_t data_count,
                  double own_rate, std::vector<double>& own, T* gradient) {
    const likelihood::Likelihood& likelihood = draws_.likelihood();
    const auto examples = static_cast<double>(data_count);
    const double scale = examples / static_cast<double>(network_.batch());
    if (!own_priors_.empty()) return with_own(coordinates, scale, gradient);
    own_ = own;
    return energy_of(
        coordinates, gradient, [&](kernels::LikelihoodData<T> data) {
          data.scale = scale;
          std::vector<double> own_gradient(own.size());
          const double loss =
              likelihood.loss(data, {targets_.data(), labels_.data()},
                              own.data(), own_gradient.data());
          for (double& value : own_gradient) value /= examples;
          likelihood.kl_backward(own.data(), 1 / examples, own_gradient.data());
          likelihood::OwnStep step;
          step.examples = examples;
          step.numbers = examples * static_cast<double>(draws_.target_size());
          step.rate = own_rate;
          likelihood.own_step(own_gradient.data(), step, own.data());
          return data.scale * loss;
        });
  }

 private:
  /// With own parameters among the coordinates; `scale` times the negative
  /// log-likelihood.
  Energy with_own(const T* coordinates, double scale, T* gradient) {
    const T* const standard = coordinates + first_own_;
    std::vector<double> own_gradient(own_.size());
    for (std::size_t i = 0; i < own_.size(); ++i) {
      own_[i] = own_priors_[i].mean +
                own_priors_[i].deviation * static_cast<double>(standard[i]);
    }
    Energy energy =
        energy_of(coordinates, gradient, [&](kernels::LikelihoodData<T> data) {
          data.scale = scale;
          return scale * draws_.likelihood().loss(
                             data, {targets_.data(), labels_.data()},
                             own_.data(), own_gradient.data());
        });
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto z = static_cast<double>(standard[i]);
      energy.prior += z * z / 2;
      gradient[first_own_ + static_cast<std::int64_t>(i)] =
          static_cast<T>(z + own_priors_[i].deviation * own_gradient[i]);
    }
    return energy;
  }

  /// `nll_of` gets the outputs; it gives the negative log-likelihood and writes
  /// its gradient.
  template <typename NllOf>
  Energy energy_of(const T* coordinates, T* gradient, const NllOf& nll_of) {
    for (const Entry& entry : entries_) {
      entry.prior->weights(coordinates + entry.begin,
                           parameters_.data() + entry.weight);
    }
    kernels::LikelihoodData<T> data;
    data.outputs = network_.forward(weights_.data());
    data.num_outputs = draws_.output_size();
    data.batch = network_.batch();
    data.stride = network_.stride();
    data.gradient = network_.output_gradient();
    Energy energy;
    energy.nll = nll_of(data);
    std::copy(own_.begin(), own_.end(),
              parameters_.begin() + draws_.likelihood_offset());
    network_.backward(weights_.data(), weight_gradients_.data());
    for (const Entry& entry : entries_) {
      energy.prior += entry.prior->backward(coordinates + entry.begin,
                                            gradient_.data() + entry.weight,
                                            gradient + entry.begin);
    }
    return energy;
  }

  /// The prior of one tensor.
  struct Entry {
    std::unique_ptr<posterior::WeightPrior<T>> prior;
    std::int64_t begin = 0;   // of its coordinates
    std::int64_t weight = 0;  // of its weights among the parameters
  };

  static kernels::NetworkOptions network_options(std::int64_t max_batch,
                                                 ThreadPool* pool) {
    kernels::NetworkOptions options;
    options.max_batch = max_batch;
    options.pool = pool;
    return options;
  }

  std::int64_t offset(std::size_t parameter) const {
    return draws_.parameters()[parameter].offset;
  }

  void add(const network::WeightShape& shape, const posterior::Options& options,
           std::int64_t weight) {
    Entry entry;
    entry.prior = posterior::make_weight_prior<T>(shape, options);
    entry.begin = size();
    entry.weight = weight;
    const auto scales = static_cast<std::size_t>(entry.prior->scale_count());
    is_scale_.resize(
        is_scale_.size() + static_cast<std::size_t>(entry.prior->size()),
        false);
    std::fill(is_scale_.end() - static_cast<std::ptrdiff_t>(scales),
              is_scale_.end(), true);
    entries_.push_back(std::move(entry));
  }

  Model draws_;
  kernels::Network<T> network_;
  std::vector<T> parameters_;  // of draws_
  std::vector<T> gradient_;    // of the negative log-likelihood by them
  std::vector<double> own_;    // parameters of the likelihood's own
  std::vector<likelihood::OwnPrior> own_priors_;  // of those to be drawn
  std::int64_t first_own_ = 0;                    // among the coordinates
  std::vector<kernels::Weights<T>> weights_;
  std::vector<kernels::WeightGradients<T>> weight_gradients_;
  std::vector<Entry> entries_;
  std::vector<bool> is_scale_;
  std::vector<T> targets_;
  std::vector<std::int64_t> labels_;
};

template <typename T>
PosteriorDensity<T>::PosteriorDensity(const Model& model,
                                      std::int64_t max_examples,
                                      Execution execution)
    : impl_(std::make_unique<Impl>(model, max_examples, execution)) {}
template <typename T>
PosteriorDensity<T>::~PosteriorDensity() = default;
template <typename T>
PosteriorDensity<T>::PosteriorDensity(PosteriorDensity&&) noexcept = default;
template <typename T>
PosteriorDensity<T>& PosteriorDensity<T>::operator=(
    PosteriorDensity&&) noexcept = default;

template <typename T>
std::int64_t PosteriorDensity<T>::size() const {
  return impl_->size();
}
template <typename T>
const std::vector<bool>& PosteriorDensity<T>::is_scale() const {
  return impl_->is_scale();
}
template <typename T>
void PosteriorDensity<T>::initialize(std::uint64_t seed, T* coordinates) const {
  impl_->initialize(seed, coordinates);
}
template <typename T>
void PosteriorDensity<T>::set_data(const Batch<T>& data) {
  impl_->set_data(data);
}
template <typename T>
typename PosteriorDensity<T>::Energy PosteriorDensity<T>::gradient(
    const T* coordinates, T* gradient) {
  return impl_->gradient(coordinates, gradient);
}
template <typename T>
std::vector<double> PosteriorDensity<T>::initial_own(
    std::int64_t data_count) const {
  return impl_->initial_own(data_count);
}
template <typename T>
typename PosteriorDensity<T>::Energy PosteriorDensity<T>::estimate(
    const T* coordinates, std::int64_t data_count, double own_rate,
    std::vector<double>& own, T* gradient) {
  return impl_->estimate(coordinates, data_count, own_rate, own, gradient);
}
template <typename T>
const std::vector<T>& PosteriorDensity<T>::parameters() const {
  return impl_->parameters();
}

template class PosteriorDensity<float>;
template class PosteriorDensity<double>;

}  // namespace radir::train
