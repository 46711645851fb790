#pragma once

#include <algorithm>

#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/weight_posterior.h"

namespace radir::posterior {

/// What each family provides; see WeightPosterior for the contract.
template <typename T>
class WeightPosterior<T>::Impl {
 public:
  Impl(const network::WeightShape& shape, const Options& options)
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
  virtual UnitScores unit_scores(const Arrays<const T>& parameters) = 0;
  /// What the restricted posterior has beyond the kept part of the parameters,
  /// which is copied already. `target` is of the same class, and its shape
  /// fits.
  virtual void finish_restriction(const KeptUnits& kept,
                                  const Arrays<const T>& parameters,
                                  const Impl& target,
                                  const Arrays<T>& target_parameters) const = 0;

  void copy_kept(const KeptUnits& kept, const Arrays<const T>& arrays,
                 const Arrays<T>& target_arrays) const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const T* from = arrays[b];
      T* to = target_arrays[b];
      switch (blocks_[b].extent) {
        case Extent::Weight:
          copy_part(kept, from, to);
          break;
        case Extent::Rows:
          for (std::int64_t row : kept.rows) *to++ = from[row];
          break;
        case Extent::Columns:
          for (std::int64_t column : kept.columns) *to++ = from[column];
          break;
        case Extent::One:
          *to = *from;
          break;
      }
    }
  }

  network::WeightShape shape_;
  Options options_;
  std::vector<ParameterBlock> blocks_;
  std::string note_;  ///< what became of an impossible grouping

 protected:
  /// Copies the kept part of an array shaped like the weight.
  void copy_part(const KeptUnits& kept, const T* from, T* to) const {
    for (std::int64_t row : kept.rows) {
      for (std::int64_t column : kept.columns) {
        to = std::copy_n(from + (row * shape_.in + column) * shape_.kernel,
                         shape_.kernel, to);
      }
    }
  }

  /// Appends a block and returns its index.
  std::size_t add_block(std::string name, Extent extent,
                        bool trainable = true) {
    blocks_.push_back({std::move(name), size_of(extent), extent, trainable});
    return blocks_.size() - 1;
  }

 private:
  std::int64_t size_of(Extent extent) const {
    switch (extent) {
      case Extent::Weight:
        return shape_.size();
      case Extent::Rows:
        return shape_.rows();
      case Extent::Columns:
        return shape_.columns();
      case Extent::One:
        break;
    }
    return 1;
  }
};

}  // namespace radir::posterior
