#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "radir/kernels/network.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"

namespace radir::train {

/// The posteriors of all weights and biases of a model, bound to flat buffers
/// laid out by Model::parameters(), and one draw of them.
template <typename T>
class PosteriorSet {
 public:
  /// What the draws are for. In training, the noise of layers whose family
  /// says so is drawn in the activations or the inputs (posterior::Noise):
  /// their draw is the means, and for noise in the activations weights() has
  /// the variances too.
  enum class Purpose { Prediction, Training };

  /// For `more` see gradients().
  explicit PosteriorSet(const Model& model,
                        Purpose purpose = Purpose::Prediction,
                        std::int64_t more = 0);

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
  /// What the families do after a step of the optimiser; see
  /// posterior::FamilyPosterior::after_step.
  void after_step(double rate, T* parameters);
  /// Replaces the draw by the weights of one deterministic pass.
  void point(const T* parameters, kernels::PointWeight kind);

  /// The last draw, as kernels::Network takes it.
  const kernels::Weights<T>* weights() const { return weights_.data(); }
  const kernels::WeightGradients<T>* weight_gradients() const {
    return weight_gradients_.data();
  }
  /// The gradients of all weights in one buffer, and `more` numbers behind.
  T* gradients() { return gradients_.data(); }
  std::int64_t gradient_count() const {
    return static_cast<std::int64_t>(draw_.size() + variance_.size());
  }
  /// weight_gradients() in another such buffer.
  std::vector<kernels::WeightGradients<T>> weight_gradients_in(T* buffer) const;

  /// As kernels::NetworkOptions takes it.
  const std::vector<bool>& activation_noise() const {
    return activation_noise_;
  }
  const std::vector<double>& dropout() const { return dropout_; }
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
    bool by_moments = false;  // the noise is drawn in the activations
    bool by_dropout = false;  // or in the inputs
    // The layer that takes its noise from this entry's stream.
    std::optional<std::size_t> noisy_layer;
    Binding<const T> inputs;
    Binding<T> outputs;
  };

  void add(const Model& model, const network::WeightShape& shape,
           const posterior::Options& options, std::size_t first_parameter,
           bool training);
  void add_variances();
  T* draw_gradient() { return gradients_.data(); }
  T* variance_gradient() { return gradients_.data() + draw_.size(); }
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
  std::vector<bool> activation_noise_;
  std::vector<double> dropout_;  // rates, per weighted layer
  std::vector<T> draw_;
  // Laid out as draw_, where any noise is drawn in the activations.
  std::vector<T> variance_;
  std::vector<T> gradients_;  // by draw_, then by variance_
  std::vector<kernels::Weights<T>> weights_;
  std::vector<kernels::WeightGradients<T>> weight_gradients_;
};

}  // namespace radir::train
