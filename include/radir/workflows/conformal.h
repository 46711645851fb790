#pragma once

#include <cstdint>
#include <string>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/workflows/table_model.h"

// Quantiles corrected by rows that the model was not fitted to: split
// conformal prediction.

namespace radir::workflows {

/// Fewer rows cannot correct 90 % intervals: 1/(19 + 1) is 5 %.
constexpr std::int64_t kLeastConformalRows = 19;

/// A table of which some rows are set aside to correct quantiles.
struct ConformalRows {
  data::TableEncoder encoder;  ///< knows the fitted rows alone
  data::EncodedRows fitted;
  data::EncodedRows aside;
};

/// Sets aside about a fifth of the rows, 4,999 at most, chosen by the seed: a
/// fifth up to 38 rows, above that the nearest number one below a multiple of
/// 40, for which the ranks of 50, 80, 90 and 95 % intervals are whole. Throws
/// ArgumentError where they are fewer than kLeastConformalRows or the target is
/// a category, else as TableEncoder does.
ConformalRows set_aside(const data::Table& table, const std::string& target,
                        data::MissingValues missing, std::uint64_t seed);

/// The correction of a model by rows that it was not fitted to, under the
/// default options of a prediction. Throws NumericalError where fewer than
/// kLeastConformalRows have a prediction.
likelihood::QuantileCorrection conformal_correction(
    const TableModel& model, const data::EncodedRows& aside,
    ThreadPool* pool = nullptr);

/// What the correction does and guarantees, in two sentences.
std::string describe(const likelihood::QuantileCorrection& correction);

}  // namespace radir::workflows
