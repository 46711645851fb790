#pragma once

#include <string_view>

namespace radir::data {

/// What the text of a cell is, seen as a number.
enum class CellKind { Number, Missing, Text, TooLarge };

/// Whether a cell says that its value is missing: empty, "?", "NA", "N/A",
/// "#N/A", "NaN", "null" or "none", in any case.
bool is_missing_text(std::string_view cell);

/// Reads a decimal number ("-1.5e3", "+2", ".5"). `value` is set for Number
/// only. A number too small for a double is 0; one too large, and infinity,
/// are TooLarge.
CellKind parse_plain_cell(std::string_view cell, char decimal_mark,
                          double& value);

/// The same, and numbers as people write them: with separators of thousands
/// ("1,234.5"; "1.234,5" with a comma for the decimal mark), a percent sign
/// ("5 %" is 5) or a currency sign ("$3.20", "-3.20 €").
CellKind parse_cell(std::string_view cell, char decimal_mark, double& value);

}  // namespace radir::data
