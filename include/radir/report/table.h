#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace radir::report {

/// Nothing (printed as a dash), a text, a number or a count.
using Cell = std::variant<std::monostate, std::string, double, std::int64_t>;

struct Column {
  std::string key;    ///< name in JSON and CSV, such as "error_eps"
  std::string title;  ///< heading for people, such as "error (eps)"
  int digits = 4;     ///< significant digits of numbers, for people only
};

/// Rows of cells under named columns.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// A number for people, so many significant digits: "0.0123", "32,470".
/// Powers of ten are used from 1e9 and below 1e-4.
std::string figure_text(double number, int digits = 4);

/// Aligned columns for a terminal.
std::string to_text(const Table& table);
/// A Markdown table.
std::string to_markdown(const Table& table);
/// An HTML <table>.
std::string to_html(const Table& table);
/// Comma separated, all digits, a header line of keys.
std::string to_csv(const Table& table);
/// A JSON array with one object per row, all digits; an empty cell and a
/// number that is not finite become null.
std::string to_json(const Table& table);

// Each throws ArgumentError when a row has another number of cells than the
// table has columns.

}  // namespace radir::report
