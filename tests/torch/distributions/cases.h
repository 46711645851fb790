#pragma once

#include <torch/types.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "radir/torch/distributions/distributions.h"

// The list of families that the contract tests run over. A new family is one
// more entry in cases.cpp.

namespace radir::testing {

using Tensors = std::vector<torch::Tensor>;

/// Points of the support with weights that integrate over it: the integral of f
/// is sum f(points[i]) exp(log_weights[i]).
struct Quadrature {
  torch::Tensor points;
  torch::Tensor log_weights;
};

struct Case {
  std::string name;
  /// Parameters of one distribution: numbers, or unnormalised vectors of length
  /// m for the mean direction.
  Tensors parameters;
  /// A distribution from parameters of any batch shape, on whose free values
  /// it depends smoothly (directions are normalised here).
  std::function<std::unique_ptr<distributions::Distribution>(
      const Tensors&, distributions::Validate)>
      make;
  /// P(statistic <= statistic(x)) for draws x of the distribution with
  /// `parameters`.
  std::function<torch::Tensor(const torch::Tensor& x, const Tensors&)>
      probability;
  /// Integration over the support, for `parameters`.
  std::function<Quadrature(const Tensors&)> quadrature;
  bool has_cdf = true;
  bool has_icdf = true;

  std::unique_ptr<distributions::Distribution> distribution() const {
    return make(parameters, distributions::Validate::On);
  }
};

std::vector<Case> all_cases();
void PrintTo(const Case& value, std::ostream* stream);

/// A pair of families with a closed form.
struct KlCase {
  std::string name;
  Case q;
  Case p;
  bool one_family;
  std::function<torch::Tensor(const distributions::Distribution& q,
                              const distributions::Distribution& p)>
      kl;
};

std::vector<KlCase> all_kl_cases();
void PrintTo(const KlCase& value, std::ostream* stream);

}  // namespace radir::testing
