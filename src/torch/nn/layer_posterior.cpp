#include "torch/nn/layer_posterior.h"

#include <ATen/Dispatch.h>

#include <type_traits>
#include <utility>

#include "radir/core/error.h"
#include "radir/kernels/philox.h"
#include "radir/math/vmf_sampling.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/compiled_step.h"
#include "torch/nn/fast_tensors.h"

namespace radir::nn::detail {
namespace {

/// Stream numbers of a draw: the weight's first, then the bias's; those of the
/// starting values lie far from both.
constexpr std::uint32_t kBiasStream = posterior::kStreamsPerPosterior;
constexpr std::uint32_t kInitialStream = 1u << 31;

network::WeightShape bias_shape(const network::WeightShape& weight) {
  return {1, weight.rows(), 1, 1};
}

kernels::RandomStream bias_stream(kernels::RandomStream stream) {
  stream.stream += kBiasStream;
  return stream;
}

/// Draw `i` of a request.
kernels::RandomStream stream_of(const DrawRequest& request, std::int64_t i) {
  return {request.seed, 0, static_cast<std::uint64_t>(request.first + i)};
}

/// The part of a tensor that belongs to draw `i`.
template <typename T>
T* part(const torch::Tensor& tensor, std::int64_t i, std::int64_t size) {
  return tensor.defined() ? tensor.data_ptr<T>() + i * size : nullptr;
}

/// Runs `action`; an error of type E that leaves it begins with `title`.
template <typename E, typename Action>
auto titled(const std::string& title, const Action& action) {
  try {
    return action();
  } catch (const E& error) {
    throw E(title + ": " + error.what());
  }
}

}  // namespace

/// Pointers to the arrays of the weight and of the bias.
template <typename T>
struct LayerPosterior::Arrays {
  posterior::Arrays<T> weight;
  posterior::Arrays<T> bias;
};

LayerPosterior::LayerPosterior(std::string title,
                               const network::WeightShape& shape,
                               std::vector<std::int64_t> weight_sizes,
                               const LayerSettings& settings)
    : title_(std::move(title)),
      shape_(shape),
      weight_sizes_(std::move(weight_sizes)),
      settings_(settings),
      bias_options_(settings.weight.family().bias_options(
          settings.weight, settings.bias_prior_scale)) {
  const auto* radial =
      settings.weight.get_if<posterior::RadialDirectionalOptions>();
  RADIR_CHECK(
      radial == nullptr || radial->estimator == math::VmfEstimator::Implicit,
      UnsupportedError, title_, ": the rejection estimator needs the loss in ",
      "its backward pass, which a layer of a larger network does not see; use ",
      "the implicit one, or train::CompiledStep");
  titled<ArgumentError>(title_, [&] {
    const auto weight = make_weight_posterior<float>();
    weight_options_ = weight.options();
    description_ = weight.describe();
    add_blocks("weight_", weight.parameter_blocks(), weight_options_,
               weight_sizes_);
    weight_block_count_ = blocks_.size();
    if (!settings_.bias) return;
    const posterior::WeightPosterior<float> bias(bias_shape(shape_),
                                                 bias_options_);
    add_blocks("bias_", bias.parameter_blocks(), bias_options_,
               {shape_.rows()});
  });
}

void LayerPosterior::add_blocks(
    const std::string& prefix,
    const std::vector<posterior::ParameterBlock>& blocks,
    const posterior::Options& options, const std::vector<std::int64_t>& sizes) {
  // The KL does not see a mean direction unless the prior has one of its own.
  const auto* radial = options.get_if<posterior::RadialDirectionalOptions>();
  const bool directions_in_kl =
      radial == nullptr ||
      radial->direction_prior == posterior::DirectionPrior::MeanDirection;
  for (const posterior::ParameterBlock& block : blocks) {
    blocks_.push_back(
        {prefix + block.name,
         block.weight_shaped() ? sizes : std::vector<std::int64_t>{block.size},
         block.trainable, !block.weight_shaped() || directions_in_kl});
  }
}

template <typename T>
posterior::WeightPosterior<T> LayerPosterior::make_weight_posterior() const {
  return posterior::WeightPosterior<T>(shape_, settings_.weight);
}

template <typename T>
LayerPosterior::Workspace<T>& LayerPosterior::workspace() {
  std::optional<Workspace<T>>* space = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    space = &float_space_;
  } else {
    space = &double_space_;
  }
  if (!*space) {
    space->emplace(Workspace<T>{make_weight_posterior<T>(), {}, 0, {}});
    if (settings_.bias) {
      (*space)->bias.emplace(bias_shape(shape_), bias_options_);
    }
  }
  return **space;
}

template <typename T>
LayerPosterior::Arrays<const T> LayerPosterior::arrays(
    const Tensors& blocks) const {
  Arrays<const T> result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto& side = i < weight_block_count_ ? result.weight : result.bias;
    side.push_back(blocks[i].data_ptr<T>());
  }
  return result;
}

template <typename T>
LayerPosterior::Arrays<T> LayerPosterior::writable_arrays(
    const Tensors& blocks) {
  std::vector<T>& unwanted = workspace<T>().unwanted;
  unwanted.resize(static_cast<std::size_t>(shape_.size()));
  Arrays<T> result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto& side = i < weight_block_count_ ? result.weight : result.bias;
    side.push_back(blocks[i].defined() ? blocks[i].data_ptr<T>()
                                       : unwanted.data());
  }
  return result;
}

LayerWeights LayerPosterior::empty_weights(const Tensors& blocks,
                                           std::int64_t count) const {
  std::vector<std::int64_t> weight_sizes = weight_sizes_;
  std::vector<std::int64_t> bias_sizes = {shape_.rows()};
  if (count > 0) {
    weight_sizes.insert(weight_sizes.begin(), count);
    bias_sizes.insert(bias_sizes.begin(), count);
  }
  const torch::Dtype dtype = blocks[0].scalar_type();
  LayerWeights weights{empty_tensor(weight_sizes, dtype), {}};
  if (settings_.bias) weights.bias = empty_tensor(bias_sizes, dtype);
  return weights;
}

void LayerPosterior::initialize(std::uint64_t seed, const Tensors& blocks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const kernels::RandomStream stream{seed, kInitialStream, 0};
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "initialize", [&] {
    auto& space = workspace<scalar_t>();
    const Arrays<scalar_t> to = writable_arrays<scalar_t>(blocks);
    space.weight.initialize(stream, to.weight);
    if (space.bias) space.bias->initialize(bias_stream(stream), to.bias);
  });
}

template <typename T>
void LayerPosterior::draw_one(Workspace<T>& space,
                              const Arrays<const T>& parameters,
                              const kernels::RandomStream& stream, T* weight,
                              T* bias) {
  titled<NumericalError>(
      title_, [&] { space.weight.sample(parameters.weight, stream, weight); });
  if (space.bias) {
    space.bias->sample(parameters.bias, bias_stream(stream), bias);
  }
  ++space.serial;
}

std::int64_t LayerPosterior::draw(const Tensors& blocks,
                                  const DrawRequest& request,
                                  LayerWeights& weights) {
  const std::lock_guard<std::mutex> lock(mutex_);
  weights = empty_weights(blocks, request.count);
  std::int64_t serial = 0;
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "draw", [&] {
    auto& space = workspace<scalar_t>();
    const auto parameters = arrays<scalar_t>(blocks);
    for (std::int64_t i = 0; i < request.draws(); ++i) {
      draw_one(space, parameters, stream_of(request, i),
               part<scalar_t>(weights.weight, i, shape_.size()),
               part<scalar_t>(weights.bias, i, shape_.rows()));
    }
    serial = space.serial;
  });
  return serial;
}

void LayerPosterior::backward(const Tensors& blocks, const DrawRequest& request,
                              std::int64_t serial, const LayerWeights& weights,
                              const LayerWeights& weight_gradients,
                              const Tensors& gradients) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "draw_backward", [&] {
    auto& space = workspace<scalar_t>();
    const auto parameters = arrays<scalar_t>(blocks);
    const auto to = writable_arrays<scalar_t>(gradients);
    // The last draw first: its traces may still be there. The others are drawn
    // again, which gives the same numbers.
    for (std::int64_t i = request.draws(); i-- > 0;) {
      auto* weight = part<scalar_t>(weights.weight, i, shape_.size());
      auto* bias = part<scalar_t>(weights.bias, i, shape_.rows());
      const bool is_last = i + 1 == request.draws();
      if (!is_last || space.serial != serial) {
        draw_one(space, parameters, stream_of(request, i), weight, bias);
      }
      space.weight.backward(
          parameters.weight, weight,
          part<scalar_t>(weight_gradients.weight, i, shape_.size()), to.weight);
      if (space.bias) {
        space.bias->backward(
            parameters.bias, bias,
            part<scalar_t>(weight_gradients.bias, i, shape_.rows()), to.bias);
      }
    }
  });
}

double LayerPosterior::kl(const Tensors& blocks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  double value = 0;
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "kl", [&] {
    auto& space = workspace<scalar_t>();
    const auto parameters = arrays<scalar_t>(blocks);
    value = space.weight.kl(parameters.weight);
    if (space.bias) value += space.bias->kl(parameters.bias);
  });
  return value;
}

void LayerPosterior::kl_backward(const Tensors& blocks, double scale,
                                 const Tensors& gradients) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "kl_backward", [&] {
    auto& space = workspace<scalar_t>();
    const auto parameters = arrays<scalar_t>(blocks);
    const auto to = writable_arrays<scalar_t>(gradients);
    space.weight.kl_backward(parameters.weight, scale, to.weight);
    if (space.bias) space.bias->kl_backward(parameters.bias, scale, to.bias);
  });
}

WeightMoments LayerPosterior::weight_moments(const Tensors& blocks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  WeightMoments result{empty_weights(blocks, 0).weight,
                       empty_weights(blocks, 0).weight};
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "moments", [&] {
    workspace<scalar_t>().weight.moments(arrays<scalar_t>(blocks).weight,
                                         result.mean.data_ptr<scalar_t>(),
                                         result.variance.data_ptr<scalar_t>());
  });
  return result;
}

LayerWeights LayerPosterior::point(const Tensors& blocks,
                                   kernels::PointWeight kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LayerWeights weights = empty_weights(blocks, 0);
  AT_DISPATCH_FLOATING_TYPES(blocks[0].scalar_type(), "point", [&] {
    auto& space = workspace<scalar_t>();
    const auto parameters = arrays<scalar_t>(blocks);
    space.weight.point(parameters.weight, kind,
                       weights.weight.data_ptr<scalar_t>());
    if (space.bias) {
      space.bias->point(parameters.bias, kind,
                        weights.bias.data_ptr<scalar_t>());
    }
  });
  return weights;
}

}  // namespace radir::nn::detail
