#include "data/row_reader.h"

#include <algorithm>
#include <cstring>

#include "radir/core/error.h"
#include "radir/files/utf8.h"

namespace radir::data {
namespace {

constexpr std::int64_t kMostBlankLines = 1000000;

}  // namespace

RowParser::RowParser(char separator, std::size_t most_cells)
    : separator_(separator), most_cells_(most_cells) {
  for (const char c : {separator, '\n', '\r', '\0'}) {
    ends_plain_cell_[static_cast<unsigned char>(c)] = true;
  }
  if (separator == kWhiteSpace) ends_plain_cell_['\t'] = true;
}

bool RowParser::is_blank() const {
  return !any_quoted_ &&
         (cells_.empty() || (cells_.size() == 1 && cells_[0].empty()));
}

bool RowParser::is_blank_character(char c) const {
  return c == ' ' || (c == '\t' && separator_ != '\t');
}

char* RowParser::parse(char* begin, char* end, bool complete) {
  cells_.clear();
  cells_with_doubled_quotes_.clear();
  problem_ = RowProblem::None;
  lines_ = 1;
  any_quoted_ = false;
  char* p = begin;
  for (;;) {
    while (p != end && is_blank_character(*p)) ++p;
    const bool at_row_end = p == end || *p == '\n' || *p == '\r';
    if (!(at_row_end && separator_ == kWhiteSpace)) {
      p = p != end && *p == '"' ? parse_quoted(p, end, complete)
                                : parse_plain(p, end);
    }
    if (problem_ != RowProblem::None) return p;
    if (cells_.size() > most_cells_) {
      problem_ = RowProblem::TooManyCells;
      return p;
    }
    if (p == end) {
      if (!complete) return nullptr;
      break;
    }
    const char ending = *p++;
    if (ending == '\n') break;
    if (ending == '\r') {
      if (p == end && !complete) return nullptr;
      if (p != end && *p == '\n') ++p;
      break;
    }
  }
  undo_doubled_quotes();
  return p;
}

// Returns where the cell's ending (separator or line end) or `end` is.
char* RowParser::parse_plain(char* p, char* end) {
  const char* const begin = p;
  while (p != end && !ends_plain_cell_[static_cast<unsigned char>(*p)]) ++p;
  const char* last = p;
  while (last != begin && is_blank_character(last[-1])) --last;
  cells_.emplace_back(begin, static_cast<std::size_t>(last - begin));
  if (p != end && *p == '\0') problem_ = RowProblem::ZeroByte;
  return p;
}

char* RowParser::parse_quoted(char* p, char* end, bool complete) {
  any_quoted_ = true;
  char* const begin = ++p;
  bool doubled = false;
  while (true) {
    p = static_cast<char*>(
        std::memchr(p, '"', static_cast<std::size_t>(end - p)));
    if (p == nullptr || (p + 1 == end && !complete)) {
      cells_.emplace_back(begin, 0);
      if (complete) problem_ = RowProblem::OpenQuote;
      return end;
    }
    if (p + 1 == end || p[1] != '"') break;
    doubled = true;
    p += 2;
  }
  const std::string_view cell(begin, static_cast<std::size_t>(p - begin));
  if (doubled) cells_with_doubled_quotes_.push_back(cells_.size());
  cells_.push_back(cell);
  lines_ += std::count(cell.begin(), cell.end(), '\n');
  if (cell.find('\0') != cell.npos) problem_ = RowProblem::ZeroByte;
  ++p;
  while (p != end && is_blank_character(*p) && separator_ != kWhiteSpace) ++p;
  if (p != end && !ends_plain_cell_[static_cast<unsigned char>(*p)]) {
    problem_ = RowProblem::TextAfterQuote;
  }
  return p;
}

void RowParser::undo_doubled_quotes() {
  for (const std::size_t index : cells_with_doubled_quotes_) {
    std::string_view& cell = cells_[index];
    // The cell lies in the caller's buffer, which `parse` may write to.
    char* const begin = const_cast<char*>(cell.data());
    char* out = begin;
    for (std::size_t i = 0; i < cell.size(); ++i) {
      *out++ = cell[i];
      if (cell[i] == '"') ++i;
    }
    cell = {begin, static_cast<std::size_t>(out - begin)};
  }
}

RowReader::RowReader(std::unique_ptr<files::ByteSource> source,
                     RowLimits limits)
    : source_(std::move(source)),
      limits_(limits),
      parser_(',', limits.columns) {
  constexpr std::size_t kFirstBytes = 64 * 1024;
  fill(std::min(kFirstBytes, limits_.row_bytes));
  while (!at_end_ && buffer_.size() < limits_.row_bytes) {
    fill(std::min(2 * buffer_.size(), limits_.row_bytes));
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head().substr(0, 3) == kByteOrderMark) begin_ += 3;
  check_text_head();
}

std::string_view RowReader::head() const {
  return {buffer_.data() + begin_, end_ - begin_};
}

void RowReader::set_format(char separator, bool header) {
  parser_ = RowParser(separator, limits_.columns);
  row_ = header ? -1 : 0;
}

// Makes the buffer `size` bytes long and fills it, unless the source ends.
void RowReader::fill(std::size_t size) {
  buffer_.resize(size);
  while (end_ < buffer_.size()) {
    const std::size_t count =
        source_->read(buffer_.data() + end_, buffer_.size() - end_);
    if (count == 0) {
      at_end_ = true;
      return;
    }
    end_ += count;
  }
}

// Moves what is not parsed to the front and fills the rest of the buffer,
// which is as large as the largest row.
void RowReader::make_room() {
  const std::size_t pending = end_ - begin_;
  RADIR_CHECK(begin_ > 0, IoError, name(), ": the row at line ", next_line_,
              " is longer than the limit of ", limits_.row_bytes,
              " bytes; perhaps a quote in it is never closed, or the file is "
              "not a table");
  std::memmove(buffer_.data(), buffer_.data() + begin_, pending);
  begin_ = 0;
  end_ = pending;
  fill(buffer_.size());
}

bool RowReader::next() {
  for (;;) {
    char* const begin = buffer_.data() + begin_;
    char* const end = buffer_.data() + end_;
    if (begin == end && at_end_) return false;
    char* const after = parser_.parse(begin, end, at_end_);
    if (after == nullptr) {
      make_room();
      continue;
    }
    begin_ += static_cast<std::size_t>(after - begin);
    line_ = next_line_;
    next_line_ += parser_.lines();
    if (parser_.problem() == RowProblem::None && parser_.is_blank()) {
      // A few compressed megabytes may hold a minute's worth of them.
      RADIR_CHECK(++blank_lines_ <= kMostBlankLines, IoError, name(),
                  ": more than ", kMostBlankLines, " blank lines follow line ",
                  line_ - kMostBlankLines - 1, "; remove them");
      continue;
    }
    blank_lines_ = 0;
    ++row_;
    check_row(static_cast<std::size_t>(after - begin));
    return true;
  }
}

std::string RowReader::where() const {
  const std::string row = row_ == 0 ? "header" : "row " + std::to_string(row_);
  return name() + ": " + row + " (line " + std::to_string(line_) + ")";
}

std::string RowReader::where(std::size_t column) const {
  return where() + ", column " + std::to_string(column + 1);
}

void RowReader::check_row(std::size_t row_bytes) {
  const std::vector<std::string_view>& row = cells();
  const RowProblem problem = parser_.problem();
  RADIR_CHECK(problem != RowProblem::ZeroByte, IoError, where(row.size() - 1),
              " holds a zero byte: this is not a text table");
  RADIR_CHECK(problem != RowProblem::TextAfterQuote, IoError,
              where(row.size() - 1), ": text follows the closing quote of ",
              files::excerpt(row.back()),
              "; write a quote inside a quoted cell twice (\"\")");
  RADIR_CHECK(problem != RowProblem::OpenQuote, IoError, where(row.size() - 1),
              ": the quote that opens here is never closed; close it, or write "
              "a quote inside a quoted cell twice (\"\")");
  RADIR_CHECK(problem != RowProblem::TooManyCells, IoError, where(),
              " has more columns than the limit of ", limits_.columns,
              "; is it a table?");
  // A cell is never longer than its row, so most rows need no second look.
  if (row_bytes > limits_.cell_bytes) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      RADIR_CHECK(row[i].size() <= limits_.cell_bytes, IoError, where(i),
                  ": a cell of ", row[i].size(),
                  " bytes is longer than the limit of ", limits_.cell_bytes,
                  "; shorten it or remove the column");
    }
  }
  if (columns_ == 0) columns_ = row.size();
  RADIR_CHECK(row.size() == columns_, IoError, where(), " has ", row.size(),
              row.size() == 1 ? " column" : " columns",
              ", the rows before it have ", columns_,
              "; give every row the same number of cells (an empty cell is a "
              "missing value), and quote cells that hold the separator",
              columns_ == 1 ? "; remove lines above the table" : "");
}

// Recognises what people hand over by mistake by its first bytes.
void RowReader::check_text_head() const {
  const std::string_view text = head();
  RADIR_CHECK(!text.empty(), IoError, name(),
              ": the file is empty; a table with at least one row is needed");
  RADIR_CHECK(text.substr(0, 4) != "PK\x03\x04", IoError, name(),
              ": this is a zip or spreadsheet file, not a text table; save it "
              "as CSV");
  RADIR_CHECK(
      text.substr(0, 2) != "\xFF\xFE" && text.substr(0, 2) != "\xFE\xFF",
      IoError, name(), ": the text is UTF-16; save it as UTF-8");
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' &&
           byte != '\f';
  };
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  RADIR_CHECK(found == text.end(), IoError, name(), ": not a text table: byte ",
              found - text.begin(), " is ",
              static_cast<int>(static_cast<unsigned char>(*found)),
              "; this is not text; use a CSV file or a table separated by "
              "tabs or spaces, plain or gzip");
}

}  // namespace radir::data
