#pragma once

#include <cmath>

#include "radir/math/bessel.h"
#include "radir/math/constants.h"
#include "radir/math/domain.h"
#include "radir/math/gauss_legendre.h"
#include "radir/math/phi.h"

// The von Mises-Fisher distribution on the unit sphere of R^m: density
// C_m(kappa) exp(kappa mu.x). With n = m/2 - 1 everything follows from
// Phi(kappa) = log(I_n(kappa) kappa^-n), convex: Phi' = A is the mean of the
// cosine mu.x, Phi'' = A' its variance, Phi''' = A'' its third central moment.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

template <typename T>
RADIR_HOST_DEVICE inline bool is_vmf(T m, T kappa) {
  return m >= 2 && is_bessel_argument(m) && is_bessel_argument(kappa);
}

/// What `is_vmf` asks for, in words.
constexpr char kVmfDomain[] =
    ": needs a dimension m >= 2 and a concentration kappa >= 0, neither above "
    "1e150 (double) or 1e18 (float); a raw parameter goes through softplus "
    "first. Got m = ";

/// A' by the expansion: all of it is of the size of the result.
template <typename Terms, typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline T expanded_cosine_variance(
    const Terms& terms, const DebyePoint<T>& at) {
  return at.inverse_p *
         (at.n / (at.p + at.n) + terms.template sum<VarianceSeries>(at));
}

/// A/kappa at n >= 0.
template <typename T>
RADIR_HOST_DEVICE inline T mean_cosine_over_kappa(T n, T kappa) {
  const BesselDescent<T> pair = bessel_pair(n, kappa);
  return pair.inverse * pair.upper / pair.lower;
}

/// Start of the descents that square: keeps the squares of float in range.
template <typename T>
constexpr T kDescentScale = sizeof(T) == sizeof(double)
                                ? T(1)
                                : T(2.220446049250313e-16);  // 2^-52

/// A'_j I_j^2 at orders j going down: V_{j-1} = (2j/z^2) I_j^2 - V_j, where at
/// most half of the first term goes. Scaled as BesselDescent is.
template <typename T>
struct VarianceDescent {
  BesselDescent<T> bessel;
  T product;

  [[gnu::always_inline]] RADIR_HOST_DEVICE void step(T j) {
    const T scaled = bessel.inverse * bessel.lower;
    product = 2 * j * (scaled * scaled) - bessel.y_squared * product;
    bessel.step(j);
  }
};

/// Starts at an order where A/z and A' are known.
template <typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline VarianceDescent<T>
start_variance_descent(T z, T ratio_over_argument, T variance) {
  constexpr T kScale = kDescentScale<T>;
  return {start_descent(z, ratio_over_argument, kScale),
          variance * (kScale * kScale)};
}

/// A' at n = m/2 - 1 >= 0.
template <typename T>
RADIR_HOST_DEVICE inline T cosine_variance(T n, T kappa) {
  // p >= radius: the expansion. Elsewhere: from order n + steps down. The
  // identity 1 - A^2 - (m-1)A/kappa would lose all digits. Measured: 70 eps
  // (m = 2), 7 eps (m >= 10).
  const int steps = steps_to_expansion(n, kappa);
  const DebyePoint<T> top(n + static_cast<T>(steps), kappa);
  const T variance = expanded_cosine_variance(TermsByRadius(), top);
  if (steps == 0) return variance;
  VarianceDescent<T> descent = start_variance_descent(
      kappa, expanded_ratio_over_argument(TermsByRadius(), top), variance);
  for (int i = steps; i > 0; --i) descent.step(n + static_cast<T>(i));
  return descent.product / (descent.bessel.lower * descent.bessel.lower);
}

/// 1 - A at n >= 0.
template <typename T>
RADIR_HOST_DEVICE inline T one_minus_mean_cosine(T n, T kappa) {
  // kappa < 1: A < 1/2, nothing cancels.
  if (kappa < 1) return 1 - bessel_ratio_up(n, kappa);
  // p >= radius: the expansion with 1 - z/(p+n) taken apart.
  const int steps = steps_to_expansion(n, kappa);
  const DebyePoint<T> top(n + static_cast<T>(steps), kappa);
  const T order = top.n;
  T difference = (order + order * order / (top.p + kappa)) / (top.p + order) -
                 kappa * top.inverse_p * TermsByRadius().sum<RatioSeries>(top);
  if (steps == 0) return difference;
  // Elsewhere: the difference I_j - I_{j+1} at orders going down,
  // (2j/z) I_j less itself, where at most half of the first term goes.
  BesselDescent<T> descent = start_descent(
      kappa, expanded_ratio_over_argument(TermsByRadius(), top), T(1));
  for (int i = steps; i > 0; --i) {
    const T j = n + static_cast<T>(i);
    difference = 2 * j * descent.inverse * descent.lower - difference;
    descent.step(j);
  }
  return difference / descent.lower;
}

/// A'' at n >= 0.
template <typename T>
RADIR_HOST_DEVICE inline T cosine_variance_slope(T n, T kappa) {
  // p >= radius: the expansion.
  const int steps = steps_to_expansion(n, kappa);
  const DebyePoint<T> top(n + static_cast<T>(steps), kappa);
  const T y = top.inverse_p;
  const T sum = top.n + top.p;
  T e = -y * y * y *  // A''/kappa
        (top.n * (top.p + sum) / (sum * sum) +
         TermsByRadius().sum<VarianceSlopeSeries>(top));
  if (steps == 0) return kappa * e;
  // Elsewhere: the recurrence g+ = 1/(2j + z^2 g) of g = A/z, differentiated
  // twice: h = g'/z, d = A', e = A''/z, all even in z.
  const T z2 = kappa * kappa;
  T g = expanded_ratio_over_argument(TermsByRadius(), top);
  T d = expanded_cosine_variance(TermsByRadius(), top);
  T h = y * y * y * TermsByRadius().sum<RatioOverArgumentSlopeSeries>(top) -
        y / (sum * sum);
  for (int i = steps; i > 0; --i) {
    const T twice_j = 2 * (n + static_cast<T>(i));
    const T next_g = 1 / (twice_j + z2 * g);
    const T square = next_g * next_g;
    const T next_h = -square * (2 * g + z2 * h);
    const T b = twice_j - z2 * d;
    e = 2 * next_g * next_h * b - square * (2 * d + z2 * e);
    d = square * b;
    g = next_g;
    h = next_h;
  }
  return kappa * e;
}

/// The distance from kappa to the nearest singularity of A' in the complex
/// plane, or a little less: a zero of I_n.
RADIR_HOST_DEVICE inline double concentration_scale(double n, double kappa) {
  return std::sqrt((n + 2) * (n + 2) + kappa * kappa);
}

/// Two concentrations so close that ten points integrate A' between them to
/// machine precision.
RADIR_HOST_DEVICE inline bool are_close_concentrations(double n, double kappa_q,
                                                       double kappa_p) {
  const double smaller = kappa_q < kappa_p ? kappa_q : kappa_p;
  return 2 * std::fabs(kappa_p - kappa_q) <= concentration_scale(n, smaller);
}

/// What separates two concentrations, and so how to compare their
/// distributions.
enum class Separation {
  Close,     ///< integrate A' between them with ten points
  Expanded,  ///< p of both >= radius: the expansion
  Moderate,  ///< small m and kappa, within a factor of four: 24 points
  Wide       ///< small m and kappa, further apart: differences
};

RADIR_HOST_DEVICE inline Separation separation(double n, double kappa_q,
                                               double kappa_p) {
  if (are_close_concentrations(n, kappa_q, kappa_p)) return Separation::Close;
  if (steps_to_expansion(n, kappa_q) == 0 &&
      steps_to_expansion(n, kappa_p) == 0) {
    return Separation::Expanded;
  }
  const double scale_q = concentration_scale(n, kappa_q);
  const double scale_p = concentration_scale(n, kappa_p);
  return scale_q <= 4 * scale_p && scale_p <= 4 * scale_q ? Separation::Moderate
                                                          : Separation::Wide;
}

/// D(kq, kp) as difference^2 times the integral of (1-t) A'(kq + t difference)
/// over [0, 1]; all terms are positive.
template <int kPoints>
RADIR_HOST_DEVICE inline double integrated_concentration_divergence(
    double n, double kappa_q, double kappa_p) {
  const double difference = kappa_p - kappa_q;
  return difference * difference * integrate<kPoints, double>([&](double t) {
           return (1 - t) * cosine_variance(n, kappa_q + t * difference);
         });
}

/// A(kp) - A(kq) as the integral of A'.
template <int kPoints>
RADIR_HOST_DEVICE inline double integrated_mean_difference(double n,
                                                           double kappa_q,
                                                           double kappa_p) {
  const double difference = kappa_p - kappa_q;
  return difference * integrate<kPoints, double>([&](double t) {
           return cosine_variance(n, kappa_q + t * difference);
         });
}

/// t - log1p(t) where 1 + t is also known as a quotient.
struct PhiOfQuotient {
  RADIR_HOST_DEVICE double operator()(double t, double quotient) const {
    return t > -0.4 ? phi(t) : t - std::log(quotient);
  }
};

/// D(kq, kp) by the expansion of Phi, its differences taken by hand; p of both
/// concentrations >= radius, and they are not close.
template <typename Terms, typename Phi>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline double
expanded_concentration_divergence(const Terms& terms, double n, double kappa_q,
                                  double kappa_p, Phi phi_of_quotient) {
  const DebyePoint<double> q(n, kappa_q);
  const DebyePoint<double> p(n, kappa_p);
  const double difference = kappa_p - kappa_q;
  const double sum = p.p + q.p;
  const double u = difference * ((kappa_p + kappa_q) / sum);  // p.p - q.p
  const double n_share = n / sum;
  const double e =  // difference^2 - u^2
      difference * difference * (n_share * n_share) *
      (2 + 2 * (n * n + kappa_p * kappa_p + kappa_q * kappa_q) /
               (p.p * q.p + kappa_p * kappa_q));
  const double tail_slope =
      kappa_q * q.inverse_p *
      (terms.template sum<RatioSeries>(q) + 0.5 * q.inverse_p);
  return n * phi_of_quotient(u / (n + q.p), (n + p.p) / (n + q.p)) +
         phi_of_quotient(u / q.p, p.p / q.p) / 2 +
         e * (0.5 / (n + q.p) - 0.25 * q.inverse_p * q.inverse_p) +
         (terms.template sum<LogSeries>(p) - terms.template sum<LogSeries>(q) -
          difference * tail_slope);
}

/// D(kq, kp) = Phi(kp) - Phi(kq) - (kp - kq) A(kq) >= 0, the divergence of two
/// distributions with the same mean direction; n >= 0.
RADIR_HOST_DEVICE inline double concentration_divergence(double n,
                                                         double kappa_q,
                                                         double kappa_p) {
  switch (separation(n, kappa_q, kappa_p)) {
    case Separation::Close:  // measured: 22 eps, 3 eps for m >= 150
      return integrated_concentration_divergence<10>(n, kappa_q, kappa_p);
    case Separation::Expanded:  // measured: 14 eps, 9 eps for m >= 150
      return expanded_concentration_divergence(TermsByRadius(), n, kappa_q,
                                               kappa_p, PhiOfQuotient());
    case Separation::Moderate:  // measured: 10 eps
      return integrated_concentration_divergence<24>(n, kappa_q, kappa_p);
    case Separation::Wide:
      break;
  }
  // Functions that are no larger than the result. Measured: 38 eps.
  constexpr auto kForm = BesselLogForm::ScaledPartition;
  return log_bessel<kForm>(n, kappa_p) - log_bessel<kForm>(n, kappa_q) +
         (kappa_p - kappa_q) * one_minus_mean_cosine(n, kappa_q);
}

/// KL of two distributions, n >= 0: a sum of two parts that are not negative.
RADIR_HOST_DEVICE inline double vmf_kl(double n, double kappa_q, double kappa_p,
                                       double cosine) {
  return concentration_divergence(n, kappa_q, kappa_p) +
         kappa_p * (1 - cosine) * bessel_ratio_up(n, kappa_q);
}

/// A(kp) - A(kq), n >= 0.
RADIR_HOST_DEVICE inline double mean_cosine_difference(double n, double kappa_q,
                                                       double kappa_p) {
  switch (separation(n, kappa_q, kappa_p)) {
    case Separation::Close:
      return integrated_mean_difference<10>(n, kappa_q, kappa_p);
    case Separation::Moderate:
      return integrated_mean_difference<24>(n, kappa_q, kappa_p);
    case Separation::Expanded:
    case Separation::Wide:
      break;
  }
  // Of A or of 1 - A, whichever is smaller.
  const double mean_q = bessel_ratio_up(n, kappa_q);
  return mean_q > 0.5 ? one_minus_mean_cosine(n, kappa_q) -
                            one_minus_mean_cosine(n, kappa_p)
                      : bessel_ratio_up(n, kappa_p) - mean_q;
}

}  // namespace detail

// Every function of (m, kappa) below has the domain m >= 2, kappa >= 0, neither
// above 1e150 (double) or 1e18 (float), and throws DomainError outside it.

/// A_m(kappa) = E[mu.x] = I_{m/2}(kappa)/I_{m/2-1}(kappa), from 0 to 1.
/// Accuracy: 2 eps.
template <typename T>
RADIR_HOST_DEVICE inline T vmf_mean_cosine(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_mean_cosine",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  return detail::bessel_ratio_up(m / 2 - 1, kappa);
}

/// 1 - A_m(kappa), accurate also where A is nearly 1. Accuracy: 40
/// eps (m = 2, kappa near 30), 6 eps (m >= 10).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_one_minus_mean_cosine(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_one_minus_mean_cosine",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  return detail::one_minus_mean_cosine(m / 2 - 1, kappa);
}

/// A_m(kappa)/kappa, 1/m at kappa = 0. Accuracy: 3 eps.
template <typename T>
RADIR_HOST_DEVICE inline T vmf_mean_cosine_over_kappa(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_mean_cosine_over_kappa",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  return detail::mean_cosine_over_kappa(m / 2 - 1, kappa);
}

/// A'_m(kappa) = Var[mu.x] > 0. Accuracy: 70 eps (m = 2,
/// kappa near 30), 7 eps (m >= 10).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_cosine_variance(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_cosine_variance",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  return detail::cosine_variance(m / 2 - 1, kappa);
}

/// A''_m(kappa) = E[(mu.x - A)^3] <= 0. Accuracy: 70 eps
/// (m = 2, kappa near 30), 8 eps (m >= 10).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_cosine_variance_derivative(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_cosine_variance_derivative",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  return detail::cosine_variance_slope(m / 2 - 1, kappa);
}

/// Phi(kappa) = log(I_{m/2-1}(kappa) kappa^{1-m/2}), finite at kappa = 0.
/// Accuracy: 4 eps of max(|Phi|, hypot(m/2, kappa)).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_log_partition(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_log_partition",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  constexpr auto kForm = detail::BesselLogForm::Partition;
  return detail::log_bessel<kForm>(m / 2 - 1, kappa);
}

/// log C_m(kappa) = -(m/2) log(2 pi) - Phi(kappa), the log of the density's
/// normaliser. Accuracy: 4 eps of max(|log C|, hypot(m/2, kappa)).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_log_normalizer(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_log_normalizer",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  constexpr auto kForm = detail::BesselLogForm::Partition;
  return -m * T(detail::kHalfLog2Pi) -
         detail::log_bessel<kForm>(m / 2 - 1, kappa);
}

/// Differential entropy -log C_m(kappa) - kappa A_m(kappa) with respect to the
/// surface measure. Accuracy: 4 eps of max(|entropy|, m).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_entropy(T m, T kappa) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa), "vmf_entropy",
                     detail::kVmfDomain, m, ", kappa = ", kappa);
  constexpr auto kForm = detail::BesselLogForm::ScaledPartition;
  const T n = m / 2 - 1;
  return m * T(detail::kHalfLog2Pi) + detail::log_bessel<kForm>(n, kappa) +
         kappa * detail::one_minus_mean_cosine(n, kappa);
}

/// KL(vMF(mu_q, kappa_q) || vMF(mu_p, kappa_p)) >= 0 in dimension m, where
/// `cosine` is mu_q.mu_p: D(kappa_q, kappa_p) + kappa_p (1 - cosine) A(kappa_q)
/// with D = Phi(kappa_p) - Phi(kappa_q) - (kappa_p - kappa_q) A(kappa_q).
///
/// cosine = 1 gives the location-agnostic prior, kappa_p = 0 the uniform one.
/// Domain: as above, and -1 <= cosine <= 1. Computed in double, rounded once to
/// T. Accuracy: 38 eps, 9 eps for m >= 150 (double); half an eps (float).
template <typename T>
RADIR_HOST_DEVICE inline T vmf_kl(T m, T kappa_q, T kappa_p, T cosine) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa_q) && detail::is_vmf(m, kappa_p),
                     "vmf_kl", detail::kVmfDomain, m, ", kappa_q = ", kappa_q,
                     ", kappa_p = ", kappa_p);
  RADIR_MATH_REQUIRE(cosine >= -1 && cosine <= 1,
                     "vmf_kl: the cosine must be in [-1, 1], but got ", cosine);
  return static_cast<T>(
      detail::vmf_kl(static_cast<double>(m) / 2 - 1, kappa_q, kappa_p, cosine));
}

/// Partial derivatives of vmf_kl.
template <typename T>
struct VmfKlGradient {
  T kappa_q;  ///< (kappa_q - kappa_p cosine) A'(kappa_q)
  T kappa_p;  ///< A(kappa_p) - cosine A(kappa_q)
  T cosine;   ///< -kappa_p A(kappa_q)
};

/// The derivatives of vmf_kl with respect to both concentrations and to the
/// cosine; domain as for vmf_kl. The gradient with respect to mu_q is
/// `cosine` times mu_p, and the reverse. Computed in double, rounded once to T.
/// Accuracy: that of A' for kappa_q, 32 eps for kappa_p (double, at cosine =
/// 1), 2 eps for the cosine; half an eps (float).
template <typename T>
RADIR_HOST_DEVICE inline VmfKlGradient<T> vmf_kl_gradient(T m, T kappa_q,
                                                          T kappa_p, T cosine) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, kappa_q) && detail::is_vmf(m, kappa_p),
                     "vmf_kl_gradient", detail::kVmfDomain, m,
                     ", kappa_q = ", kappa_q, ", kappa_p = ", kappa_p);
  RADIR_MATH_REQUIRE(cosine >= -1 && cosine <= 1,
                     "vmf_kl_gradient: the cosine must be in [-1, 1], but got ",
                     cosine);
  const double n = static_cast<double>(m) / 2 - 1;
  const double k_q = kappa_q, k_p = kappa_p, c = cosine;
  const double mean_q = detail::bessel_ratio_up(n, k_q);
  VmfKlGradient<T> gradient;
  // One rounding, also where the two terms nearly cancel.
  gradient.kappa_q =
      static_cast<T>(std::fma(-k_p, c, k_q) * detail::cosine_variance(n, k_q));
  gradient.kappa_p = static_cast<T>(
      c > 0.5 ? detail::mean_cosine_difference(n, k_q, k_p) + (1 - c) * mean_q
              : detail::bessel_ratio_up(n, k_p) - c * mean_q);
  gradient.cosine = static_cast<T>(-k_p * mean_q);
  return gradient;
}

/// The concentration at which the density of the cosine to the mean direction
/// peaks at 1 - tolerance: (max(4, m) - 3)(1 - tolerance) /
/// (1 - (1 - tolerance)^2). The way prior concentrations are chosen; below m =
/// 4 that density has no such peak and the value of m = 4 is taken.
///
/// Domain: m >= 2 and 0 < tolerance <= 1, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T vmf_concentration_for_cosine(T m, T tolerance) {
  RADIR_MATH_REQUIRE(detail::is_vmf(m, T(0)),
                     "vmf_concentration_for_cosine: the dimension m must be in "
                     "[2, ",
                     detail::kMaxBesselArgument<T>, "], but got ", m);
  RADIR_MATH_REQUIRE(tolerance > 0 && tolerance <= 1,
                     "vmf_concentration_for_cosine: the tolerance must be in "
                     "(0, 1], but got ",
                     tolerance);
  const T dimension = m > 4 ? m : T(4);
  return (dimension - 3) * (1 - tolerance) / (tolerance * (2 - tolerance));
}

}  // namespace RADIR_ISA
}  // namespace radir::math
