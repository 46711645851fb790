#include "radir/reproduce/bessel_reference.h"

#include <cmath>
#include <limits>

namespace radir::reproduce {
namespace {

// std::lgamma writes to a global variable.
long double log_gamma(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

}  // namespace

long double reference_bessel_ratio(long double nu, long double z) {
  // Each step from order j+1 to j multiplies the error by r_j^2, and the
  // product over k steps is about exp(-k^2/z) where z is large.
  const auto steps = static_cast<long>(10 + 8 * std::sqrt(z));
  long double order = nu + static_cast<long double>(steps);
  long double ratio =
      z / (order - 0.5L + std::sqrt((order + 0.5L) * (order + 0.5L) + z * z));
  for (long i = steps; i-- > 0;) {
    order = nu + static_cast<long double>(i);
    ratio = 1 / (2 * order / z + ratio);
  }
  return ratio;
}

long double reference_log_bessel_i(long double nu, long double z) {
  // Terms t_k = (z/2)^{2k+nu} / (k! Gamma(k+nu+1)); t_k/t_{k-1} crosses 1 where
  // k(k+nu) = z^2/4.
  const long double quarter = z * z / 4;
  const long double peak =
      std::floor(2 * quarter / (nu + std::sqrt(nu * nu + z * z)));
  const long double negligible = std::numeric_limits<long double>::epsilon();
  long double others = 0;  // terms beside the largest, as multiples of it
  for (long double k = peak + 1, term = 1; term > negligible; ++k) {
    term *= quarter / (k * (k + nu));
    others += term;
  }
  for (long double k = peak, term = 1; k > 0 && term > negligible; --k) {
    term *= k * (k + nu) / quarter;
    others += term;
  }
  return (2 * peak + nu) * std::log(z / 2) - log_gamma(peak + 1) -
         log_gamma(peak + nu + 1) + std::log1p(others);
}

}  // namespace radir::reproduce
