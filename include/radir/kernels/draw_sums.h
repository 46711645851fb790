#pragma once

#include <cstdint>

namespace radir::kernels {

// Sums over many draws of a number, on the best instruction set of this
// processor. Those of different sets differ in the last digits.

/// Chebyshev polynomials that chebyshev_sums takes at most.
constexpr std::int64_t kMostChebyshev = 12;

struct DrawRange {
  double least = 0;
  double most = 0;
  double mean = 0;
};

/// Of `count` > 0 finite numbers.
DrawRange range_of_draws(const double* draws, std::int64_t count);

/// From draws to the interval from -1 to 1: (draw - middle) * factor.
struct ChebyshevPlace {
  const double* draws = nullptr;
  double middle = 0;
  double factor = 0;
  /// Polynomials, from 1 to kMostChebyshev.
  std::int64_t orders = 1;
};

/// sums[l * x.orders + k] = sum_i T_l(y_i) T_k(x_i), T_k being the Chebyshev
/// polynomial of degree k. With y.orders = 1, y.draws is not read.
void chebyshev_sums(const ChebyshevPlace& x, const ChebyshevPlace& y,
                    std::int64_t count, double* sums);

/// Normal distributions with weights.
struct NormalColumns {
  const double* locations = nullptr;
  const double* scales = nullptr;  ///< above 0
  const double* weights = nullptr;
};

/// Sums over normal distributions of the weight times something; relative
/// errors below 1e-14.
struct NormalSums {
  double probability = 0;  ///< of at most a number
  double density = 0;      ///< at the number
  double distance = 0;     ///< the expected one from the number
};
NormalSums normal_sums(const NormalColumns& of, std::int64_t count, double at);

/// The first two of Student's t distributions, by the normal distribution of
/// Wallace's transform of their argument: the probability to its error, the
/// density roughly.
struct StudentSums {
  double probability = 0;
  double density = 0;
};
StudentSums student_sums(const NormalColumns& of, double degrees_of_freedom,
                         std::int64_t count, double at);

/// Over pairs (a_i, b_i) of independent variables.
struct NormalPairSums {
  double weights = 0;   ///< the products of their weights
  double distance = 0;  ///< these times the expected distance
};
NormalPairSums normal_pair_sums(const NormalColumns& a, const NormalColumns& b,
                                std::int64_t count);

}  // namespace radir::kernels
