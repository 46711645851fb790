#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/philox_simd.h"
#include "kernels/rdp_isa.h"
#include "kernels/simd_math.h"
#include "radir/math/gauss_legendre.h"

// von Mises-Fisher cosines, a register at a time: proposals, their acceptance,
// and derivatives with respect to the concentration. The scalar twin, with the
// formulas, is radir/math/vmf_sampling.h.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// The distribution of the cosine w of a von Mises-Fisher direction to its
/// mean, as the sampler of Wood (1994) and Ulrich (1984) sees it: a uniform
/// direction's cosine t, moved to w = (t + x0) / (1 + x0 t), thinned.
template <typename T>
struct CosineLaw {
  using V = Vec<T>;
  T freedom;  // length - 1
  V kappa;
  V s;       // sqrt(4 kappa^2 + freedom^2)
  V x0;      // 2 kappa / (freedom + s)
  V spread;  // 1 - x0^2, without cancellation

  [[gnu::always_inline]] CosineLaw(T length, V concentration)
      : freedom(length - 1), kappa(concentration) {
    const V twice = 2 * kappa;
    s = sqrt(twice * twice + freedom * freedom);
    const V inverse = 1 / (s + freedom);
    x0 = twice * inverse;
    const V complement = freedom * inverse * (1 + freedom / (s + twice));
    spread = complement * (1 + x0);
  }

  /// The least exponential draw that accepts t: freedom * phi(-y) with
  /// y = x0 t / (1 + x0 t) and phi(y) = y - log(1 + y). The difference of the
  /// two terms loses sqrt(length) eps at most.
  [[gnu::always_inline]] V threshold(V t) const {
    const V z = x0 * t;
    return freedom * (log1p(z) - z / (1 + z));
  }
};

/// The lanes of a mask, as an array.
template <typename T>
class LaneFlags {
 public:
  explicit LaneFlags(Mask<T> mask) { store(flags_, mask); }
  bool operator[](std::int64_t lane) const { return flags_[lane] != 0; }

 private:
  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>
      flags_[kLanes<T>];
};

/// Proposals are made of Philox blocks of draw 1: draw 0 of the same stream has
/// the exponential numbers that decide on first proposals.
constexpr std::uint32_t kDraw = 1;

/// Random bits of a proposal, each word a uniform number. The double's upper 32
/// bits are the float's.
template <typename T>
struct ProposalBits;

template <>
struct ProposalBits<double> {
  using Word = std::uint64_t;
  Vec<Word> radius, angle, acceptance;

  [[gnu::always_inline]] ProposalBits(const RandomStream& stream,
                                      Vec<Word> elements) {
    const PhiloxLanes block = philox_lanes(stream, elements, kDraw);
    radius = (block.word[0] & 0xFFFFFFFF) | block.word[1] << 32;
    angle = block.word[2] << 32;
    acceptance = block.word[3] << 32;
  }
};

template <>
struct ProposalBits<float> {
  using Word = std::uint32_t;
  Vec<Word> radius, angle, acceptance;

  [[gnu::always_inline]] ProposalBits(const RandomStream& stream,
                                      Vec<Word> elements) {
    const auto pairs = bit_cast<Vec<std::uint64_t>>(elements);
    const PhiloxLanes even = philox_lanes(stream, pairs, kDraw);
    const PhiloxLanes odd = philox_lanes(stream, pairs >> 32, kDraw);
    radius = interleave(even.word[1], odd.word[1]);
    angle = interleave(even.word[2], odd.word[2]);
    acceptance = interleave(even.word[3], odd.word[3]);
  }
};

/// A fresh proposal: the cosine of a uniform direction with a fixed one, made
/// from two uniform numbers (R. Bailey, Math. Comp. 62 (1994) 779: with
/// R^2 = U^(-2/freedom) - 1, R cos(2 pi V) is a Student variable divided by
/// sqrt(freedom)), and the draw that decides on it.
template <typename T>
struct Proposal {
  Vec<T> t;
  Vec<T> complement;  // 1 - t^2
  Vec<T> exponential;

  [[gnu::always_inline]] Proposal(const ProposalBits<T>& bits, T freedom) {
    const Vec<T> log_radius = log_of_normal(open_unit(bits.radius));
    const Vec<T> student =
        sqrt(expm1(log_radius * (-2 / freedom))) * circle_point(bits.angle).cos;
    complement = 1 / (1 + student * student);
    t = student * sqrt(complement);
    exponential = -log_of_normal(open_unit(bits.acceptance));
  }
};

/// The angle in [0, pi] of given sine >= 0 and cosine: the tangent of an eighth
/// of it is at most 0.2, where the series of atan takes over.
template <typename V>
[[gnu::always_inline]] inline V angle(V sine, V cosine) {
  constexpr int kTerms = sizeof(sine[0]) == 4 ? 5 : 12;
  using T = detail::Scalar<V>;
  const auto obtuse = cosine < 0;
  const V half = sine / (1 + select(obtuse, -cosine, cosine));
  const V quarter = half / (1 + sqrt(1 + half * half));
  const V eighth = quarter / (1 + sqrt(1 + quarter * quarter));
  const V z = eighth * eighth;
  V sum = {};
  for (int k = kTerms - 1; k >= 0; --k) {
    sum = T(1) / static_cast<T>(2 * k + 1) - z * sum;
  }
  const V acute = 8 * eighth * sum;
  return select(obtuse, T(3.14159265358979323846) - acute, acute);
}

/// Accuracy of the implicit derivative by quadrature: points, and where the
/// integrand is cut off, in standard deviations of the angle. Measured over
/// lengths 2 to 29, concentrations 1e-3 to 1e5: relative error at most 5e-5,
/// 4e-6 on average (float), 5e-11 (double).
template <typename T>
struct ImplicitRule;
template <>
struct ImplicitRule<float> {
  static constexpr int kPoints = 10;
  static constexpr float kCut = 8;
};
template <>
struct ImplicitRule<double> {
  static constexpr int kPoints = 24;
  static constexpr double kCut = 13;
};

/// u = (dw/dkappa) / (1 - w^2) at a fixed quantile of w, by quadrature over the
/// angle a from the sampled angle to the nearer end of its distribution:
///   u = 1/sin(theta) int |cos a - A| exp(kappa (cos a - w))
///                        (sin a / sin(theta))^(length-2) da.
/// Every term is positive, and a - theta = d enters through sin(d/2) alone.
template <typename T>
[[gnu::always_inline]] inline Vec<T> implicit_slope(T length, Vec<T> kappa,
                                                    Vec<T> w, Vec<T> sine,
                                                    Vec<T> excess) {
  using V = Vec<T>;
  using Rule = ImplicitRule<T>;
  using Points = math::detail::GaussLegendre<Rule::kPoints>;
  constexpr T kPi = T(3.14159265358979323846);
  const T power = length - 2;
  // 1 / variance of the angle around its mode; a circle has no sine factor.
  const V rate =
      length > 2 ? V(sqrt(4 * kappa * kappa + power * power)) : kappa;
  const V theta = angle(sine, w);
  const auto above = excess >= 0;
  const V range = select(above, theta, kPi - theta);
  const V width = minimum(Rule::kCut / sqrt(rate), range);
  const V step = select(above, -width, width) * (1 / (2 * kPi));
  const V cotangent = w / sine;
  const auto integrand = [&](T node) {
    const auto [sin4, cos4] = sincos_of_quarter(step * node);  // of d / 4
    const V sin2 = 2 * sin4 * cos4;
    const V cos2 = 1 - 2 * sin4 * sin4;
    const V fall = 2 * sin2 * (sine * cos2 + w * sin2);  // w - cos a
    const V ratio = 1 + 2 * sin2 * (cotangent * cos2 - sin2);
    const V exponent = power * log(maximum(ratio, V{})) - kappa * fall;
    const V distance = excess - fall;
    const V weighted = select(distance < 0, -distance, distance) *
                       exp(power > 0 ? exponent : V(-kappa * fall));
    return weighted;
  };
  V sum = {};
  for (int i = 0; i < Rule::kPoints / 2; ++i) {
    const T node = static_cast<T>(Points::node(i));
    const T weight = static_cast<T>(Points::weight(i));
    sum += weight * (integrand(node) + integrand(1 - node));
  }
  return sum * width / sine;
}

/// The same for a distribution shared by many draws, as a polynomial (see
/// math::VmfCosine). Measured error: 3e-7 within five standard deviations of
/// the angle; beyond, the value there.
template <typename T>
[[gnu::always_inline]] inline Vec<T> series_slope(const ImplicitSeries<T>& u,
                                                  Vec<T> w_offset) {
  const Vec<T> one = broadcast(T(1));
  const Vec<T> x = (w_offset - u.center) * u.inverse_radius;
  return detail::polynomial(u.coefficient, minimum(maximum(x, -one), one));
}

/// The closed forms u0 and u1 (with relative error 0.23 / length^2 at worst) of
/// the same, and their corrections c(w).
template <typename T>
struct ClosedForm {
  using V = Vec<T>;
  const CosineLaw<T>& law;
  V w_offset;
  V u0;       // 1 / H
  V share;    // kappa / s
  V bracket;  // N / s^2

  [[gnu::always_inline]] ClosedForm(const CosineLaw<T>& cosine_law, V w,
                                    V offset)
      : law(cosine_law), w_offset(offset) {
    u0 = 1 / (law.kappa * w + (law.freedom + law.s) / 2);
    share = law.kappa / law.s;
    bracket =
        2 * law.x0 + w_offset + law.spread * share * (2 + share * w_offset);
  }

  [[gnu::always_inline]] V slope0() const { return u0; }
  [[gnu::always_inline]] V slope1() const {
    return u0 + law.kappa * u0 * u0 * u0 * bracket;
  }
  /// x0_excess is x0 - A.
  [[gnu::always_inline]] V correction0(V x0_excess, V sine) const {
    const V tilt = sine * u0;
    return x0_excess - law.kappa * tilt * tilt;
  }
  [[gnu::always_inline]] V correction1(V x0_excess, V sine) const {
    const V tilt = sine * u0;
    const V bracket_slope = 1 + law.spread * share * share;
    return x0_excess - law.spread * share / law.s +
           law.kappa * u0 * tilt * tilt *
               (bracket_slope - 3 * law.kappa * u0 * bracket);
  }
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
