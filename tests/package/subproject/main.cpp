#include <radir/core/thread_pool.h>
#include <radir/math.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  // I_{1/2}/I_{-1/2} is the hyperbolic tangent.
  std::vector<double> errors(100);
  radir::ThreadPool(2).run(100, [&](std::int64_t i) {
    const double z = 0.1 * static_cast<double>(i);
    errors[static_cast<std::size_t>(i)] =
        std::fabs(radir::math::bessel_ratio(0.5, z) - std::tanh(z));
  });
  double worst = 0;
  for (const double error : errors) worst = std::fmax(worst, error);
  std::printf("worst error %g\n", worst);
  return worst < 1e-15 ? 0 : 1;
}
