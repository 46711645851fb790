#pragma once

#include <array>
#include <optional>

#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/kernels/rdp_parameters.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/radial_directional.h"

// Private to the posteriors.

namespace radir::posterior {

/// Random lengths times random directions, of rows, columns or both.
template <typename T>
class RadialDirectional final : public FamilyPosterior<T> {
 public:
  RadialDirectional(const network::WeightShape& shape,
                    const RadialDirectionalOptions& options);

  std::string describe() const override;
  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override;
  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool* pool) override;
  void backward(const Arrays<const T>& parameters, const T* weight,
                const T* weight_gradient, const Arrays<T>& gradients,
                double loss, ThreadPool* pool) override;
  double kl(const Arrays<const T>& parameters) override;
  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override;
  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override;
  void point(const Arrays<const T>& parameters, kernels::PointWeight kind,
             T* weight) override;
  UnitScores unit_scores(const Arrays<const T>& parameters) override;
  void finish_restriction(const KeptUnits& kept,
                          const Arrays<const T>& parameters,
                          const FamilyPosterior<T>& target,
                          const Arrays<T>& target_parameters) const override;

 private:
  /// Where the arrays of one side stand among the parameter blocks.
  struct SideBlocks {
    bool is_row = true;
    std::int64_t groups = 0;
    std::int64_t length = 0;
    double prior_log_concentration = 0;
    std::size_t direction = 0;
    std::size_t log_concentration = 0;
    /// First of loc_a, log_var_a, loc_b, log_var_b.
    std::size_t local = 0;
    std::optional<std::size_t> global;
    std::optional<std::size_t> prior_direction;
    /// Of the prior; none for uniform directions.
    std::optional<std::size_t> learnt_concentration;
    /// First of log local and log global scale of the prior.
    std::optional<std::size_t> learnt_scales;
  };

  SideBlocks add_side(bool is_row);
  void initialize_side(const SideBlocks& side, double log_radius,
                       const Arrays<T>& parameters) const;
  template <typename P>
  kernels::RdpSides<P> sides(const Arrays<P>& arrays) const;
  std::vector<double> log_modes(const SideBlocks& side,
                                const Arrays<const T>& parameters) const;
  void move_lengths(const SideBlocks& side, const SideBlocks& target_side,
                    const KeptUnits& kept, const Arrays<const T>& parameters,
                    const Arrays<T>& target_parameters) const;
  kernels::RdpPrior<T> prior(const Arrays<const T>& parameters) const;
  kernels::RdpSidePrior<T> side_prior(const SideBlocks& side,
                                      const Arrays<const T>& parameters) const;

  RadialDirectionalOptions own_;
  std::optional<SideBlocks> row_;
  std::optional<SideBlocks> column_;
  kernels::RdpKernel<T> kernel_;
};

}  // namespace radir::posterior
