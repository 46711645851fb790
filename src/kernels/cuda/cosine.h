#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_random.h"
#include "radir/core/config.h"
#include "radir/kernels/philox.h"
#include "radir/math/gauss_legendre.h"

// von Mises-Fisher cosines, one at a time: what kernels/vmf_lanes.h does for a
// register of them, with the same proposals. The formulas are those of
// radir/math/vmf_sampling.h.

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace single {

/// Proposals per cosine. Each is accepted with probability 0.65 or more, so
/// that one cosine in 10^29 finds none: a step that draws 10^6 of them fails
/// with probability 10^-23.
constexpr int kMaxProposals = 64;

/// The distribution of a cosine as the sampler of Wood and Ulrich sees it.
template <typename T>
struct CosineLaw {
  T freedom;  // length - 1
  T kappa;
  T s;       // sqrt(4 kappa^2 + freedom^2)
  T x0;      // 2 kappa / (freedom + s)
  T spread;  // 1 - x0^2, without cancellation

  RADIR_HOST_DEVICE CosineLaw(T length, T concentration)
      : freedom(length - 1), kappa(concentration) {
    const T twice = 2 * kappa;
    s = std::sqrt(twice * twice + freedom * freedom);
    const T inverse = 1 / (s + freedom);
    x0 = twice * inverse;
    const T complement = freedom * inverse * (1 + freedom / (s + twice));
    spread = complement * (1 + x0);
  }

  /// The least exponential draw that accepts t.
  RADIR_HOST_DEVICE T threshold(T t) const {
    const T z = x0 * t;
    return freedom * (std::log1p(z) - z / (1 + z));
  }
};

/// The cosine t of a uniform direction that became a draw.
template <typename T>
struct AcceptedCosine {
  T t;
  T complement;  // 1 - t^2
  bool accepted;
};

/// Random bits of a proposal. The double's upper 32 bits are the float's.
RADIR_HOST_DEVICE inline void proposal_words(const PhiloxBlock& block, float,
                                             std::uint32_t (&words)[3]) {
  for (int k = 0; k < 3; ++k) words[k] = block.word[k + 1];
}
RADIR_HOST_DEVICE inline void proposal_words(const PhiloxBlock& block, double,
                                             std::uint64_t (&words)[3]) {
  words[0] = exact::join(block.word[0], block.word[1]);
  words[1] = exact::join(0, block.word[2]);
  words[2] = exact::join(0, block.word[3]);
}

/// The first accepted of the proposals from `first` on, a given one (the cosine
/// of the noise itself). Proposal n = 1, 2, ... is made from block
/// element + (n - 1) elements of draw 1 of the stream.
template <typename T>
RADIR_HOST_DEVICE inline AcceptedCosine<T> accepted_cosine(
    const CosineLaw<T>& law, AcceptedCosine<T> first, T exponential,
    const RandomStream& stream, std::uint32_t element, std::uint32_t elements) {
  AcceptedCosine<T> found = first;
  found.accepted = exponential >= law.threshold(found.t);
  RADIR_NOT_UNROLLED
  for (int n = 1; n < kMaxProposals && !found.accepted; ++n) {
    typename exact::Bits<T>::Word words[3];
    proposal_words(exact::block_of(stream, element, 1), T(), words);
    const T log_radius = exact::log_of_normal(exact::unit(words[0]));
    const T student = std::sqrt(std::expm1(log_radius * (-2 / law.freedom))) *
                      exact::circle_point(words[1]).cos;
    found.complement = 1 / (1 + student * student);
    found.t = student * std::sqrt(found.complement);
    found.accepted = exact::exponential(words[2]) >= law.threshold(found.t);
    element += elements;
  }
  return found;
}

/// u1(w), the closed form of the slope in the concentration.
template <typename T>
RADIR_HOST_DEVICE inline T closed_form_slope(const CosineLaw<T>& law, T w,
                                             T w_offset) {
  const T u0 = 1 / (law.kappa * w + (law.freedom + law.s) / 2);
  const T share = law.kappa / law.s;
  const T bracket =
      2 * law.x0 + w_offset + law.spread * share * (2 + share * w_offset);
  return u0 + law.kappa * u0 * u0 * u0 * bracket;
}

/// Points, and where the integrand is cut off, in standard deviations of the
/// angle: those of the CPU.
template <typename T>
struct SlopeRule;
template <>
struct SlopeRule<float> {
  static constexpr int kPoints = 10;
  static constexpr float kCut = 8;
};
template <>
struct SlopeRule<double> {
  static constexpr int kPoints = 24;
  static constexpr double kCut = 13;
};

/// The width of the quadrature around the angle of a cosine; `excess` is w - A.
template <typename T>
RADIR_HOST_DEVICE inline T quadrature_width(T length, T kappa, T w, T sine,
                                            T excess) {
  constexpr T kPi = T(3.14159265358979323846);
  const T power = length - 2;
  const T rate =
      length > 2 ? std::sqrt(4 * kappa * kappa + power * power) : kappa;
  const T theta = std::atan2(sine, w);
  const T range = excess >= 0 ? theta : kPi - theta;
  const T cut = SlopeRule<T>::kCut / std::sqrt(rate);
  return cut < range ? cut : range;
}

/// The implicit slope by quadrature: the sum of its terms is u(w).
template <typename T>
struct SlopeQuadrature {
  T power;  // length - 2
  T kappa;
  T w;
  T sine;
  T excess;
  T width;

  RADIR_HOST_DEVICE T term(int point) const {
    using Points = math::detail::GaussLegendre<SlopeRule<T>::kPoints>;
    const bool upper = point >= SlopeRule<T>::kPoints / 2;
    const int i = upper ? point - SlopeRule<T>::kPoints / 2 : point;
    const T lower_node = static_cast<T>(Points::node(i));
    const T node = upper ? 1 - lower_node : lower_node;
    constexpr T kPi = T(3.14159265358979323846);
    const T step = (excess >= 0 ? -width : width) * (1 / (2 * kPi));
    const auto quarter = exact::sincos_of_quarter(step * node);  // of d / 4
    const T sin2 = 2 * quarter.sin * quarter.cos;
    const T cos2 = 1 - 2 * quarter.sin * quarter.sin;
    const T fall = 2 * sin2 * (sine * cos2 + w * sin2);  // w - cos a
    const T ratio = 1 + 2 * sin2 * (w / sine * cos2 - sin2);
    T exponent = -kappa * fall;
    if (power > 0) exponent += power * std::log(ratio > 0 ? ratio : T(0));
    return static_cast<T>(Points::weight(i)) * std::fabs(excess - fall) *
           std::exp(exponent) * width / sine;
  }
};

}  // namespace single
}  // namespace RADIR_ISA
}  // namespace radir::kernels
