#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/column_code.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"

// From a column to its code, and from its values to numbers.

namespace radir::data {

using RowNumbers = std::vector<std::int64_t>;

/// The code of a column, and what people should know of it.
struct FittedColumn {
  ColumnCode code;
  std::string ignored;      ///< why it is no input; empty when it is one
  std::int64_t levels = 0;  ///< of a category, in the rows
  std::int64_t missing = 0;
  std::string note;  ///< how it is coded
};

/// What becomes of the id.
inline constexpr const char* kIdColumn = "carried into the predictions";

/// How a target with a logarithm is coded.
inline constexpr const char* kLogTarget = "on a logarithmic scale";

/// Why a constant column is ignored.
inline constexpr const char* kConstantColumn =
    "it has the same value in every row";

/// Whether all values the code was fitted to are the same.
bool is_constant(const ColumnCode& code);

/// What a column says in some rows of a table, and the code for it.
FittedColumn fit_input(const Table& table, const Column& column,
                       const RowNumbers& rows, MissingValues missing);
/// Of a target: standardised, or with a class for each category.
FittedColumn fit_target(const Table& table, const Column& column,
                        const RowNumbers& rows);

/// The code of a numeric target on a logarithmic scale: the offset is a tenth
/// of the median of the values above 0, the end twice the largest. Throws
/// IoError for a value below 0.
ColumnCode with_logarithm(const std::string& source, const Column& column,
                          const RowNumbers& rows, ColumnCode code);
/// Whether a logarithm may help: no value is below 0, the largest is four times
/// as far above the median as the smallest is below, and the resolution is a
/// tenth of the median at most.
bool is_skewed(const Column& column, const RowNumbers& rows, double resolution);

/// Up to `count` pieces between quantiles of a column's values in the rows;
/// none where there are fewer than three different quantiles.
std::vector<NumberPiece> fit_pieces(const Column& column,
                                    const RowNumbers& rows, std::int64_t count);

/// Writes the numbers of each of the rows to out, out + stride, ... (which are
/// 0 before). `unseen` gets the levels that are not known. Throws IoError for
/// text that is no date.
void encode_input(const Table& table, const Column& column,
                  const ColumnCode& code, const RowNumbers& rows, float* out,
                  std::int64_t stride, UnseenLevels& unseen);

/// Standardised values, and their pieces; missing ones stay as they are.
void encode_numbers(const Column& column, const ColumnCode& code,
                    const RowNumbers& rows, float* out, std::int64_t stride);

/// For each code of the column's dictionary its index among `categories`, -1
/// for those that are not there.
std::vector<std::int64_t> category_indices(
    const Column& column, const std::vector<std::string>& categories);

}  // namespace radir::data
