#pragma once

#include <torch/nn/cloneable.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"
#include "radir/torch/nn/options.h"
#include "radir/torch/nn/variational.h"

namespace radir::nn {

namespace detail {
class LayerPosterior;
}  // namespace detail

/// Weight and bias of one pass, with a leading dimension when there are
/// several draws. The bias of a layer without one is undefined.
struct LayerWeights {
  torch::Tensor weight;
  torch::Tensor bias;
};

/// Mean and variance of each weight.
struct WeightMoments {
  torch::Tensor mean;
  torch::Tensor variance;
};

/// What the layers share: a posterior over weight and bias, whose variational
/// parameters are the module's parameters, `weight_row_direction` and so on to
/// `bias_log_scale`, and where they lie in the sequence of random numbers.
///
/// Float or double, on the CPU. One autograd node serves a draw of weight and
/// bias and the KL; second derivatives throw UnsupportedError. Buffers: a
/// prior's fixed mean directions, `seed`, and `draws`, the number of draws made
/// so far, on which with the parameters every result depends: a copy, or a
/// layer loaded from a file, goes on as the original would. Calls on one layer
/// must not overlap.
template <typename Derived>
class BayesLayer : public torch::nn::Cloneable<Derived>, public RandomLayer {
 public:
  /// The layer applied with the weights that mode() says: by default a fresh
  /// draw while training and the mean weights after eval(). The output alone:
  /// the KL is kl()'s.
  ///
  /// Gradients reach the variational parameters when the weights are drawn, in
  /// Mode::Sample and Mode::Frozen; otherwise the weight is a constant. A
  /// frozen draw keeps its noise, so its weight follows the parameters as they
  /// are trained.
  ///
  /// Throws ArgumentError for a wrong shape or dtype, UnsupportedError for a
  /// device other than the CPU, DomainError for values that are not finite
  /// (option validate).
  torch::Tensor forward(const torch::Tensor& input);

  /// The layer applied with E[W], whatever the mode.
  torch::Tensor mean_forward(const torch::Tensor& input);

  /// Outputs under `num_samples` draws, [num_samples, ...], whatever the mode:
  /// the next that as many calls of forward() in Mode::Sample would make.
  torch::Tensor sample_forward(const torch::Tensor& input,
                               std::int64_t num_samples);

  /// KL(posterior || prior) of weight and bias, in nats.
  torch::Tensor kl() const override;
  std::optional<KlTerm> kl_term() const override;

  /// E[W] and Var[W] of each weight, without gradients.
  WeightMoments weight_moments() const;

  Mode mode() const override { return mode_; }
  void set_mode(Mode mode) override;
  std::int64_t parallel_samples() const override { return parallel_samples_; }
  void set_parallel_samples(std::int64_t count) override;

  /// The weight as the posterior sees it, and the posterior's options after any
  /// fallback (a group of length 1 has no direction).
  const network::WeightShape& weight_shape() const { return weight_shape_; }
  const posterior::Options& weight_options() const;
  /// The options of the bias's posterior.
  const posterior::Options& bias_options() const;

  /// Makes the parameters anew, with the starting values of the seed.
  void reset() override;
  /// `radir::nn::BayesLinear(13, 50)[mode=auto, radial-directional, ...]`.
  void pretty_print(std::ostream& stream) const override;

  /// Throws UnsupportedError for a device other than the CPU, ArgumentError
  /// for a dtype other than float and double.
  void to(torch::Device device, torch::Dtype dtype,
          bool non_blocking = false) override;
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, bool non_blocking = false) override;

 protected:
  /// `title` opens messages; `weight_sizes` is the shape of the weight tensor.
  BayesLayer(std::string title, const network::WeightShape& shape,
             std::vector<std::int64_t> weight_sizes,
             const LayerSettings& settings);

  const std::string& title() const { return title_; }

 private:
  virtual void check_sizes(const torch::Tensor& input) const = 0;
  virtual torch::Tensor apply(const torch::Tensor& input,
                              const LayerWeights& weights) const = 0;
  /// The same for inputs [samples, batch, ...], each with weights of its own.
  virtual torch::Tensor apply_each(const torch::Tensor& inputs,
                                   const LayerWeights& weights) const = 0;

  void check_input(const torch::Tensor& input) const;
  torch::Tensor forward_in_parts(const torch::Tensor& input);
  /// The draws of `count` steps of the random sequence from `first` on; with
  /// a leading dimension unless count is 0, which stands for one without.
  LayerWeights draw(std::int64_t first, std::int64_t count) const;
  LayerWeights next_draws(std::int64_t count);
  LayerWeights point(kernels::PointWeight kind) const;
  /// The parameters as the kernels want them: usually blocks_ itself.
  std::vector<torch::Tensor> contiguous_blocks() const;
  std::int64_t& draws() const;

  std::string title_;
  network::WeightShape weight_shape_;
  std::vector<std::int64_t> weight_sizes_;
  LayerSettings settings_;
  Mode mode_ = Mode::Auto;
  std::int64_t parallel_samples_ = 1;

  std::shared_ptr<detail::LayerPosterior> posterior_;
  std::vector<torch::Tensor> blocks_;  // as posterior_ lists them
  torch::Tensor seed_;
  torch::Tensor draws_;
};

}  // namespace radir::nn
