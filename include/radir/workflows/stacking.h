#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_settings.h"

// Mixtures of networks or chains whose weights come from held-out rows
// (MixtureWeights::Stacked).

namespace radir::workflows {

/// Fits the networks of a mixture to rows.
using FitRows = std::function<TableModel(const data::EncodedRows&)>;

/// How much each network or chain of resolved settings should count
/// (likelihood::stacking_weights). A fifth of the rows, 5,000 at most, is held
/// out, copies of a row together, and predicted by networks that `fit` makes of
/// the others. Empty, which stands for equal weights, for fewer than
/// kLeastHoldoutRows rows. Throws NumericalError where no held-out row can be
/// predicted.
std::vector<double> stacked_fit_weights(const data::TableEncoder& encoder,
                                        const data::EncodedRows& rows,
                                        const TableSettings& settings,
                                        const FitRows& fit,
                                        ThreadPool* pool = nullptr);

/// The weights of the networks of a model when each fit has such a weight, its
/// draws the same share of it.
std::vector<double> network_weights(const std::vector<double>& fit_weights,
                                    std::size_t networks);

/// The weights of the fits of a model, from those of its networks; empty where
/// these are.
std::vector<double> fit_weights(const TableModel& model, std::int64_t fits);

}  // namespace radir::workflows
