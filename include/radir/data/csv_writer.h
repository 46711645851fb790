#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "radir/data/table.h"

namespace radir::data {

/// Writes comma-separated rows (RFC 4180, lines end with LF). Cells that hold a
/// comma, a quote or a line end are quoted; numbers get the fewest digits that
/// read back as the same value.
class CsvWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// Hands its text to `sink` in blocks, such as those of an AtomicFile or of
  /// standard output.
  explicit CsvWriter(Sink sink);

  CsvWriter& cell(std::string_view text);
  /// double, float or any integer. A NaN is an empty cell: a missing value.
  template <typename Number,
            typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  CsvWriter& cell(Number value);
  void end_row();
  /// Hands over what is still held back. Must be called after the last row.
  void flush();

 private:
  void begin_cell();

  Sink sink_;
  std::string text_;
  bool at_row_start_ = true;
};

/// A text that a spreadsheet takes as text: one that begins with = + - @, a tab
/// or a carriage return, and is not a number, gets an apostrophe in front. Such
/// a cell would be computed as a formula.
std::string spreadsheet_text(const std::string& text);

/// Writes a complete table with a header, atomically.
void write_csv(const std::string& path, const Table& table);

}  // namespace radir::data
