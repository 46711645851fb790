#pragma once

#include <cstdint>

#include "radir/core/config.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/radius_factors.h"

// What radir/kernels/rdp.h is made of, once per instruction set. A weight is
// handled as matrices of `rows` rows of `length` numbers, one matrix per
// channel group. What belongs to a column is given per *position* of a row (a
// convolution repeats it for each position of its kernel), in arrays with room
// for full registers.

namespace radir::kernels {
inline namespace RADIR_ISA {}  // namespace RADIR_ISA

/// Scalar products of two arrays a and b within each row, or each position.
template <typename T>
struct PairSums {
  T* aa;
  T* ab;
  T* bb;
};

/// One side's part of a weight, in the rows being handled:
/// noise_scale * noise + direction_scale * direction, which replaces the noise.
/// `noise` is null when the weight lacks this side.
template <typename T>
struct SidePart {
  const T* direction;
  T* noise;
  const T* noise_scale;      // per row, or per position
  const T* direction_scale;  // likewise
};

/// One side's sums in the backward pass, per row or per position. v is the
/// gradient of the loss with respect to this side's part; `part` is null when
/// the weight lacks the side.
template <typename T>
struct SideSums {
  const T* direction;
  const T* part;
  T* radial;  // sum part * v
  T* axial;   // sum direction * v
};

/// What the gradient of one side's directions is made of:
/// loss_scale * v + part_scale * part, scales per row or per position.
template <typename T>
struct SideStep {
  const T* part;
  const T* loss_scale;
  const T* part_scale;
  T* gradient;
};

/// How u(w), the slope of a cosine in its concentration, is found: the implicit
/// one, without a correction, or one of the others with loss * c(w), for which,
/// as for the quadrature, x0_excess is read.
enum class SlopeRule {
  Series,  // implicit, the polynomial of a distribution that all groups share
  Quadrature,   // implicit
  Approximate,  // implicit, by u1: for long directions
  Rejection,
  ClosedForm0,
  ClosedForm1,
};

/// A polynomial in (w - x0 - center) * inverse_radius.
template <typename T>
struct ImplicitSeries {
  T center;
  T inverse_radius;
  T coefficient[25];
};

/// The arrays of one side that have a number per group, and its constants.
template <typename T>
struct SideGroups {
  double length;  // of a direction
  // Proposal n = 1, 2, ... of group i is made from block
  // (n - 1) elements + first_element + i of draw 1 of `acceptance`.
  RandomStream acceptance;
  std::int64_t first_element;
  std::int64_t elements;
  double log_global;  // of the global radius
  RadiusFactors<const T> local;

  // Given to draw().
  const T* concentration;
  const T* norm2;   // |direction|^2
  const T* dot;     // direction . noise
  const T* noise2;  // |noise|^2
  // |noise - its part along direction|^2; found from the other sums unless
  // `residual_known`, which short directions need.
  bool residual_known;
  T* residual2;
  const T* radius_noise;
  const T* exponential;

  // Written by draw(); t is the cosine of the uniform proposal, w the sampled
  // one and x0 the reference point of its distribution.
  T* t;
  T* t_complement;  // 1 - t^2
  T* w;
  T* w_offset;  // w - x0
  T* sine;      // sqrt(1 - w^2)
  T* radius;
  T* slope_a;  // d log(radius) / d log_var_a
  T* slope_b;
  T* noise_scale;
  T* direction_scale;
  std::int32_t* pending;

  // Given to finish(): sums of the backward pass, and x0 - A(concentration).
  T* radial;
  const T* axial;
  const T* x0_excess;
  ImplicitSeries<T> series;
  // Written by finish(): d loss / d log(concentration), and the coefficients of
  // the direction's gradient.
  T* log_concentration_gradient;
  T* loss_scale;
  T* part_scale;
};

/// KL of the factors of radii, with its derivative by the log of the prior's
/// half-Cauchy scale.
struct RadiusKl {
  double value;
  double log_scale;
};

/// Passes over the rows of a matrix.
template <typename T>
struct RdpMatrixTable {
  /// sums = scalar products within each row.
  void (*row_sums)(std::int64_t rows, std::int64_t length, const T* a,
                   const T* b, const PairSums<T>& sums);
  /// sums += scalar products within each position.
  void (*column_sums)(std::int64_t rows, std::int64_t length, const T* a,
                      const T* b, const PairSums<T>& sums);
  /// out = sum (b - ratio * a)^2 within each row.
  void (*row_residuals)(std::int64_t rows, std::int64_t length, const T* a,
                        const T* b, const T* ratio, T* out);
  /// out += the same within each position.
  void (*column_residuals)(std::int64_t rows, std::int64_t length, const T* a,
                           const T* b, const T* ratio, T* out);
  /// weight = product of the parts.
  void (*combine)(std::int64_t rows, std::int64_t length,
                  const SidePart<T>& row, const SidePart<T>& column, T* weight);
  /// The sums over rows (set) and over positions (added to).
  void (*backward_sums)(std::int64_t rows, std::int64_t length,
                        const T* weight_gradient, const SideSums<T>& row,
                        const SideSums<T>& column);
  /// Adds the gradients of the directions.
  void (*backward_directions)(std::int64_t rows, std::int64_t length,
                              const T* weight_gradient, const SideStep<T>& row,
                              const SideStep<T>& column);
};

/// What is done once per group.
/// The half-t prior of a radius, and functions of its degrees of freedom n
/// that need no instruction set: log n and log Gamma(n/2).
struct RadiusPrior {
  double log_scale = 0;
  double degrees_of_freedom = 1;
  double log_degrees = 0;
  double log_gamma_shape = 0;
};

template <typename T>
struct RdpGroupTable {
  /// Samples the cosines and radii of the groups [begin, end). Returns the
  /// first group for which that is impossible, or `end`.
  std::int64_t (*draw)(const SideGroups<T>& side, std::int64_t begin,
                       std::int64_t end);
  /// Turns the sums of the groups [begin, end) into gradients.
  void (*finish)(const SideGroups<T>& side, SlopeRule rule, double loss,
                 std::int64_t begin, std::int64_t end,
                 const RadiusFactors<T>& gradient);
  /// KL of `count` pairs of factors; gradients, if any, are multiplied by
  /// `scale` and added.
  RadiusKl (*radius_kl)(std::int64_t count, const RadiusFactors<const T>& q,
                        const RadiusPrior& prior, double scale,
                        const RadiusFactors<T>& gradient);
};

namespace isa_generic {
extern const RdpMatrixTable<float> rdp_matrix_float;
extern const RdpMatrixTable<double> rdp_matrix_double;
extern const RdpGroupTable<float> rdp_group_float;
extern const RdpGroupTable<double> rdp_group_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const RdpMatrixTable<float> rdp_matrix_float;
extern const RdpMatrixTable<double> rdp_matrix_double;
extern const RdpGroupTable<float> rdp_group_float;
extern const RdpGroupTable<double> rdp_group_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const RdpMatrixTable<float> rdp_matrix_float;
extern const RdpMatrixTable<double> rdp_matrix_double;
extern const RdpGroupTable<float> rdp_group_float;
extern const RdpGroupTable<double> rdp_group_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
