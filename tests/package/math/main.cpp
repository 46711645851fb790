#include <radir/math.h>

#include <cmath>
#include <cstdio>

int main() {
  // I_{1/2}/I_{-1/2} is the hyperbolic tangent.
  const double ratio = radir::math::bessel_ratio(0.5, 1.0);
  std::printf("I_{1/2}(1) / I_{-1/2}(1) = %.17g\n", ratio);
  return std::fabs(ratio - std::tanh(1.0)) < 1e-15 ? 0 : 1;
}
