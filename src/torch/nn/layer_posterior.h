#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/torch/nn/bayes_layer.h"

namespace radir::nn::detail {

/// One tensor of variational parameters, or of a prior's fixed directions.
struct Block {
  std::string name;  ///< such as "weight_row_direction"
  std::vector<std::int64_t> sizes;
  bool trainable = true;
  bool in_kl = true;  ///< whether the KL has a gradient by it
};

/// Where a draw stands in a layer's random numbers.
struct DrawRequest {
  std::uint64_t seed = 0;
  std::int64_t first = 0;  ///< step of the first draw; the others follow
  std::int64_t count = 0;  ///< 0: one draw, without a leading dimension

  std::int64_t draws() const { return count == 0 ? 1 : count; }
};

/// The posterior of a layer's weight and bias on tensors: what
/// posterior::WeightPosterior is on arrays. The tensors are those of blocks(),
/// in that order, contiguous and of one dtype.
///
/// Backward passes go through the draw they belong to even if others were made
/// since. Several layers may be used at once, one layer by one thread at a
/// time; a lock turns a breach of that into waiting.
class LayerPosterior {
 public:
  using Tensors = std::vector<torch::Tensor>;

  /// Throws ArgumentError that begins with `title`, UnsupportedError for an
  /// estimator that has to know the loss.
  LayerPosterior(std::string title, const network::WeightShape& shape,
                 std::vector<std::int64_t> weight_sizes,
                 const LayerSettings& settings);

  const std::vector<Block>& blocks() const { return blocks_; }
  /// Options of the weight after any fallback.
  const posterior::Options& weight_options() const { return weight_options_; }
  const posterior::Options& bias_options() const { return bias_options_; }
  const std::string& description() const { return description_; }

  void initialize(std::uint64_t seed, const Tensors& blocks);

  /// Draws into new tensors and returns a number that names the last of them.
  std::int64_t draw(const Tensors& blocks, const DrawRequest& request,
                    LayerWeights& weights);

  /// Adds to `gradients` (those of blocks; undefined where not wanted) what
  /// comes through the draws of `request`, named `serial` when they were made.
  void backward(const Tensors& blocks, const DrawRequest& request,
                std::int64_t serial, const LayerWeights& weights,
                const LayerWeights& weight_gradients, const Tensors& gradients);

  double kl(const Tensors& blocks);
  /// Adds `scale` times the gradient, likewise.
  void kl_backward(const Tensors& blocks, double scale,
                   const Tensors& gradients);

  WeightMoments weight_moments(const Tensors& blocks);
  LayerWeights point(const Tensors& blocks, kernels::PointWeight kind);

  /// The backward pass recorded last, which a KL of the same parameters shares.
  const std::weak_ptr<torch::autograd::Node>& last_node() const {
    return last_node_;
  }
  void set_last_node(const std::shared_ptr<torch::autograd::Node>& node) {
    last_node_ = node;
  }

 private:
  /// The posteriors of one dtype with their work space.
  template <typename T>
  struct Workspace {
    posterior::WeightPosterior<T> weight;
    std::optional<posterior::WeightPosterior<T>> bias;
    /// The draw whose traces are still there.
    std::int64_t serial = 0;
    /// Takes the gradients nobody wants.
    std::vector<T> unwanted;
  };
  template <typename T>
  struct Arrays;

  template <typename T>
  Workspace<T>& workspace();
  template <typename T>
  posterior::WeightPosterior<T> make_weight_posterior() const;
  template <typename T>
  Arrays<const T> arrays(const Tensors& blocks) const;
  template <typename T>
  Arrays<T> writable_arrays(const Tensors& blocks);
  template <typename T>
  void draw_one(Workspace<T>& space, const Arrays<const T>& parameters,
                const kernels::RandomStream& stream, T* weight, T* bias);

  void add_blocks(const std::string& prefix,
                  const std::vector<posterior::ParameterBlock>& blocks,
                  const posterior::Options& options,
                  const std::vector<std::int64_t>& sizes);
  LayerWeights empty_weights(const Tensors& blocks, std::int64_t count) const;

  std::string title_;
  network::WeightShape shape_;
  std::vector<std::int64_t> weight_sizes_;
  LayerSettings settings_;
  posterior::Options weight_options_;
  posterior::Options bias_options_;
  std::string description_;
  std::vector<Block> blocks_;
  std::size_t weight_block_count_ = 0;

  std::mutex mutex_;
  std::optional<Workspace<float>> float_space_;
  std::optional<Workspace<double>> double_space_;
  std::weak_ptr<torch::autograd::Node> last_node_;
};

/// LayerPosterior::draw with its gradients.
LayerWeights draw(const std::shared_ptr<LayerPosterior>& posterior,
                  const LayerPosterior::Tensors& blocks,
                  const DrawRequest& request);

/// LayerPosterior::kl with its gradients. Where the parameters have not changed
/// since the last draw, they come with those of the draw, from one node.
KlTerm kl_term(const std::shared_ptr<LayerPosterior>& posterior,
               const LayerPosterior::Tensors& blocks);

}  // namespace radir::nn::detail
