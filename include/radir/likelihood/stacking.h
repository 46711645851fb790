#pragma once

#include <vector>

namespace radir::likelihood {

/// Weights of the components of a mixture by stacking (Yao, Vehtari, Simpson
/// and Gelman, "Using stacking to average Bayesian predictive distributions",
/// 2018): those under which rows that no component was fitted to are most
/// likely. They are positive and have the sum 1.
///
/// `log_densities[component][row]` is what each component says of each row.
/// Each component counts as if it alone had predicted one more row, which keeps
/// the weights of few rows near equal ones; without rows they are equal. The
/// objective, the sum over the rows of the log of the weighted density plus
/// that of the log weights, is concave; it is maximised by EM, to 1e-8 nats per
/// row or for 10,000 iterations.
///
/// Throws ArgumentError without components, for lists of different lengths, and
/// for a row that is NaN or +infinity under one component or -infinity under
/// all of them.
std::vector<double> stacking_weights(
    const std::vector<std::vector<double>>& log_densities);

}  // namespace radir::likelihood
