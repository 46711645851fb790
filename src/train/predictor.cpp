#include "radir/train/predictor.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/kernels/network.h"
#include "radir/network/spec.h"
#include "train/posterior_set.h"

namespace radir::train {
namespace {

/// Draws for prediction use noise that no training step uses: steps count up
/// from 0, these down from the top.
constexpr std::uint64_t kPredictionSteps = kernels::kMaxRandomSteps - 1;

kernels::NetworkOptions network_options(ThreadPool* pool) {
  kernels::NetworkOptions options;
  options.max_batch = 0;  // the kernel's choice
  options.pool = pool;
  return options;
}

}  // namespace

template <typename T>
class Predictor<T>::Impl {
 public:
  Impl(const Model& model, std::int64_t samples, Execution execution)
      : spec_(model.spec().network),
        posteriors_(model),
        network_(model.spec().network.input, model.spec().network.layers,
                 network_options(execution.pool)),
        execution_(execution),
        parameter_count_(model.parameter_count()),
        output_size_(model.output_size()) {
    RADIR_CHECK(samples > 0, ArgumentError,
                "Predictor: the number of samples must be positive, but is ",
                samples);
    check_memory(
        {static_cast<std::int64_t>(posteriors_.draw().size() * sizeof(T)),
         samples},
        "the drawn weights of all networks",
        "use fewer samples or a smaller network");
    draws_.resize(posteriors_.draw().size() *
                  static_cast<std::size_t>(samples));
  }

  void draw(const std::vector<T>& parameters, std::int64_t samples,
            std::uint64_t seed) {
    check(parameters);
    for (std::int64_t s = 0; s < samples; ++s) {
      posteriors_.sample(parameters.data(), seed,
                         kPredictionSteps - static_cast<std::uint64_t>(s),
                         execution_.pool);
      keep();
    }
  }

  void take_point(const std::vector<T>& parameters, kernels::PointWeight kind) {
    check(parameters);
    posteriors_.point(parameters.data(), kind);
    keep();
  }

  void run(const T* rows, std::int64_t count, T* outputs) {
    RADIR_CHECK(count >= 0 && (count == 0 || rows != nullptr), ArgumentError,
                "Predictor: needs ", count, " rows, but got none");
    if (count == 0) return;
    network_.run(rows, count, weights_.data(), samples_, outputs);
  }

  std::int64_t samples() const { return samples_; }
  std::int64_t output_size() const { return output_size_; }

  network::PlainNetwork<T> plain(std::int64_t sample) const {
    RADIR_CHECK(sample >= 0 && sample < samples_, ArgumentError,
                "Predictor: there are ", samples_, " samples, but got ",
                sample);
    network::PlainNetwork<T> result;
    result.spec = spec_;
    const auto& sizes = network_.weight_sizes();
    for (std::size_t l = 0; l < sizes.size(); ++l) {
      const kernels::Weights<T>& from =
          weights_[static_cast<std::size_t>(sample) * sizes.size() + l];
      network::PlainLayer<T> layer;
      layer.weight.assign(from.weight, from.weight + sizes[l].weight);
      if (sizes[l].bias > 0) {
        layer.bias.assign(from.bias, from.bias + sizes[l].bias);
      }
      result.layers.push_back(std::move(layer));
    }
    return result;
  }

 private:
  void check(const std::vector<T>& parameters) const {
    RADIR_CHECK(
        static_cast<std::int64_t>(parameters.size()) == parameter_count_,
        ArgumentError, "Predictor: the model has ", parameter_count_,
        " parameters, but got ", parameters.size());
  }

  void keep() {
    const std::vector<T>& draw = posteriors_.draw();
    T* place =
        draws_.data() + samples_ * static_cast<std::int64_t>(draw.size());
    ++samples_;
    std::copy(draw.begin(), draw.end(), place);
    for (const auto& layer : posteriors_.weights_in(place)) {
      weights_.push_back(layer);
    }
  }

  network::NetworkSpec spec_;
  PosteriorSet<T> posteriors_;
  kernels::SampledPrediction<T> network_;
  Execution execution_;
  std::int64_t parameter_count_;
  std::int64_t samples_ = 0;  // drawn so far
  std::int64_t output_size_;
  std::vector<T> draws_;
  std::vector<kernels::Weights<T>> weights_;
};

template <typename T>
Predictor<T>::Predictor(const Model& model, const std::vector<T>& parameters,
                        std::int64_t samples, std::uint64_t seed,
                        Execution execution)
    : impl_(std::make_unique<Impl>(model, samples, execution)) {
  impl_->draw(parameters, samples, seed);
}

template <typename T>
Predictor<T>::Predictor(const Model& model,
                        const std::vector<std::vector<T>>& networks,
                        std::int64_t samples, std::uint64_t seed,
                        Execution execution)
    : impl_(std::make_unique<Impl>(
          model,
          bounded_product(
              {samples, static_cast<std::int64_t>(networks.size())}),
          execution)) {
  for (const std::vector<T>& parameters : networks) {
    impl_->draw(parameters, samples, seed);
  }
}

template <typename T>
Predictor<T>::Predictor(const Model& model, const std::vector<T>& parameters,
                        kernels::PointWeight kind, Execution execution)
    : impl_(std::make_unique<Impl>(model, 1, execution)) {
  impl_->take_point(parameters, kind);
}

template <typename T>
Predictor<T>::~Predictor() = default;
template <typename T>
Predictor<T>::Predictor(Predictor&&) noexcept = default;
template <typename T>
Predictor<T>& Predictor<T>::operator=(Predictor&&) noexcept = default;

template <typename T>
std::int64_t Predictor<T>::samples() const {
  return impl_->samples();
}

template <typename T>
std::int64_t Predictor<T>::output_size() const {
  return impl_->output_size();
}

template <typename T>
network::PlainNetwork<T> Predictor<T>::plain_network(
    std::int64_t sample) const {
  return impl_->plain(sample);
}

template <typename T>
void Predictor<T>::run(const T* rows, std::int64_t count, T* outputs) {
  impl_->run(rows, count, outputs);
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace radir::train
