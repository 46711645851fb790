#include "bench/boost_bessel.h"

#include <boost/math/special_functions/bessel.hpp>

namespace radir::bench {
namespace {

/// Boost's policies, but results that cannot be represented are returned
/// rather than thrown.
template <bool kPromote>
using Policy = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<
        boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<kPromote>>;

template <bool kPromote>
double ratio(double nu, double z) {
  const Policy<kPromote> policy;
  return boost::math::cyl_bessel_i(nu, z, policy) /
         boost::math::cyl_bessel_i(nu - 1, z, policy);
}

}  // namespace

bool has_boost() { return true; }

double boost_bessel_ratio(double nu, double z, bool in_long_double) {
  return in_long_double ? ratio<true>(nu, z) : ratio<false>(nu, z);
}

}  // namespace radir::bench
