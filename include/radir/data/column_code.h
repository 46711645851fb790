#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/table.h"
#include "radir/likelihood/target_transform.h"

namespace radir::data {

/// A part of a number's range: 0 below it, 1 above it, linear inside, and
/// standardised.
struct NumberPiece {
  double from = 0;
  double to = 1;
  double mean = 0;
  double scale = 1;
};

/// One column as the network sees it.
struct ColumnCode {
  std::string name;
  ColumnType type = ColumnType::Numeric;

  /// Number, or days of a date: the standardised value is (value - mean) /
  /// scale.
  double mean = 0;
  double scale = 1;
  /// Of a numeric target: the smallest step between different values of the
  /// training rows; 0: unknown, as in models of version 0.1.
  double resolution = 0;
  /// Of a numeric target; mean and scale are those of the transformed values.
  likelihood::TargetTransform transform;
  /// Number: an input for each, after the standardised value. With them a
  /// network follows sudden changes of a column more easily (Gorishniy et al.,
  /// 2022).
  std::vector<NumberPiece> pieces;

  /// Categorical: the levels that are known, one input (or class) each, 1 for
  /// the row's own, 0 for others.
  std::vector<std::string> categories;
  /// Above 0: the levels share so many inputs instead (see hashed_level).
  std::int64_t hashed_inputs = 0;
  /// There is an input for all other levels.
  bool other = false;

  DateOrder date_order = DateOrder::YearMonthDay;
  // Inputs cos and sin of the position of a date in the year, in the week and
  // in the day.
  bool year_cycle = false;
  bool week_cycle = false;
  bool day_cycle = false;

  /// The last input is 1 where the value is missing.
  bool missing_input = false;

  /// Numbers the network receives for the column.
  std::int64_t width() const;
};

/// Writes the inputs of a number that is not missing: its standardised value
/// and its pieces.
void encode_number(const ColumnCode& code, double value, float* out);

/// The standardised value of a number, transformed where the code says so.
double standardised(const ColumnCode& code, double value);
/// The number of the table that a standardised target stands for.
double target_value(const ColumnCode& code, double standardised);

/// Where a level of a hashed category stands: 1 or -1 in two of the inputs.
struct HashedLevel {
  std::int64_t first = 0;
  std::int64_t second = 0;  ///< not `first`
  float first_sign = 1;
  float second_sign = 1;
};

/// By the 64-bit FNV-1a hash h of the text's bytes: first = h mod inputs,
/// second = (first + 1 + (h >> 20) mod (inputs - 1)) mod inputs; bits 61 and 62
/// of h are set where the signs are negative. `inputs` is at least 2.
HashedLevel hashed_level(std::string_view text, std::int64_t inputs);

}  // namespace radir::data
