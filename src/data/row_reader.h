#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "radir/files/byte_source.h"

namespace radir::data {

/// Stands for any run of spaces and tabs where a separator is asked for.
inline constexpr char kWhiteSpace = ' ';

/// Why a row of text cannot be cut into cells.
enum class RowProblem {
  None,
  ZeroByte,
  TextAfterQuote,
  OpenQuote,
  TooManyCells
};

/// Cuts one row of delimited text into cells (RFC 4180): quoted cells may hold
/// separators, line ends and doubled quotes; rows end with LF, CRLF or CR;
/// blanks around a cell are dropped.
class RowParser {
 public:
  /// Takes at most so many cells.
  RowParser(char separator, std::size_t most_cells);

  /// Parses the row that starts at `begin` and returns where the next one
  /// starts, or nullptr when the row continues beyond `end` and the text is not
  /// `complete`. Doubled quotes are undone in place, once the row is complete.
  char* parse(char* begin, char* end, bool complete);

  /// The cells of the row; views into the text that was parsed.
  const std::vector<std::string_view>& cells() const { return cells_; }
  /// What is wrong with the row, in the last of its cells.
  RowProblem problem() const { return problem_; }
  /// How many lines of the file the row takes.
  std::int64_t lines() const { return lines_; }
  /// Whether the row is an empty line.
  bool is_blank() const;

 private:
  char* parse_plain(char* p, char* end);
  char* parse_quoted(char* p, char* end, bool complete);
  bool is_blank_character(char c) const;
  void undo_doubled_quotes();

  char separator_;
  std::size_t most_cells_;
  std::array<bool, 256> ends_plain_cell_{};
  std::vector<std::string_view> cells_;
  std::vector<std::size_t> cells_with_doubled_quotes_;
  RowProblem problem_ = RowProblem::None;
  std::int64_t lines_ = 0;
  bool any_quoted_ = false;
};

/// Sizes beyond which a RowReader rejects the file.
struct RowLimits {
  std::size_t cell_bytes;
  std::size_t row_bytes;
  std::size_t columns;
};

/// Reads rows from a source with memory bounded by the longest row. Blank
/// lines are skipped, up to a million between two rows; all rows must have as
/// many cells as the first.
class RowReader {
 public:
  /// Reads the first block; throws IoError when the source is empty or holds
  /// something that is not text.
  RowReader(std::unique_ptr<files::ByteSource> source, RowLimits limits);

  const std::string& name() const { return source_->name(); }

  /// The first bytes of text, as many as the longest row may have, to find the
  /// format by. Valid until the first `next`.
  std::string_view head() const;
  /// Whether `head` is the complete text.
  bool head_is_all() const { return at_end_; }

  /// Must be called once before `next`. A header is a row like any other, but
  /// does not count in row numbers.
  void set_format(char separator, bool header);

  /// Moves to the next row; false at the end. Throws IoError for a row that
  /// cannot be cut, is too large or has another number of cells.
  bool next();

  const std::vector<std::string_view>& cells() const { return parser_.cells(); }
  /// "FILE: row 3 (line 4)" or "FILE: header (line 1)", for messages; rows and
  /// lines count from 1.
  std::string where() const;
  /// The same with ", column 2" for the column of index 1.
  std::string where(std::size_t column) const;

 private:
  void fill(std::size_t size);
  void make_room();
  void check_row(std::size_t row_bytes);
  void check_text_head() const;

  std::unique_ptr<files::ByteSource> source_;
  RowLimits limits_;
  RowParser parser_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the rows not yet parsed
  std::size_t end_ = 0;    // of the bytes read
  bool at_end_ = false;
  std::size_t columns_ = 0;
  std::int64_t row_ = 0;          // 0 is the header
  std::int64_t blank_lines_ = 0;  // since the last row
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
};

}  // namespace radir::data
