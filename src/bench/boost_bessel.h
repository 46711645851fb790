#pragma once

// Boost's Bessel functions, for bench_math to compare with. Not needed to build
// the library: without Boost, boost_bessel_absent.cpp takes their place.

namespace radir::bench {

/// Whether Boost was there when this was built.
bool has_boost();

/// I_nu(z) / I_{nu-1}(z), each from boost::math::cyl_bessel_i; infinite or NaN
/// where one of them cannot be represented. Boost computes in long double
/// unless told to stay in double. Throws UnsupportedError without Boost.
double boost_bessel_ratio(double nu, double z, bool in_long_double);

}  // namespace radir::bench
