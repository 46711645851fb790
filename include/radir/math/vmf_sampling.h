#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/domain.h"
#include "radir/math/gauss_legendre.h"
#include "radir/math/phi.h"
#include "radir/math/vmf.h"

// Drawing x ~ vMF(mu, kappa) and differentiating the draw.
//
// A draw is x = w mu + sqrt(1 - w^2) xi with xi uniform on the unit sphere
// orthogonal to mu. Its cosine w = mu.x has density proportional to
// exp(kappa w) (1 - w^2)^{(m-3)/2} and comes from Wood's rejection sampler
// (Commun. Stat. Simul. Comput. 23, 1994), rewritten so that nothing cancels:
// with t the first coordinate of a uniform point of the sphere,
//   w = (t + x0)/(1 + x0 t),   x0 = 2 kappa/(m - 1 + s),
//   s = sqrt(4 kappa^2 + (m-1)^2),
// accepted when an Exp(1) draw is at least (m-1) phi(-y), y = x0 t/(1 + x0 t).
//
// As kappa moves, the draw moves along dx/dkappa = u(w)(mu - w x), hence
// dw/dkappa = (1 - w^2) u(w), and for any smooth u and f
//   d/dkappa E[f] = E[f'(w) (1 - w^2) u(w) + f(w) c(w)],
//   c = (1 - w^2) u' + [kappa (1 - w^2) - (m-1) w] u + w - A.
// The reverse-mode products need no more: with xbar the gradient at x,
//   mubar = w xbar - (mu.xbar) x,
//   kappabar = u(w) (mu.xbar - w x.xbar) [+ f c(w)].

namespace radir::math {
inline namespace RADIR_ISA {

/// Which u(w) carries the gradient with respect to kappa. At kappa = 0 all of
/// them are 1/(m-1).
enum class VmfEstimator {
  /// u = 1/s, the proposal held fixed. Unbiased only with f c, a term whose
  /// noise grows with any constant in f.
  Rejection,
  /// u0 = 1/H, H = kappa w + (m-1+s)/2. Without c: relative error about 0.7/m.
  ClosedForm0,
  /// u1 = u0 + kappa N/(H^3 s^2), the next order. Without c: relative error
  /// about 0.23/m^2 at kappa = m (3e-3 at m = 10, 2.6e-4 at 30, 2e-5 at 100).
  ClosedForm1,
  /// The derivative of the quantile of w, for which c = 0.
  Implicit,
};

/// A cosine w, with what would be lost by forming it from a rounded w.
template <typename T>
struct VmfCosineDraw {
  T cosine;        ///< w
  T one_minus;     ///< 1 - w
  T sine_squared;  ///< 1 - w^2

  RADIR_HOST_DEVICE static VmfCosineDraw at(T w) {
    return {w, 1 - w, (1 - w) * (1 + w)};
  }
};

/// A proposed cosine and what it costs: accepted when an Exp(1) draw is >=
/// cost.
template <typename T>
struct VmfProposal {
  VmfCosineDraw<T> draw;
  T cost;
};

namespace detail {

/// Scale of the angle arccos(w) around its mode.
RADIR_HOST_DEVICE inline double vmf_angle_spread(double m, double kappa) {
  return m == 2 ? 1 / std::sqrt(kappa)
                : 1 / std::sqrt(std::hypot(2 * kappa, m - 2));
}

/// u(w) of the implicit estimator by one integral per value. Always in double:
/// in float the exponent would err by m eps.
struct VmfImplicit {
  double m, kappa;
  double one_minus_mean;  // 1 - A
  double spread;          // of the angle

  RADIR_HOST_DEVICE static VmfImplicit make(double m, double kappa) {
    return {m, kappa, one_minus_mean_cosine(m / 2 - 1, kappa),
            vmf_angle_spread(m, kappa)};
  }

  template <int kPoints = 24>
  RADIR_HOST_DEVICE double velocity(double w) const {
    // The ends of the range: u = (1 -+ A)/(m - 1).
    if (w >= 1) return one_minus_mean / (m - 1);
    if (w <= -1) return (2 - one_minus_mean) / (m - 1);
    if (m == 3 && kappa >= 0.01) return velocity_in_three(w);
    return velocity_by_quadrature<kPoints>(w);
  }

  /// m = 3: with d = 1 - w,
  ///   (1 - w^2) u = [d - 2 expm1(kappa d)/expm1(2 kappa)]/kappa.
  /// The bracket loses 1/kappa eps, hence kappa >= 0.01.
  RADIR_HOST_DEVICE double velocity_in_three(double w) const {
    const double d = 1 - w;
    const double ratio = std::exp(-kappa * (1 + w)) * std::expm1(-kappa * d) /
                         std::expm1(-2 * kappa);
    return (d - 2 * ratio) / (kappa * d * (1 + w));
  }

  /// (1 - w^2) u = int_w^1 (t - A) p(t) dt / p(w), or below the mean
  /// int_{-1}^w (A - t) p(t) dt / p(w): on the side taken the integrand is
  /// positive. In the angle a = arccos t, with th = arccos w, it is
  ///   |cos a - A| exp(kappa (cos a - cos th)) (sin a/sin th)^{m-2} sin th da,
  /// cut where the density has fallen by e^-37. Measured error: 1e-12 with 24
  /// points, 4e-7 with 16 (m = 2 .. 1e4).
  template <int kPoints>
  RADIR_HOST_DEVICE double velocity_by_quadrature(double w) const {
    const double half_sine = std::sqrt((1 - w) / 2);    // sin(th/2)
    const double half_cosine = std::sqrt((1 + w) / 2);  // cos(th/2)
    const double angle = 2 * std::atan2(half_sine, half_cosine);
    const double sine = 2 * half_sine * half_cosine;
    const bool above = 1 - w <= one_minus_mean;
    const double direction = above ? -1 : 1;
    const double limit = above ? angle : kPi - angle;

    // The log density at the angle whose half has sine s and cosine c, relative
    // to that at th.
    const auto log_density = [=](double s, double c) {
      return 2 * kappa * (half_sine - s) * (half_sine + s) +
             (m - 2) * std::log(2 * s * c / sine);
    };
    // Where a parabola with the slope found here and the curvature found at the
    // mode has fallen by 45; further out where the tail is heavier than that.
    const double slope =
        std::fmax(direction * (kappa * sine - (m - 2) * w / sine), 0.0);
    double length =
        90 / (slope + std::sqrt(slope * slope + 90 / (spread * spread)));
    while (length < limit) {
      const double end = (angle + direction * length) / 2;
      if (log_density(std::sin(end), std::cos(end)) < -37) break;
      length *= 1.25;
    }
    length = std::fmin(length, limit);
    return length / sine * integrate<kPoints, double>([=](double x) {
             const double half = (angle + direction * length * x) / 2;
             const double s = std::sin(half);
             return std::fabs(one_minus_mean - 2 * s * s) *
                    std::exp(log_density(s, std::cos(half)));
           });
  }
};

/// u(w) of the implicit estimator as a polynomial, made once per (m, kappa).
///
/// u solves (1-w^2) u' + [kappa (1-w^2) - (m-1) w] u = A - w and is the one
/// solution regular at both ends w = +-1, hence entire. With w = c + r x its
/// Taylor coefficients in x satisfy
///   (q/r)(j+1) a_{j+1} + [kappa q - c (2j+m-1)] a_j
///     - r (j+m-2 + 2 kappa c) a_{j-1} - kappa r^2 a_{j-2}
///   = A - c if j = 0, -r if j = 1, 0 otherwise;  q = 1 - c^2,
/// of which they are the minimal solution: found by elimination from a high
/// order down (Olver's algorithm), never by running the recurrence up.
template <typename T>
struct VmfImplicitSeries {
  static constexpr int kDegree = 24;
  T center, radius, inverse_radius;
  T coefficient[kDegree + 1];

  /// Measured error: 1e-7 (m = 2 .. 30, any kappa), 2 eps in float.
  RADIR_HOST_DEVICE static VmfImplicitSeries make(const VmfImplicit& law) {
    const double m = law.m;
    const double kappa = law.kappa;
    const Interval range = Interval::around_mode(law);
    const double r = range.radius;
    const double c = 1 - range.one_minus_center;
    const double q = range.one_minus_center * (1 + c);

    const auto diagonal = [=](int j) {
      return kappa * q - c * (2 * j + m - 1);
    };
    const auto below = [=](int j) { return -r * (j + m - 2 + 2 * kappa * c); };
    // a_j = slope[j] a_{j-1} + slope_before[j] a_{j-2} for j >= 2.
    double slope[kDegree + 2];
    double slope_before[kDegree + 2];
    slope[kDegree + 1] = 0;
    slope_before[kDegree + 1] = 0;
    for (int j = kDegree; j >= 1; --j) {
      const double above = q / r * (j + 1);
      const double inverse = 1 / (diagonal(j) + above * slope[j + 1]);
      slope[j] = -(below(j) + above * slope_before[j + 1]) * inverse;
      // At j = 1 the right-hand side stands in place of a_{-1}.
      slope_before[j] = (j == 1 ? -r : kappa * r * r) * inverse;
    }
    VmfImplicitSeries series;
    series.center = static_cast<T>(c);
    series.radius = static_cast<T>(r);
    series.inverse_radius = static_cast<T>(1 / r);
    double before = 1;  // stands for the right-hand side at j = 1
    double last = (range.one_minus_center - law.one_minus_mean -
                   q / r * slope_before[1]) /
                  (diagonal(0) + q / r * slope[1]);
    series.coefficient[0] = static_cast<T>(last);
    for (int j = 1; j <= kDegree; ++j) {
      const double next = slope[j] * last + slope_before[j] * before;
      before = last;
      last = next;
      series.coefficient[j] = static_cast<T>(next);
    }
    return series;
  }

  /// Whether w lies in the covered range, as far as T tells.
  RADIR_HOST_DEVICE bool covers(T w) const {
    return std::fabs(w - center) <= radius + 4 * kEpsilon<T>;
  }

  /// u(w); beyond the covered range its value at the end.
  RADIR_HOST_DEVICE T velocity(T w) const {
    const T x =
        std::fmin(std::fmax((w - center) * inverse_radius, T(-1)), T(1));
    T sum = coefficient[kDegree];
    for (int j = kDegree - 1; j >= 0; --j) sum = sum * x + coefficient[j];
    return sum;
  }

 private:
  /// The range of w covered: five spreads of the angle on either side of its
  /// mode.
  struct Interval {
    double one_minus_center, radius;

    RADIR_HOST_DEVICE static Interval around_mode(const VmfImplicit& law) {
      const double reach = 5 * law.spread;
      const double twice_kappa = 2 * law.kappa;
      const double rest = law.m - 2;
      const double mode =
          rest == 0
              ? 0
              : 2 * std::atan(std::sqrt(
                        rest / (twice_kappa + std::hypot(twice_kappa, rest))));
      const double near = std::sin(std::fmax(mode - reach, 0.0) / 2);
      const double far = std::sin(std::fmin(mode + reach, kPi) / 2);
      // A little off the middle: at kappa = 0 that would be w = 0, where even
      // and odd orders part and the elimination breaks down.
      return {1.001 * (near * near + far * far), (far - near) * (far + near)};
    }
  };
};

}  // namespace detail

/// The cosine w of a vMF draw in dimension m: what it takes to draw it and to
/// differentiate it, with everything that depends on (m, kappa) alone computed
/// once, in double. Made per layer and step; the members are for inner loops
/// and check nothing.
template <typename T>
struct VmfCosine {
  T dimension_minus_one;  ///< m - 1
  T kappa;
  T inverse_s;        ///< 1/s
  T peak;             ///< x0
  T one_minus_peak;   ///< 1 - x0
  T one_plus_peak;    ///< 1 + x0
  T peak_minus_mean;  ///< x0 - A
  // H = kappa (1 + w) + lowest_h and N/s^2 = n_constant + n_slope w.
  T lowest_h, n_constant, n_slope;
  T constant_correction1;  ///< x0 - kappa (1 - x0^2)/s^2 - A
  detail::VmfImplicit implicit;
  detail::VmfImplicitSeries<T> series;  ///< made only below kClosedFormFrom

  /// From this dimension on the default velocity is the closed form u1, below
  /// it the exact one.
  static constexpr int kClosedFormFrom = 30;

  /// Domain: m >= 2 and kappa >= 0, neither above 1e150 (double) or 1e18
  /// (float), otherwise DomainError.
  RADIR_HOST_DEVICE static VmfCosine make(double m, double kappa) {
    RADIR_MATH_REQUIRE(detail::is_vmf(static_cast<T>(m), static_cast<T>(kappa)),
                       "VmfCosine::make", detail::kVmfDomain, m,
                       ", kappa = ", kappa);
    const double s = std::hypot(2 * kappa, m - 1);
    const double b = (m - 1) / (2 * kappa + s);
    const double x0 = 2 * kappa / (m - 1 + s);
    const double one_minus_x0 = 2 * b / (1 + b);
    const double width = one_minus_x0 * (1 + x0);  // 1 - x0^2
    const double ratio = kappa / s;

    VmfCosine law{};
    law.implicit = detail::VmfImplicit::make(m, kappa);
    const double peak_minus_mean = law.implicit.one_minus_mean - one_minus_x0;
    law.dimension_minus_one = static_cast<T>(m - 1);
    law.kappa = static_cast<T>(kappa);
    law.inverse_s = static_cast<T>(1 / s);
    law.peak = static_cast<T>(x0);
    law.one_minus_peak = static_cast<T>(one_minus_x0);
    law.one_plus_peak = static_cast<T>(1 + x0);
    law.peak_minus_mean = static_cast<T>(peak_minus_mean);
    law.lowest_h = static_cast<T>((m - 1) * (1 + b) / 2);
    law.n_constant = static_cast<T>(x0 + width * ratio * (2 - ratio * x0));
    law.n_slope = static_cast<T>(1 + width * ratio * ratio);
    law.constant_correction1 =
        static_cast<T>(peak_minus_mean - width * ratio / s);
    if (m < kClosedFormFrom) {
      law.series = detail::VmfImplicitSeries<T>::make(law.implicit);
    }
    return law;
  }

  /// The proposal that comes from t, the first coordinate of a uniform point of
  /// the sphere, given with 1 - t and 1 + t.
  RADIR_HOST_DEVICE VmfProposal<T> propose(T t, T one_minus_t,
                                           T one_plus_t) const {
    const T inverse = 1 / (one_minus_peak + peak * one_plus_t);  // 1/(1 + x0 t)
    const T one_minus_w = one_minus_peak * one_minus_t * inverse;
    const T one_plus_w = one_plus_peak * one_plus_t * inverse;
    return {{1 - one_minus_w, one_minus_w, one_minus_w * one_plus_w},
            dimension_minus_one * detail::phi(-peak * t * inverse)};
  }

  RADIR_HOST_DEVICE VmfProposal<T> propose(T t) const {
    return propose(t, 1 - t, 1 + t);
  }

  /// The proposal from a standard normal g and a chi-square draw with m - 1
  /// degrees of freedom: t = g/sqrt(g^2 + chi_square), near which 1 - |t| does
  /// not cancel.
  RADIR_HOST_DEVICE VmfProposal<T> propose(T normal, T chi_square) const {
    const T length = std::sqrt(normal * normal + chi_square);
    const T size = std::fabs(normal);
    const T near = chi_square / (length * (length + size));  // 1 - |t|
    const T far = 1 + size / length;                         // 1 + |t|
    return normal < 0 ? propose(normal / length, far, near)
                      : propose(normal / length, near, far);
  }

  /// Whether a proposal is taken, given an Exp(1) draw.
  RADIR_HOST_DEVICE static bool accepts(const VmfProposal<T>& proposal,
                                        T exponential) {
    return exponential >= proposal.cost;
  }

  /// u(w) of the default estimator, to be used without c: below m = 30 the
  /// implicit one by its series (error 1e-7; by quadrature for the one draw in
  /// a million beyond the series), from there on u1 (error 0.23/m^2).
  RADIR_HOST_DEVICE T velocity(T w) const {
    if (dimension_minus_one >= kClosedFormFrom - 1) return closed_form1(w);
    return series.covers(w) ? series.velocity(w)
                            : velocity(VmfEstimator::Implicit, w);
  }

  /// u(w) of a given estimator, the implicit one by quadrature (1e-12, double).
  RADIR_HOST_DEVICE T velocity(VmfEstimator estimator, T w) const {
    switch (estimator) {
      case VmfEstimator::Rejection:
        return inverse_s;
      case VmfEstimator::ClosedForm0:
        return closed_form0(w);
      case VmfEstimator::ClosedForm1:
        return closed_form1(w);
      case VmfEstimator::Implicit:
        break;
    }
    return static_cast<T>(implicit.velocity(static_cast<double>(w)));
  }

  /// c(w) of a given estimator.
  RADIR_HOST_DEVICE T correction(VmfEstimator estimator,
                                 const VmfCosineDraw<T>& draw) const {
    const T u = closed_form0(draw.cosine);
    switch (estimator) {
      case VmfEstimator::Rejection: {
        const T distance = one_minus_peak - draw.one_minus;  // w - x0
        return peak_minus_mean - kappa * inverse_s * (distance * distance);
      }
      case VmfEstimator::ClosedForm0:
        return peak_minus_mean - kappa * u * u * draw.sine_squared;
      case VmfEstimator::ClosedForm1: {
        const T n = n_constant + n_slope * draw.cosine;
        return constant_correction1 + draw.sine_squared * (kappa * u) *
                                          (u * u) *
                                          (n_slope - 3 * (kappa * u) * n);
      }
      case VmfEstimator::Implicit:
        break;
    }
    return 0;
  }

 private:
  RADIR_HOST_DEVICE T closed_form0(T w) const {
    return 1 / (kappa * (1 + w) + lowest_h);
  }
  RADIR_HOST_DEVICE T closed_form1(T w) const {
    const T u = closed_form0(w);
    return u + u * (kappa * u) * (u * (n_constant + n_slope * w));
  }
};

/// The cosine of a draw in dimension 3 from a uniform number, by inversion of
/// its distribution function; nothing is rejected.
///
/// Domain: 0 <= uniform <= 1 and finite kappa >= 0, otherwise DomainError.
/// Accuracy: 2 eps relative in 1 - w.
template <typename T>
RADIR_HOST_DEVICE inline VmfCosineDraw<T> vmf_cosine_in_three(T uniform,
                                                              T kappa) {
  RADIR_MATH_REQUIRE(
      uniform >= 0 && uniform <= 1 && detail::is_non_negative(kappa),
      "vmf_cosine_in_three: need 0 <= uniform <= 1 and finite kappa >= 0, but "
      "got uniform = ",
      uniform, ", kappa = ", kappa);
  const T rest = 1 - uniform;
  T one_minus = 2 * rest;
  if (kappa > 0) {
    // kappa (1 - w) = -log(uniform + rest e^{-2 kappa}), near 0 by log1p.
    const T excess = rest * std::expm1(-2 * kappa);
    const T scaled = excess > T(-0.5)
                         ? -std::log1p(excess)
                         : -std::log(uniform + rest * std::exp(-2 * kappa));
    one_minus = std::fmin(scaled / kappa, T(2));
  }
  return {1 - one_minus, one_minus, one_minus * (2 - one_minus)};
}

/// The probability that a proposal is accepted,
///   exp(Phi(kappa) - Phi(0) - kappa x0 - ((m-1)/2) log(1 - x0^2)),
/// from 1 at kappa = 0 down to 0.66 (m = 2) or 0.71 (large m).
///
/// Summed as E_t[exp(-(m-1) phi(-y))], since for large m or kappa the terms of
/// the closed form cancel: with t = tanh(x), t has a density proportional to
/// cosh(x)^{1-m} in x, for which the trapezoidal rule converges exponentially.
/// Domain: that of VmfCosine::make. Accuracy: 2e-15.
template <typename T>
RADIR_HOST_DEVICE inline T vmf_acceptance_rate(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_acceptance_rate",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  const auto law = VmfCosine<double>::make(static_cast<double>(m),
                                           static_cast<double>(kappa));
  const double power = law.dimension_minus_one;
  const double step = 0.25 / std::sqrt(power + 2);
  double accepted = 1;  // the term at x = 0
  double proposed = 1;
  for (int i = 1;; ++i) {
    const double x = i * step;
    const double sinh = std::sinh(x);
    const double density = std::exp(-power / 2 * std::log1p(sinh * sinh));
    if (density < 1e-18) break;
    const double far = 2 / (1 + std::exp(-2 * x));  // 1 + tanh x
    const double near = 2 / (1 + std::exp(2 * x));  // 1 - tanh x
    const double t = std::tanh(x);
    accepted += density * (std::exp(-law.propose(t, near, far).cost) +
                           std::exp(-law.propose(-t, far, near).cost));
    proposed += 2 * density;
  }
  return static_cast<T>(accepted / proposed);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
