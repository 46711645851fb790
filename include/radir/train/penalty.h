#pragma once

#include <cstdint>
#include <vector>

#include "radir/kernels/philox.h"

namespace radir::train {

/// A price that depends on parameters of several layers, such as on what a
/// network costs. It is added to the divergences: in nats, over all examples.
class Penalty {
 public:
  virtual ~Penalty() = default;

  /// The parameters it depends on: indices in the flat buffer.
  virtual const std::vector<std::int64_t>& parameters() const = 0;

  /// An unbiased estimate for these values of the parameters; writes that of
  /// the gradient. A function of its arguments alone.
  virtual double evaluate(const std::vector<double>& values,
                          const kernels::RandomStream& stream,
                          std::vector<double>& gradient) const = 0;
};

}  // namespace radir::train
