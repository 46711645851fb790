#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// What a model predicts as one column changes, averaged over rows in which the
/// others stay as they are (partial dependence).
struct ColumnCurve {
  std::string column;
  std::vector<double> values;       ///< of a numeric column, ascending
  std::vector<std::string> levels;  ///< of a categorical one
  // A numeric target, one number per value or level, in its units.
  std::vector<double> mean;
  /// Standard deviation of the mean over draws of the weights.
  std::vector<double> epistemic;
  /// Noise of single rows: root of its mean variance.
  std::vector<double> aleatoric;
  // A categorical target: the classes drawn, and their mean probabilities.
  std::vector<std::string> classes;
  std::vector<std::vector<double>> probabilities;  ///< [class][value]
};

/// Curves of some columns (indices of the encoder's inputs), between the 2 %
/// and the 98 % quantile of their values in the rows, or over their first
/// twelve levels. A column that is neither a number nor a category with an
/// input for each level has no curve.
std::vector<ColumnCurve> column_curves(const TableModel& model,
                                       const data::EncodedRows& rows,
                                       const std::vector<std::size_t>& columns,
                                       ThreadPool* pool = nullptr);

nlohmann::ordered_json to_json(const std::vector<ColumnCurve>& curves);
/// From to_json. Throws IoError, which begins with `where`, when the text is
/// invalid.
std::vector<ColumnCurve> column_curves_from_json(const std::string& where,
                                                 const std::string& text);

}  // namespace radir::workflows
