#include "radir/posterior/weight_prior.h"

#include "radir/posterior/family.h"
#include "radir/posterior/family_posterior.h"

namespace radir::posterior {

template <typename T>
std::unique_ptr<WeightPrior<T>> make_weight_prior(
    const network::WeightShape& shape, const Options& options) {
  // A family may replace options that the shape does not allow.
  const auto posterior = options.family().make<T>(shape, options);
  const Options& used = posterior->options();
  return used.family().make_prior<T>(shape, used);
}

template std::unique_ptr<WeightPrior<float>> make_weight_prior(
    const network::WeightShape&, const Options&);
template std::unique_ptr<WeightPrior<double>> make_weight_prior(
    const network::WeightShape&, const Options&);

}  // namespace radir::posterior
