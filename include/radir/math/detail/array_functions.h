#pragma once

#include <limits>
#include <type_traits>

#include "radir/math/bessel.h"
#include "radir/math/constants.h"
#include "radir/math/detail/block.h"
#include "radir/math/detail/branchless.h"
#include "radir/math/gauss_legendre.h"
#include "radir/math/vmf.h"

// Functions of blocks of arguments at one order. The loops have a fixed length
// and neither branch nor call, so that the compiler vectorises them. Each class
// has two versions: for orders from the radius of the expansion on, where
// kTerms terms of it are enough for every argument, and, kTerms = 0, for those
// below, where every argument takes the same steps down. Host code.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// The steps from where the expansion holds for every argument down to an order
/// n < radius. Even, since two are made at a time.
template <typename T>
inline int fixed_steps(T n) {
  const int steps = steps_to_expansion(n, T(0));
  return steps + steps % 2;
}

template <typename T>
using AllTerms = FixedTerms<Expansion<T>::kTerms>;

/// Where the expansion is taken for an order n < radius: at that order for
/// arguments from the radius on, which then need no steps, else above.
template <typename T>
[[gnu::always_inline]] inline DebyePoint<T> fixed_order_top(T n, int steps,
                                                            T z) {
  return {z >= Expansion<T>::kRadius ? n : n + static_cast<T>(steps), z};
}

/// A block of BesselDescent.
template <typename T>
struct BesselDescentBlock {
  Block<T> y_squared, inverse, upper, lower;

  BesselDescent<T> get(int i) const {
    return {y_squared[i], inverse[i], upper[i], lower[i]};
  }
  void set(int i, const BesselDescent<T>& descent) {
    y_squared[i] = descent.y_squared;
    inverse[i] = descent.inverse;
    set_pair(i, descent);
  }
  void set_pair(int i, const BesselDescent<T>& descent) {
    upper[i] = descent.upper;
    lower[i] = descent.lower;
  }
};

/// I_{n+1}/I_n. Measured: 1.9 eps (double), 1.6 eps (float).
template <typename T, int kTerms>
class RatioAtOrder {
 public:
  explicit RatioAtOrder(T n) : n_(n), terms_(n) {}

  void operator()(const Block<T>& z, Block<T>& ratio) const {
    const auto terms = terms_;  // a local copy, which no store can alias
    for (int i = 0; i < kBlock; ++i) {
      const DebyePoint<T> at(n_, z[i]);
      ratio[i] = z[i] * expanded_ratio_over_argument(terms, at);
    }
  }

 private:
  T n_;
  FixedOrderTerms<RatioSeries, kTerms, T> terms_;
};

template <typename T>
class RatioAtOrder<T, 0> {
 public:
  explicit RatioAtOrder(T n) : n_(n), steps_(fixed_steps(n)) {}

  void operator()(const Block<T>& z, Block<T>& ratio) const {
    BesselDescentBlock<T> descents;
    Block<T> expanded;
    for (int i = 0; i < kBlock; ++i) {
      const T top = expanded_ratio_over_argument(
          AllTerms<T>(), fixed_order_top(n_, steps_, z[i]));
      expanded[i] = z[i] * top;
      descents.set(i, start_descent(z[i], top, T(1)));
    }
    for (int step = steps_; step > 0; step -= 2) {
      const T j = n_ + static_cast<T>(step);
      const T next_j = n_ + static_cast<T>(step - 1);
      for (int i = 0; i < kBlock; ++i) {
        BesselDescent<T> descent = descents.get(i);
        descent.step(j);
        descent.step(next_j);
        descents.set_pair(i, descent);
      }
    }
    for (int i = 0; i < kBlock; ++i) {
      const T y = z[i] < 1 ? z[i] : T(1);
      const T descended = y * descents.upper[i] / descents.lower[i];
      ratio[i] = z[i] >= Expansion<T>::kRadius ? expanded[i] : descended;
    }
  }

 private:
  T n_;
  int steps_;
};

/// A' at n = m/2 - 1. Measured: 60 eps (m = 2, kappa near the radius), 11 eps
/// (m >= 10), 3 eps (m >= 100).
template <typename T, int kTerms>
class VarianceAtOrder {
 public:
  explicit VarianceAtOrder(T n) : n_(n), terms_(n) {}

  void operator()(const Block<T>& kappa, Block<T>& variance) const {
    const auto terms = terms_;
    for (int i = 0; i < kBlock; ++i) {
      variance[i] =
          expanded_cosine_variance(terms, DebyePoint<T>(n_, kappa[i]));
    }
  }

 private:
  T n_;
  FixedOrderTerms<VarianceSeries, kTerms, T> terms_;
};

template <typename T>
class VarianceAtOrder<T, 0> {
 public:
  explicit VarianceAtOrder(T n) : n_(n), steps_(fixed_steps(n)) {}

  void operator()(const Block<T>& kappa, Block<T>& variance) const {
    BesselDescentBlock<T> descents;
    Block<T> expanded, product;
    for (int i = 0; i < kBlock; ++i) {
      const DebyePoint<T> top = fixed_order_top(n_, steps_, kappa[i]);
      expanded[i] = expanded_cosine_variance(AllTerms<T>(), top);
      const VarianceDescent<T> descent = start_variance_descent(
          kappa[i], expanded_ratio_over_argument(AllTerms<T>(), top),
          expanded[i]);
      descents.set(i, descent.bessel);
      product[i] = descent.product;
    }
    for (int step = steps_; step > 0; step -= 2) {
      const T j = n_ + static_cast<T>(step);
      const T next_j = n_ + static_cast<T>(step - 1);
      for (int i = 0; i < kBlock; ++i) {
        VarianceDescent<T> descent{descents.get(i), product[i]};
        descent.step(j);
        descent.step(next_j);
        descents.set_pair(i, descent.bessel);
        product[i] = descent.product;
      }
    }
    for (int i = 0; i < kBlock; ++i) {
      const T lower = descents.lower[i];
      const T descended = product[i] / (lower * lower);
      variance[i] = kappa[i] >= Expansion<T>::kRadius ? expanded[i] : descended;
    }
  }

 private:
  T n_;
  int steps_;
};

/// StandardLog without branches or calls.
struct BranchlessLog {
  template <typename T>
  [[gnu::always_inline]] T operator()(T x) const {
    return branchless_log(x);
  }
  /// log(z/y), minus infinity for z = 0. Tiny z are scaled up, so that neither
  /// they nor the quotient are subnormal.
  template <typename T>
  [[gnu::always_inline]] T quotient(T z, T y) const {
    constexpr T kScale = T(0x1p100);
    const bool tiny = z < 1 / kScale;
    const T result = branchless_log((tiny ? z * kScale : z) / y) -
                     (tiny ? T(100 * kLog2) : T(0));
    return z > 0 ? result : -std::numeric_limits<T>::infinity();
  }
};

/// log I_nu, or without nu log z. Measured: 2.9 eps of max(|log I|, p)
/// (double), 3.1 eps (float).
template <BesselLogForm form, typename T, int kTerms>
class LogAtOrder {
 public:
  explicit LogAtOrder(T nu) : nu_(nu), terms_(nu) {}

  void operator()(const Block<T>& z, Block<T>& result) const {
    const auto terms = terms_;
    for (int i = 0; i < kBlock; ++i) {
      const DebyePoint<T> at(nu_, z[i]);
      result[i] = expanded_log_bessel<form>(terms, at, BranchlessLog());
    }
  }

 private:
  T nu_;
  FixedOrderTerms<LogSeries, kTerms, T> terms_;
};

/// Below the radius: the power series in (z/radius)^2, whose coefficients are
/// all positive and computed once.
template <BesselLogForm form, typename T>
class LogAtOrder<form, T, 0> {
 public:
  explicit LogAtOrder(T nu)
      : nu_(nu), constant_(static_cast<T>(-log_gamma(double(nu) + 1))) {
    if constexpr (form == BesselLogForm::Partition) {
      constant_ -= nu * T(kLog2);
    }
    constexpr double kX =
        double(Expansion<T>::kRadius) * Expansion<T>::kRadius / 4;
    double term = kX / (double(nu) + 1);
    double sum = term;
    while (terms_ < kMaxTerms && term > double(kEpsilon<T>) / 8 * sum) {
      coefficients_[terms_++] = static_cast<T>(term);
      const double k = terms_ + 1;
      term *= kX / (k * (double(nu) + k));
      sum += term;
    }
  }

  void operator()(const Block<T>& z, Block<T>& result) const {
    constexpr T kRadius = Expansion<T>::kRadius;
    Block<T> x, series;
    for (int i = 0; i < kBlock; ++i) {
      x[i] = (z[i] / kRadius) * (z[i] / kRadius);
      series[i] = 0;
    }
    for (int k = terms_ - 1; k >= 0; --k) {
      const T coefficient = coefficients_[k];
      for (int i = 0; i < kBlock; ++i) {
        series[i] = x[i] * (coefficient + series[i]);
      }
    }
    const T nu = nu_, constant = constant_;
    for (int i = 0; i < kBlock; ++i) {
      const DebyePoint<T> at(nu, z[i]);
      const T expanded =
          expanded_log_bessel<form>(AllTerms<T>(), at, BranchlessLog());
      T summed = branchless_log1p(series[i]) + constant;
      if constexpr (form == BesselLogForm::Plain) {
        summed += nu > 0 ? nu * BranchlessLog().quotient(z[i], T(2)) : T(0);
      }
      result[i] = z[i] >= kRadius ? expanded : summed;
    }
  }

 private:
  static constexpr int kMaxTerms = 100;
  T nu_;
  T constant_;  // log of I_nu (z/2)^-nu, or z^-nu, at 0
  int terms_ = 0;
  T coefficients_[kMaxTerms];
};

/// log C_m at nu = m/2 - 1.
template <typename T, int kTerms>
class LogNormalizerAtOrder {
 public:
  explicit LogNormalizerAtOrder(T nu)
      : constant_(-2 * (nu + 1) * T(kHalfLog2Pi)), log_partition_(nu) {}

  void operator()(const Block<T>& kappa, Block<T>& result) const {
    log_partition_(kappa, result);
    for (int i = 0; i < kBlock; ++i) result[i] = constant_ - result[i];
  }

 private:
  T constant_;
  LogAtOrder<BesselLogForm::Partition, T, kTerms> log_partition_;
};

/// t - log1p(t) where 1 + t is also known as a quotient.
struct BranchlessPhiOfQuotient {
  [[gnu::always_inline]] double operator()(double t, double quotient) const {
    const double far = t - branchless_log(quotient);
    return t > -0.4 && t < 0.7 ? branchless_phi(t) : far;
  }
};

/// KL of two distributions, in double whatever the arrays hold. Measured: as
/// for one element.
template <int kTerms>
class KlAtOrder {
 public:
  explicit KlAtOrder(double n) : n_(n), ratio_(n), variance_(n) {}

  void operator()(const Block<double>& kappa_q, const Block<double>& kappa_p,
                  const Block<double>& cosine, Block<double>& kl) const {
    divergence(kappa_q, kappa_p, kl);
    Block<double> mean;
    ratio_(kappa_q, mean);
    for (int i = 0; i < kBlock; ++i) {
      kl[i] += kappa_p[i] * (1 - cosine[i]) * mean[i];
    }
  }

 private:
  using Terms =
      std::conditional_t<kTerms == 0, AllTerms<double>, FixedTerms<kTerms>>;

  /// concentration_divergence: close pairs, distant ones, and one by one those
  /// that neither way covers.
  void divergence(const Block<double>& kappa_q, const Block<double>& kappa_p,
                  Block<double>& result) const {
    Block<double> close;
    int distant = 0;
    for (int i = 0; i < kBlock; ++i) {
      const bool is_close =
          are_close_concentrations(n_, kappa_q[i], kappa_p[i]);
      close[i] = is_close ? 1 : 0;
      distant += !is_close;
    }
    if (distant < kBlock) integrate_close(kappa_q, kappa_p, result);
    if (distant == 0) return;
    const double n = n_;
    for (int i = 0; i < kBlock; ++i) {
      const double expanded = expanded_concentration_divergence(
          Terms(), n, kappa_q[i], kappa_p[i], BranchlessPhiOfQuotient());
      result[i] = close[i] > 0 ? result[i] : expanded;
    }
    if constexpr (kTerms == 0) {
      for (int i = 0; i < kBlock; ++i) {
        const Separation how = separation(n_, kappa_q[i], kappa_p[i]);
        if (how == Separation::Close || how == Separation::Expanded) continue;
        result[i] = concentration_divergence(n_, kappa_q[i], kappa_p[i]);
      }
    }
  }

  void integrate_close(const Block<double>& kappa_q,
                       const Block<double>& kappa_p,
                       Block<double>& result) const {
    Block<double> integral = {};
    for (int point = 0; point < 10; ++point) {
      const int half = point / 2;
      const double node = GaussLegendre<10>::node(half);
      const double t = point % 2 == 0 ? node : 1 - node;
      const double weight = GaussLegendre<10>::weight(half) * (1 - t);
      Block<double> kappa, variance;
      for (int i = 0; i < kBlock; ++i) {
        kappa[i] = kappa_q[i] + t * (kappa_p[i] - kappa_q[i]);
      }
      variance_(kappa, variance);
      for (int i = 0; i < kBlock; ++i) integral[i] += weight * variance[i];
    }
    for (int i = 0; i < kBlock; ++i) {
      const double difference = kappa_p[i] - kappa_q[i];
      result[i] = difference * difference * integral[i];
    }
  }

  double n_;
  RatioAtOrder<double, kTerms> ratio_;
  VarianceAtOrder<double, kTerms> variance_;
};

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
