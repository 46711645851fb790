#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "radir/core/cpu.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"

namespace radir::kernels {

/// Sizes of the weights of one layer that has any.
struct WeightSize {
  std::int64_t weight = 0;
  std::int64_t bias = 0;  ///< 0: none
};

/// Where one layer's weights lie; `bias` is ignored where the layer has none.
template <typename T>
struct Weights {
  const T* weight = nullptr;
  const T* bias = nullptr;
  // For layers with NetworkOptions::activation_noise, where the above are
  // means.
  const T* weight_variance = nullptr;
  const T* bias_variance = nullptr;
  /// For those layers and for those with NetworkOptions::dropout.
  RandomStream noise = {};
};

/// Where the gradient of one layer's weights goes; overwritten, not added to.
template <typename T>
struct WeightGradients {
  T* weight = nullptr;
  T* bias = nullptr;
  // For layers with NetworkOptions::activation_noise.
  T* weight_variance = nullptr;
  T* bias_variance = nullptr;
};

struct NetworkOptions {
  std::int64_t max_batch = 1;
  bool gradients = true;       ///< false: forward only, less memory
  ThreadPool* pool = nullptr;  ///< nullptr: all in the calling thread
  Isa isa = active_isa();      ///< the instruction set to compute with
  /// For each layer with weights (empty: for none) whether its weights are
  /// independent normals, given by means and variances, and the noise they
  /// make in the outputs is drawn there, for each example, unit and pixel on
  /// its own (local reparametrisation, Kingma et al. 2015):
  ///   y = mean(x) + sqrt(variance(x^2)) eps.
  /// eps is number `example * units + unit` of Weights::noise.
  std::vector<bool> activation_noise = {};
  /// For each layer with weights (empty: for none) the probability with which
  /// an input channel of an example is set to zero; the others are divided by
  /// the probability that they are not, so that the mean stays. Channel c of an
  /// example is dropped where number `example * channels + c` of the uniform
  /// numbers of Weights::noise is below the probability. 0: no dropout.
  std::vector<double> dropout = {};
  std::int64_t max_shards = 1;  ///< of set_shards()
};

/// Rows of a batch that a vector of the widest instruction set holds: where a
/// batch may be cut into shards.
constexpr std::int64_t kShardRows = 16;

/// How the gradients of the weights are added up over a batch: each shard by
/// itself, then along a binary tree over the shards. So the bits do not depend
/// on how many of the shards of a larger batch are computed together.
struct BatchShards {
  /// Place of the first example in the larger batch: its noise follows from it.
  std::int64_t first = 0;
  /// Where each shard ends: multiples of kShardRows, but for the last, which is
  /// the end of the batch. Their number is a power of two.
  std::vector<std::int64_t> ends;
};

/// Forward and backward passes of a sequential network on raw buffers, with one
/// set of weights for the complete batch, and no allocation once constructed.
///
/// Numbers flow with the batch innermost, [channel][row][column][stride()],
/// stride() being batch() rounded up to an integer number of 64-byte vectors.
/// The same inputs give the same bits for any number of threads. Convolutions
/// with 3x3 or 5x5 kernels, stride 1 and enough channels use Winograd's
/// algorithm with tiles of 8x8 (root mean square error in float about 2e-6 of
/// the outputs' root mean square, where the direct sum has 3e-7).
///
///   Network<float> net({1, 28, 28}, {Conv2d{20, {5, 5}}, MaxPool2d{{2, 2}, {2,
///                      2}}, Flatten{}, Dense{10}}, {100});
///   net.set_input(images, 100);
///   const float* logits = net.forward(weights);
///   ... fill net.output_gradient() ...
///   net.backward(weights, gradients);
///
/// Holds the working memory, so one object serves one caller at a time.
template <typename T>
class Network {
 public:
  /// Throws ArgumentError when a layer does not fit the shape before it.
  Network(const network::Shape& input,
          const std::vector<network::LayerSpec>& layers,
          const NetworkOptions& options);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  network::Shape input_shape() const;
  network::Shape output_shape() const;

  /// One entry per dense or convolution layer, first to last: the order of the
  /// arrays that forward() and backward() take.
  const std::vector<WeightSize>& weight_sizes() const;

  std::int64_t batch() const;   ///< of the last set_input()
  std::int64_t stride() const;  ///< distance between features

  /// Takes rows[0 .. batch) of input_shape().size() numbers; with `indices`,
  /// rows[indices[0]], rows[indices[1]], ... instead. Throws ArgumentError
  /// unless 1 <= batch <= max_batch.
  void set_input(const T* rows, std::int64_t batch,
                 const std::int64_t* indices = nullptr);

  /// Cuts the batch of the last set_input(), which by itself is one shard.
  /// Throws ArgumentError for shards that do not fit it.
  void set_shards(const BatchShards& shards);

  /// The outputs, [output][stride()], valid until the next call. Lanes past the
  /// batch hold finite numbers without meaning.
  const T* forward(const Weights<T>* weights);

  /// Where backward() expects the loss's derivative by the outputs,
  /// [output][stride()]: zero in the lanes past the batch (the functions of
  /// likelihood.h write it so). Overwritten by backward().
  T* output_gradient();

  /// Gradients of all weights, after forward() with the same weights. Throws
  /// ArgumentError for a network made without gradients.
  void backward(const Weights<T>* weights, const WeightGradients<T>* gradients);

  /// Copies the outputs as rows: [batch()][output].
  void copy_outputs(T* rows) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Outputs of many weight samples for the same inputs. Rows are cut into blocks
/// that stay in cache while all samples pass over them; blocks are spread over
/// the pool.
template <typename T>
class SampledPrediction {
 public:
  /// `options.max_batch` is the size of a block, 0 for a good one.
  SampledPrediction(const network::Shape& input,
                    const std::vector<network::LayerSpec>& layers,
                    NetworkOptions options);

  /// As Network::weight_sizes().
  const std::vector<WeightSize>& weight_sizes() const {
    return networks_[0].weight_sizes();
  }

  /// outputs[sample][row][output], from rows[count][input] and
  /// weights[sample][layer].
  void run(const T* rows, std::int64_t count, const Weights<T>* weights,
           std::int64_t samples, T* outputs);

 private:
  ThreadPool* pool_;
  std::int64_t block_;
  std::vector<Network<T>> networks_;  // one per thread
};

/// The outputs, [count][outputs], for rows[count][inputs]. Throws ArgumentError
/// when an array has another size than the description says.
template <typename T>
std::vector<T> run_network(const network::PlainNetwork<T>& network,
                           const T* rows, std::int64_t count,
                           ThreadPool* pool = nullptr);

}  // namespace radir::kernels
