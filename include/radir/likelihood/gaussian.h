#pragma once

namespace radir::likelihood {

/// Gamma posterior of the precision of the Gaussian likelihood.
struct Precision {
  double shape = 1;
  double rate = 1;
};

/// From the own parameters of the likelihood: log shape, log rate.
Precision precision_of(const double* own);

}  // namespace radir::likelihood
