#pragma once

#include <cmath>
#include <cstdint>

#include "radir/math/domain.h"
#include "radir/math/radius.h"
#include "radir/math/vmf.h"

// Double grouping: W_ij = (r_i u_ij)(c_j v_ji), where row i has a radius r_i
// and a direction u_i on the sphere of its length, and column j has c_j and
// v_j. The four factors of one weight are independent; moments of products of
// independent numbers combine without cancellation.

namespace radir::math {
inline namespace RADIR_ISA {

/// Mean and variance of a random number.
template <typename T>
struct Moments {
  T mean, variance;

  /// E[x^2].
  RADIR_HOST_DEVICE T second() const { return variance + mean * mean; }
};

/// Moments of x y, x and y independent:
/// Var = Var[x] E[y^2] + E[x]^2 Var[y], both parts non-negative.
template <typename T>
RADIR_HOST_DEVICE inline Moments<T> product(Moments<T> x, Moments<T> y) {
  return {x.mean * y.mean,
          x.variance * y.second() + x.mean * x.mean * y.variance};
}

/// Moments of a log-normal number; DomainError as lognormal_mean.
template <typename T>
RADIR_HOST_DEVICE inline Moments<T> lognormal_moments(LogNormalLaw<T> law) {
  return {lognormal_mean(law), lognormal_variance(law)};
}

/// Mean A mu and covariance (A/kappa)(I - mu mu^T) + A' mu mu^T of a direction
/// under vMF(mu, kappa), by its three numbers.
template <typename T>
struct DirectionMoments {
  T mean_cosine;      // A
  T across_variance;  // A/kappa, orthogonal to mu
  T along_variance;   // A'

  /// DomainError unless m >= 2 and kappa >= 0.
  RADIR_HOST_DEVICE static DirectionMoments make(T m, T kappa) {
    return {vmf_mean_cosine(m, kappa), vmf_mean_cosine_over_kappa(m, kappa),
            vmf_cosine_variance(m, kappa)};
  }

  /// Moments of the component whose mean direction has the component `mu`.
  RADIR_HOST_DEVICE Moments<T> component(T mu) const {
    return {mean_cosine * mu,
            across_variance * (1 - mu) * (1 + mu) + along_variance * mu * mu};
  }
};

/// Moments of one weight W_ij = (r_i u_ij)(c_j v_ji); `mu` and `nu` are the
/// components of the mean directions that belong to it. E[W^2] is second().
template <typename T>
RADIR_HOST_DEVICE inline Moments<T> double_grouping_weight(
    Moments<T> row_radius, const DirectionMoments<T>& row, T mu,
    Moments<T> column_radius, const DirectionMoments<T>& column, T nu) {
  return product(product(row_radius, row.component(mu)),
                 product(column_radius, column.component(nu)));
}

/// Moments of a pre-activation h = sum_j W_j x_j of one row of length `count`,
/// where the column radii are c_j = l_j g with local l_j and one layer-wide g:
/// h = r g sum_j u_j (l_j v_j x_j). The weights of a row are correlated through
/// r, g and the direction u; with b_j = l_j v_j x_j, independent over j, and
/// beta = E[b],
///   Var[sum u_j b_j] = sum_j E[u_j^2] Var[b_j] + beta^T Cov(u) beta.
/// `mu` is the row's mean direction (a unit vector), nu[j] the component of
/// column j's mean direction that belongs to this row.
template <typename T>
RADIR_HOST_DEVICE inline Moments<T> double_grouping_preactivation(
    Moments<T> row_radius, const DirectionMoments<T>& row, const T* mu,
    const Moments<T>* local_radius, Moments<T> shared_radius,
    const DirectionMoments<T>& column, const T* nu, const T* x,
    std::int64_t count) {
  const auto factor = [=](std::int64_t j) {  // b_j
    const Moments<T> b = product(local_radius[j], column.component(nu[j]));
    return Moments<T>{b.mean * x[j], b.variance * x[j] * x[j]};
  };
  T along = 0;  // mu . beta
  T variance = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const Moments<T> b = factor(j);
    along += mu[j] * b.mean;
    variance += row.component(mu[j]).second() * b.variance;
  }
  T across = 0;  // |beta - mu (mu . beta)|^2
  for (std::int64_t j = 0; j < count; ++j) {
    const T rest = factor(j).mean - mu[j] * along;
    across += rest * rest;
  }
  variance += row.across_variance * across + row.along_variance * along * along;
  const Moments<T> sum = {row.mean_cosine * along, variance};
  return product(product(row_radius, shared_radius), sum);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
