#include "radir/data/csv_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "data/number.h"
#include "radir/files/atomic_file.h"

namespace radir::data {
namespace {

constexpr std::size_t kFlushBytes = 64 * 1024;

}  // namespace

CsvWriter::CsvWriter(Sink sink) : sink_(std::move(sink)) {}

void CsvWriter::begin_cell() {
  if (!at_row_start_) text_ += ',';
  at_row_start_ = false;
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  begin_cell();
  // Blanks at the ends are quoted too: readers drop them from plain cells. An
  // empty text is quoted so that a row of one is no blank line.
  const bool plain = !text.empty() &&
                     text.find_first_of(",;\t\"\r\n") == text.npos &&
                     text.front() != ' ' && text.back() != ' ';
  if (plain) {
    text_ += text;
    return *this;
  }
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

template <typename Number, typename>
CsvWriter& CsvWriter::cell(Number value) {
  begin_cell();
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(value)) return *this;
  }
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text_.append(digits.data(), end.ptr);
  return *this;
}

template CsvWriter& CsvWriter::cell(float);
template CsvWriter& CsvWriter::cell(double);
template CsvWriter& CsvWriter::cell(int);
template CsvWriter& CsvWriter::cell(unsigned);
template CsvWriter& CsvWriter::cell(long);
template CsvWriter& CsvWriter::cell(unsigned long);
template CsvWriter& CsvWriter::cell(long long);
template CsvWriter& CsvWriter::cell(unsigned long long);

void CsvWriter::end_row() {
  text_ += '\n';
  at_row_start_ = true;
  if (text_.size() >= kFlushBytes) flush();
}

void CsvWriter::flush() {
  sink_(text_);
  text_.clear();
}

std::string spreadsheet_text(const std::string& text) {
  if (text.find_first_of("=+-@\t\r") != 0) return text;
  double value = 0;
  return parse_cell(text, '.', value) == CellKind::Number ? text : "'" + text;
}

void write_csv(const std::string& path, const Table& table) {
  files::AtomicFile file(path);
  CsvWriter writer([&](std::string_view text) { file.write(text); });
  for (const Column& column : table.columns()) writer.cell(column.name());
  writer.end_row();
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (const Column& column : table.columns()) {
      if (column.type() == ColumnType::Numeric) {
        writer.cell(column.number(row));
      } else if (column.is_missing(row)) {
        writer.cell("");
      } else {
        writer.cell(column.categories().text(column.code(row)));
      }
    }
    writer.end_row();
  }
  writer.flush();
  file.commit();
}

}  // namespace radir::data
