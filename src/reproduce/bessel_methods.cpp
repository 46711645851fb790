#include "reproduce/bessel_methods.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "radir/math/article.h"
#include "radir/math/bessel.h"
#include "radir/reproduce/bessel_reference.h"

namespace radir::reproduce {
namespace {

using report::Mark;

/// The C++ library's I_nu(z); NaN where it gives up.
double library_bessel_i(double nu, double z) {
  try {
    return std::cyl_bessel_i(nu, z);
  } catch (const std::runtime_error&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// exp(-z) I_nu(z) before it is rounded to double.
long double scaled_bessel_i(double nu, double z) {
  return std::exp(reference_log_bessel_i(nu, z) - static_cast<long double>(z));
}

double library_ratio(double nu, double z) {
  return library_bessel_i(nu, z) / library_bessel_i(nu - 1, z);
}

/// What the best possible routine for the scaled function would give: both
/// values exact up to their rounding to double.
double scaled_ratio(double nu, double z) {
  const long double below = scaled_bessel_i(nu - 1, z);
  const long double at = below * reference_bessel_ratio(nu, z);
  return static_cast<double>(at) / static_cast<double>(below);
}

double library_log(double nu, double z) {
  return std::log(library_bessel_i(nu, z));
}

double scaled_log(double nu, double z) {
  return std::log(static_cast<double>(scaled_bessel_i(nu, z))) + z;
}

}  // namespace

const std::vector<BesselMethod>& ratio_methods() {
  static const std::vector<BesselMethod> methods = {
      {"radir", math::bessel_ratio<double>, Mark::Line, 0},
      {"average of Theorem 5", math::article::ratio_average_theorem5<double>,
       Mark::Dashed, 1},
      {"average of Theorem 4", math::article::ratio_average_theorem4<double>,
       Mark::Dashed, 3},
      {"quotient of e^{−z}I, exact", scaled_ratio, Mark::Points, 4},
      {"quotient of std::cyl_bessel_i", library_ratio, Mark::Points, 5}};
  return methods;
}

const std::vector<BesselMethod>& log_bessel_methods() {
  static const std::vector<BesselMethod> methods = {
      {"radir", math::log_bessel_i<double>, Mark::Line, 0},
      {"sum of log ratios, Theorem 5",
       math::article::log_bessel_i_ratio_sum<double>, Mark::Dashed, 1},
      {"article's two branches", math::article::log_bessel_i_branches<double>,
       Mark::Dashed, 3},
      {"log of e^{−z}I, exact", scaled_log, Mark::Points, 4},
      {"log of std::cyl_bessel_i", library_log, Mark::Points, 5}};
  return methods;
}

}  // namespace radir::reproduce
