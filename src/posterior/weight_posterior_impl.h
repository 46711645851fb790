#pragma once

#include "radir/posterior/weight_posterior.h"

namespace radir::posterior {

/// What each family provides; see WeightPosterior for the contract.
template <typename T>
class WeightPosterior<T>::Impl {
 public:
  Impl(const kernels::WeightShape& shape, const Options& options)
      : shape_(shape), options_(options) {}
  virtual ~Impl() = default;

  virtual std::string describe() const = 0;
  virtual void initialize(const kernels::RandomStream& stream,
                          const Arrays<T>& parameters) = 0;
  virtual void sample(const Arrays<const T>& parameters,
                      const kernels::RandomStream& stream, T* weight,
                      ThreadPool* pool) = 0;
  virtual void backward(const Arrays<const T>& parameters, const T* weight,
                        const T* weight_gradient, const Arrays<T>& gradients,
                        double loss, ThreadPool* pool) = 0;
  virtual double kl(const Arrays<const T>& parameters) = 0;
  virtual void kl_backward(const Arrays<const T>& parameters, double scale,
                           const Arrays<T>& gradients) = 0;
  virtual void moments(const Arrays<const T>& parameters, T* mean,
                       T* variance) = 0;
  virtual void point(const Arrays<const T>& parameters,
                     kernels::PointWeight kind, T* weight) = 0;

  kernels::WeightShape shape_;
  Options options_;
  std::vector<ParameterBlock> blocks_;
  std::string note_;  ///< what became of an impossible grouping

 protected:
  /// Appends a block and returns its index.
  std::size_t add_block(std::string name, std::int64_t size,
                        bool weight_shaped = false, bool trainable = true) {
    blocks_.push_back({std::move(name), size, weight_shaped, trainable});
    return blocks_.size() - 1;
  }
};

}  // namespace radir::posterior
