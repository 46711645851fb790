#pragma once

#include <cstdint>
#include <vector>

#include "radir/kernels/network.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"

namespace radir::train {

/// The posteriors of all weights and biases of a model, bound to flat buffers
/// laid out by Model::parameters(), and one draw of them.
template <typename T>
class PosteriorSet {
 public:
  explicit PosteriorSet(const Model& model);

  void initialize(std::uint64_t seed, T* parameters);

  /// Draws all weights; `step` and `draw` select the noise.
  void sample(const T* parameters, std::uint64_t seed, std::uint64_t step,
              ThreadPool* pool);
  /// Adds to `gradient` the gradient through the last draw, given the one of
  /// weight_gradients().
  void backward(const T* parameters, T* gradient, double loss,
                ThreadPool* pool);
  /// KL divergence of everything.
  double kl(const T* parameters);
  /// Adds `scale` times its gradient.
  void kl_backward(const T* parameters, double scale, T* gradient);
  /// Replaces the draw by the weights of one deterministic pass.
  void point(const T* parameters, kernels::PointWeight kind);

  /// The last draw, as kernels::Network takes it.
  const kernels::Weights<T>* weights() const { return weights_.data(); }
  const kernels::WeightGradients<T>* weight_gradients() const {
    return weight_gradients_.data();
  }
  /// All weights and biases of a draw, in one buffer.
  const std::vector<T>& draw() const { return draw_; }
  /// Pointers into a buffer laid out as draw().
  std::vector<kernels::Weights<T>> weights_in(const T* buffer) const;

 private:
  /// Pointers to the arrays of one posterior in a flat buffer, kept from step
  /// to step while the buffer stays the same.
  template <typename P>
  struct Binding {
    P* flat = nullptr;
    posterior::Arrays<P> arrays;

    const posterior::Arrays<P>& to(P* buffer,
                                   const std::vector<std::int64_t>& offsets);
  };

  struct Entry {
    posterior::WeightPosterior<T> posterior;
    std::vector<std::int64_t> offsets;  // of its arrays in a flat buffer
    std::int64_t draw_offset = 0;
    Binding<const T> inputs;
    Binding<T> outputs;
  };

  void add(const Model& model, const network::WeightShape& shape,
           const posterior::Options& options, std::size_t first_parameter);
  const posterior::Arrays<const T>& bind(Entry& entry, const T* flat) {
    return entry.inputs.to(flat, entry.offsets);
  }
  const posterior::Arrays<T>& bind(Entry& entry, T* flat) {
    return entry.outputs.to(flat, entry.offsets);
  }
  kernels::RandomStream stream(std::size_t entry, std::uint64_t seed,
                               std::uint64_t step) const;

  std::vector<Entry> entries_;
  std::vector<bool> has_bias_;  // per weighted layer
  std::vector<T> draw_;
  std::vector<T> draw_gradient_;
  std::vector<kernels::Weights<T>> weights_;
  std::vector<kernels::WeightGradients<T>> weight_gradients_;
};

}  // namespace radir::train
