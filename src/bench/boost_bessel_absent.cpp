#include "bench/boost_bessel.h"
#include "radir/core/error.h"

namespace radir::bench {

bool has_boost() { return false; }

double boost_bessel_ratio(double, double, bool) {
  ::radir::detail::throw_error<UnsupportedError>(
      "boost_bessel_ratio: radir was built without Boost; install "
      "libboost-math-dev and build it again");
}

}  // namespace radir::bench
