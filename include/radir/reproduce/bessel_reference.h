#pragma once

namespace radir::reproduce {

// Bessel functions in long double by formulas other than those of radir/math,
// slow and simple, for the figures to measure errors against.

/// I_nu(z)/I_{nu-1}(z) by the continued fraction, run backwards from an order
/// where it no longer matters. nu >= 1/2, z > 0.
long double reference_bessel_ratio(long double nu, long double z);

/// log I_nu(z) by its power series, summed outwards from the largest term.
/// nu >= 0, z > 0.
long double reference_log_bessel_i(long double nu, long double z);

}  // namespace radir::reproduce
