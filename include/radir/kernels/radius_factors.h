#pragma once

namespace radir::kernels {

/// Two log-normal variables a and b, whose square root of the product is a
/// factor of a radius: log a ~ N(loc_a, exp(log_var_a)), and so b.
template <typename P>
struct RadiusFactors {
  P* loc_a = nullptr;
  P* log_var_a = nullptr;
  P* loc_b = nullptr;
  P* log_var_b = nullptr;
};

}  // namespace radir::kernels
