#include "radir/torch/nn/bayes_layer.h"

#include <torch/torch.h>

#include <limits>
#include <ostream>
#include <utility>

#include "radir/core/error.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"
#include "torch/nn/checks.h"
#include "torch/nn/kl_sum.h"
#include "torch/nn/layer_posterior.h"

namespace radir::nn {
namespace {

std::uint64_t seed_from_torch() {
  const torch::Tensor bits = torch::randint(
      std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong);
  return static_cast<std::uint64_t>(bits.item<std::int64_t>());
}

torch::Tensor whole_number(std::int64_t value) {
  return torch::full({1}, value, torch::kLong);
}

}  // namespace

posterior::Options as_family(const posterior::Options& options, Family family) {
  using posterior::GaussianOptions;
  using posterior::RadialDirectionalOptions;
  const auto* radial = options.get_if<RadialDirectionalOptions>();
  const auto* gaussian = options.get_if<GaussianOptions>();
  if (family == Family::Gaussian) {
    GaussianOptions result;
    if (gaussian != nullptr) result = *gaussian;
    if (radial != nullptr) {
      result.prior_scale = radial->gaussian_prior_scale;
      result.learn_prior = radial->learn_prior;
      result.initial_gain = radial->initial_gain;
      result.initial_noise = radial->initial_noise;
    }
    return result;
  }
  RadialDirectionalOptions result;
  if (radial != nullptr) result = *radial;
  if (gaussian != nullptr) {
    result.gaussian_prior_scale = gaussian->prior_scale;
    result.learn_prior = gaussian->learn_prior;
    result.initial_gain = gaussian->initial_gain;
    result.initial_noise = gaussian->initial_noise;
  }
  return result;
}

const char* to_string(Mode mode) {
  switch (mode) {
    case Mode::Auto:
      return "auto";
    case Mode::Mean:
      return "mean";
    case Mode::Median:
      return "median";
    case Mode::Mode:
      return "mode";
    case Mode::Frozen:
      return "frozen";
    case Mode::Sample:
      break;
  }
  return "sample";
}

template <typename Derived>
BayesLayer<Derived>::BayesLayer(std::string title,
                                const network::WeightShape& shape,
                                std::vector<std::int64_t> weight_sizes,
                                const LayerSettings& settings)
    : title_(std::move(title)),
      weight_shape_(shape),
      weight_sizes_(std::move(weight_sizes)),
      settings_(settings) {
  // Kept, so that a copy of the layer draws none of its own.
  if (!settings_.seed) settings_.seed = seed_from_torch();
  BayesLayer::reset();
}

template <typename Derived>
void BayesLayer<Derived>::reset() {
  posterior_ = std::make_shared<detail::LayerPosterior>(
      title_, weight_shape_, weight_sizes_, settings_);
  blocks_.clear();
  for (const detail::Block& block : posterior_->blocks()) {
    const torch::Tensor values = torch::zeros(block.sizes);
    blocks_.push_back(block.trainable
                          ? this->register_parameter(block.name, values)
                          : this->register_buffer(block.name, values));
  }
  seed_ = this->register_buffer(
      "seed", whole_number(static_cast<std::int64_t>(*settings_.seed)));
  draws_ = this->register_buffer("draws", whole_number(0));
  posterior_->initialize(*settings_.seed, blocks_);
}

template <typename Derived>
void BayesLayer<Derived>::pretty_print(std::ostream& stream) const {
  stream << "radir::nn::" << title_ << "[mode=" << to_string(mode_) << ", "
         << posterior_->description() << "]";
}

template <typename Derived>
const posterior::Options& BayesLayer<Derived>::weight_options() const {
  return posterior_->weight_options();
}

template <typename Derived>
const posterior::Options& BayesLayer<Derived>::bias_options() const {
  return posterior_->bias_options();
}

template <typename Derived>
void BayesLayer<Derived>::set_mode(Mode mode) {
  mode_ = mode;
  if (mode == Mode::Frozen) ++draws();  // the draw before this is kept
}

template <typename Derived>
void BayesLayer<Derived>::set_parallel_samples(std::int64_t count) {
  RADIR_CHECK(count > 0, ArgumentError, title_,
              ": the number of samples must be positive, but is ", count);
  parallel_samples_ = count;
}

template <typename Derived>
std::int64_t& BayesLayer<Derived>::draws() const {
  return *draws_.template data_ptr<std::int64_t>();
}

template <typename Derived>
std::vector<torch::Tensor> BayesLayer<Derived>::contiguous_blocks() const {
  std::vector<torch::Tensor> blocks;
  blocks.reserve(blocks_.size());
  for (const torch::Tensor& block : blocks_) {
    blocks.push_back(block.contiguous());
  }
  return blocks;
}

template <typename Derived>
LayerWeights BayesLayer<Derived>::draw(std::int64_t first,
                                       std::int64_t count) const {
  detail::DrawRequest request;
  request.seed =
      static_cast<std::uint64_t>(*seed_.template data_ptr<std::int64_t>());
  request.first = first;
  request.count = count;
  return detail::draw(posterior_, contiguous_blocks(), request);
}

template <typename Derived>
LayerWeights BayesLayer<Derived>::next_draws(std::int64_t count) {
  LayerWeights weights = draw(draws(), count);
  draws() += count == 0 ? 1 : count;
  return weights;
}

template <typename Derived>
LayerWeights BayesLayer<Derived>::point(kernels::PointWeight kind) const {
  return posterior_->point(contiguous_blocks(), kind);
}

template <typename Derived>
void BayesLayer<Derived>::check_input(const torch::Tensor& input) const {
  detail::check_device(title_, blocks_[0].device());
  detail::check_device(title_, input.device());
  RADIR_CHECK(input.scalar_type() == blocks_[0].scalar_type(), ArgumentError,
              title_, ": the input must have the layer's dtype ",
              torch::toString(blocks_[0].scalar_type()), ", but has ",
              torch::toString(input.scalar_type()),
              "; convert it, or the layer, with to(dtype)");
  check_sizes(input);
  if (settings_.validate) detail::check_finite(title_, "the input", input);
}

template <typename Derived>
torch::Tensor BayesLayer<Derived>::forward(const torch::Tensor& input) {
  check_input(input);
  switch (mode_) {
    case Mode::Auto:
      if (this->is_training()) break;
      return apply(input, point(kernels::PointWeight::Mean));
    case Mode::Mean:
      return apply(input, point(kernels::PointWeight::Mean));
    case Mode::Median:
      return apply(input, point(kernels::PointWeight::Median));
    case Mode::Mode:
      return apply(input, point(kernels::PointWeight::Mode));
    case Mode::Frozen:
      return apply(input, draw(draws() - 1, 0));
    case Mode::Sample:
      break;
  }
  if (parallel_samples_ > 1) return forward_in_parts(input);
  return apply(input, next_draws(0));
}

template <typename Derived>
torch::Tensor BayesLayer<Derived>::forward_in_parts(
    const torch::Tensor& input) {
  RADIR_CHECK(input.size(0) % parallel_samples_ == 0, ArgumentError, title_,
              ": the first dimension of the input must be a multiple of the ",
              parallel_samples_, " parallel samples, but its shape is ",
              input.sizes());
  std::vector<std::int64_t> sizes = input.sizes().vec();
  sizes[0] /= parallel_samples_;
  sizes.insert(sizes.begin(), parallel_samples_);
  return apply_each(input.reshape(sizes), next_draws(parallel_samples_))
      .flatten(0, 1);
}

template <typename Derived>
torch::Tensor BayesLayer<Derived>::mean_forward(const torch::Tensor& input) {
  check_input(input);
  return apply(input, point(kernels::PointWeight::Mean));
}

template <typename Derived>
torch::Tensor BayesLayer<Derived>::sample_forward(const torch::Tensor& input,
                                                  std::int64_t num_samples) {
  check_input(input);
  RADIR_CHECK(num_samples > 0, ArgumentError, title_,
              ": the number of samples must be positive, but is ", num_samples);
  std::vector<std::int64_t> sizes = input.sizes().vec();
  sizes.insert(sizes.begin(), num_samples);
  return apply_each(input.unsqueeze(0).expand(sizes), next_draws(num_samples));
}

template <typename Derived>
torch::Tensor BayesLayer<Derived>::kl() const {
  return detail::sum_of({*kl_term()});
}

template <typename Derived>
std::optional<KlTerm> BayesLayer<Derived>::kl_term() const {
  detail::check_device(title_, blocks_[0].device());
  return detail::kl_term(posterior_, contiguous_blocks());
}

template <typename Derived>
WeightMoments BayesLayer<Derived>::weight_moments() const {
  detail::check_device(title_, blocks_[0].device());
  return posterior_->weight_moments(contiguous_blocks());
}

template <typename Derived>
void BayesLayer<Derived>::to(torch::Device device, torch::Dtype dtype,
                             bool non_blocking) {
  detail::check_device(title_, device);
  this->to(dtype, non_blocking);
}

template <typename Derived>
void BayesLayer<Derived>::to(torch::Device device, bool) {
  detail::check_device(title_, device);
}

template <typename Derived>
void BayesLayer<Derived>::to(torch::Dtype dtype, bool non_blocking) {
  detail::check_dtype(title_, dtype);
  // Module::to converts every buffer, these whole numbers too.
  const torch::Tensor seed = seed_.clone();
  const torch::Tensor draws = draws_.clone();
  torch::nn::Module::to(dtype, non_blocking);
  seed_.set_data(seed);
  draws_.set_data(draws);
}

template class BayesLayer<BayesLinearImpl>;
template class BayesLayer<BayesConv2dImpl>;

}  // namespace radir::nn
