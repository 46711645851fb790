#pragma once

#include <string>
#include <vector>

#include "radir/report/chart.h"

namespace radir::reproduce {

/// A way to evaluate a function of (nu, z), and how the figures draw it.
struct BesselMethod {
  std::string name;
  double (*value)(double nu, double z);
  report::Mark mark;
  int color;
};

/// Ours, the averages of the article's bounds, and the two evaluations one
/// would try first: the quotient of two Bessel functions, plain and scaled by
/// exp(-z). A value a method cannot give is NaN.
const std::vector<BesselMethod>& ratio_methods();

/// The same for log I_nu(z).
const std::vector<BesselMethod>& log_bessel_methods();

}  // namespace radir::reproduce
