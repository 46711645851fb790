#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/data/table.h"

namespace radir::data {

class TableEncoder;

/// What a column of a table is for.
enum class ColumnRole { Input, Target, Id, Ignored };

/// Their names in files and for people.
const Choices<ColumnRole>& column_role_choices();

/// How one column of a table was read.
struct ColumnReading {
  std::string name;
  ColumnRole role = ColumnRole::Input;
  ColumnType type = ColumnType::Numeric;  ///< Skipped: it was not looked at
  std::int64_t inputs = 0;  ///< numbers the network receives for it
  std::int64_t levels = 0;  ///< different values of a category
  std::int64_t missing =
      0;             ///< values that are missing in the rows learnt from
  std::string note;  ///< why it is ignored, or how it is coded

  /// One line without the name, such as "category of 12 levels, 3 missing" or
  /// "ignored: it has the same value in every row".
  std::string text() const;
};

/// How each column was read, in the order of the file. An encoder that was read
/// from a model knows the columns it uses, and neither the ignored ones nor the
/// counts of missing values.
std::vector<ColumnReading> describe_columns(const TableEncoder& encoder);

/// A list with an object for each column, and back. Throws IoError, which
/// begins with `where`, when it is invalid.
nlohmann::ordered_json to_json(const std::vector<ColumnReading>& columns);
std::vector<ColumnReading> column_readings_from_json(
    const nlohmann::ordered_json& json, const std::string& where);

}  // namespace radir::data
