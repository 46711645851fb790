#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/io/model_file.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/train/model.h"
#include "radir/workflows/seen_rows.h"

namespace radir::workflows {

/// Names and values of scores, in the order in which they are printed.
using TableMetrics = std::vector<std::pair<std::string, double>>;

/// How a model predicts.
struct TablePredictionOptions {
  /// Quantiles of a numeric target, each above 0 and below 1.
  std::vector<double> quantiles = {0.05, 0.5, 0.95};
  std::int64_t samples = 200;  ///< draws of the weights, per network
  std::uint64_t seed = 0;      ///< of these draws
};

/// Rows that stand out, of a table that may be long.
struct RowList {
  static constexpr std::size_t kMostNamed = 10;

  std::int64_t count = 0;
  /// The first of them, kMostNamed at most, counted from 1.
  std::vector<std::int64_t> first;

  /// Adds rows, counted from 0, of a chunk after so many others.
  void add(const std::vector<std::int64_t>& rows, std::int64_t rows_before);
  /// Such as "row 3", "rows 3, 5 and 7" or "rows 1, 2, 3 and 20 more".
  std::string names() const;
};

/// Adds the counts of another chunk of rows, after so many others.
void add_unseen(const std::vector<data::UnseenLevels>& chunk,
                std::int64_t rows_before,
                std::vector<data::UnseenLevels>& total);

/// Predictions of the rows of a table, one entry per row. A row that was
/// dropped for a missing value, or that overflowed, has NaN everywhere and an
/// empty class.
struct TablePrediction {
  // A numeric target, in its own units.
  std::vector<double> mean;
  std::vector<double> sd;            ///< of the next observation
  std::vector<double> epistemic_sd;  ///< due to the uncertain weights
  std::vector<double> aleatoric_sd;  ///< due to the noise of the data
  /// One list per quantile asked for, in that order.
  std::vector<std::vector<double>> quantiles;

  // A categorical target.
  std::vector<std::string> label;  ///< the most likely class
  /// One list per class, in the order of TableModel::classes().
  std::vector<std::vector<double>> probabilities;
  std::vector<double> entropy;             ///< nats
  std::vector<double> mutual_information;  ///< its epistemic part

  /// Rows, from 0 and in order, whose inputs or outputs are too large for a
  /// float.
  std::vector<std::int64_t> overflowed;

  /// The id of each row (TableEncoder::id); empty without one in the table.
  std::vector<std::string> ids;
  /// Values that the training did not see, of each column that has some.
  std::vector<data::UnseenLevels> unseen;

  std::int64_t rows() const;
};

/// A fitted table: how rows are encoded, and the networks.
struct TableModel {
  data::TableEncoder encoder;
  train::ModelSpec spec;
  std::vector<std::vector<float>> networks;  ///< one per restart
  /// How much each of them counts, their sum 1; empty: all the same.
  std::vector<double> weights;
  /// Of the quantiles of a numeric target, by rows that the networks were not
  /// fitted to (TrainTableOptions::conformal).
  likelihood::QuantileCorrection correction;
  SeenRows seen_rows;  ///< of the training; none in models of version 0.1

  /// The classes of a categorical target; empty for a numeric one.
  const std::vector<std::string>& classes() const;

  /// Predicts every row. The table needs the input columns and may have
  /// others. Throws ArgumentError for invalid options, IoError for a table
  /// that lacks a column or has a value the model does not know.
  TablePrediction predict(const data::Table& table,
                          const TablePredictionOptions& options = {},
                          ThreadPool* pool = nullptr) const;

  /// Scores of the predictions, as TableScores::metrics lists them. The table
  /// needs the target too. Throws as predict does, and NumericalError where a
  /// row has no prediction because it overflowed.
  TableMetrics evaluate(const data::Table& table,
                        const TablePredictionOptions& options = {},
                        ThreadPool* pool = nullptr) const;

  /// Writes a model file, which load_table_model and the program read.
  void save(const std::string& path) const;
};

/// The model as it is written to a file: without the settings of its training.
io::SavedModel saved_model(const TableModel& model);

/// The model that was written so. Throws IoError, which begins with `name`,
/// when it was not trained on a table.
TableModel table_model(const std::string& name, io::SavedModel saved);

/// Throws IoError unless the table has the columns that the encoder needs, of
/// the right types.
void check_table(const data::TableEncoder& encoder, const data::Table& table,
                 bool with_target);

/// The model in a file (a run's folder or the file itself). Throws IoError when
/// it was not trained on a table.
TableModel load_table_model(const std::string& path);

}  // namespace radir::workflows
