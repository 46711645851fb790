#include "data/table_format.h"

#include <algorithm>
#include <set>

#include "data/number.h"
#include "data/row_reader.h"

namespace radir::data {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Rows of the head that are looked at; more would not change the answer.
constexpr std::size_t kRowsLookedAt = 5'000;

// How the first bytes of a file can be cut.
struct Head {
  std::string_view text;
  bool complete;  // nothing follows
  std::size_t most_columns;
};

// The complete rows of the head, up to the first that cannot be cut. Of one
// that is too long there are as many cells as tell.
Rows cut_rows(const Head& head, char separator) {
  std::string text(head.text);
  RowParser parser(separator, head.most_columns);
  Rows rows;
  char* begin = text.data();
  char* const end = text.data() + text.size();
  while (begin != end && rows.size() < kRowsLookedAt) {
    begin = parser.parse(begin, end, head.complete);
    const bool too_long = parser.problem() == RowProblem::TooManyCells;
    if (begin == nullptr ||
        (parser.problem() != RowProblem::None && !too_long)) {
      break;
    }
    if (parser.is_blank()) continue;
    rows.emplace_back(parser.cells().begin(), parser.cells().end());
    if (too_long) break;
  }
  return rows;
}

// Share of the rows that have as many cells as the first one; 0 when that has
// a single cell.
double regular_share(const Head& head, char separator) {
  const Rows rows = cut_rows(head, separator);
  if (rows.empty() || rows.front().size() < 2) return 0;
  const auto regular = std::count_if(
      rows.begin(), rows.end(),
      [&](const auto& row) { return row.size() == rows.front().size(); });
  return static_cast<double>(regular) / static_cast<double>(rows.size());
}

// The separator that cuts most rows, and more than half, into as many cells as
// the first one; among equals the rarer character in prose wins. White space
// comes last, since names and text contain spaces. With none, the table has a
// single column and any separator will do.
char find_separator(const Head& head) {
  char best = ',';
  double best_share = 0.5;
  for (const char separator : {'\t', ';', ','}) {
    const double share = regular_share(head, separator);
    if (share > best_share) {
      best = separator;
      best_share = share;
    }
  }
  if (best_share > 0.5) return best;
  const bool spaces = regular_share(head, kWhiteSpace) > 0.5;
  return spaces ? kWhiteSpace : ',';
}

// Rows unlike the first one are the reader's to report.
void drop_ragged_rows(Rows& rows) {
  const std::size_t columns = rows.front().size();
  const auto ragged = [&](const auto& row) { return row.size() != columns; };
  rows.erase(std::remove_if(rows.begin(), rows.end(), ragged), rows.end());
}

// A comma when no cell is a number with a point and some become numbers by
// reading their comma as one.
char find_decimal_mark(const Rows& rows, char separator) {
  if (separator == ',') return '.';
  bool commas_help = false;
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      double value = 0;
      if (cell.find('.') != cell.npos &&
          parse_cell(cell, '.', value) == CellKind::Number) {
        return '.';
      }
      commas_help =
          commas_help || (cell.find(',') != cell.npos &&
                          parse_cell(cell, ',', value) == CellKind::Number);
    }
  }
  return commas_help ? ',' : '.';
}

// What the values of one column are, over the rows from `first` on.
struct ColumnTally {
  std::size_t numbers = 0;
  std::size_t texts = 0;
  std::set<std::string_view> different_texts;

  ColumnTally(const Rows& rows, std::size_t first, std::size_t column,
              char decimal_mark) {
    for (std::size_t i = first; i < rows.size(); ++i) {
      double value = 0;
      const CellKind kind = parse_cell(rows[i][column], decimal_mark, value);
      if (kind == CellKind::Missing) continue;
      if (kind == CellKind::Text) {
        ++texts;
        different_texts.insert(rows[i][column]);
      } else {
        ++numbers;
      }
    }
  }

  // Texts among numbers are slips, to be reported, when each is different or
  // they are fewer than a tenth; else they are categories.
  bool is_numeric() const {
    const bool slips =
        different_texts.size() == texts || 10 * texts < texts + numbers;
    return texts == 0 || (numbers > texts && slips);
  }
};

// A number in the first row makes it a row like the others, text over numbers
// makes it a header; where neither is there, a header's words never come again
// below.
bool find_header(const Rows& rows, char decimal_mark) {
  const std::vector<std::string>& first = rows.front();
  bool any_text = false;
  bool any_text_over_numbers = false;
  bool any_repeated = false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    double value = 0;
    const CellKind kind = parse_cell(first[column], decimal_mark, value);
    if (kind == CellKind::Missing) continue;
    if (kind != CellKind::Text) return false;
    any_text = true;
    const ColumnTally below(rows, 1, column, decimal_mark);
    if (below.numbers > 0 && below.is_numeric()) any_text_over_numbers = true;
    if (below.different_texts.count(first[column]) > 0) any_repeated = true;
  }
  return any_text && (any_text_over_numbers || !any_repeated);
}

std::vector<std::string> find_names(const Rows& rows, bool header) {
  std::vector<std::string> names(rows.front().size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (header) names[i] = rows.front()[i];
    if (names[i].empty()) names[i] = "column_" + std::to_string(i + 1);
  }
  return names;
}

std::vector<ColumnType> find_types(const Rows& rows, const TableFormat& format,
                                   const std::vector<std::string>& names,
                                   const TableOptions& options) {
  std::vector<ColumnType> types(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto given = options.types.find(names[i]);
    if (given != options.types.end()) {
      types[i] = given->second;
    } else if (options.other_types) {
      types[i] = *options.other_types;
    } else {
      const ColumnTally tally(rows, format.header ? 1 : 0, i,
                              format.decimal_mark);
      types[i] =
          tally.is_numeric() ? ColumnType::Numeric : ColumnType::Categorical;
    }
  }
  return types;
}

}  // namespace

TableLayout find_layout(std::string_view text, bool complete,
                        const TableOptions& options) {
  const Head head{text, complete, options.limits.columns};
  TableLayout layout;
  TableFormat& format = layout.format;
  format.separator =
      options.separator ? *options.separator : find_separator(head);
  Rows rows = cut_rows(head, format.separator);
  if (rows.empty()) return layout;
  drop_ragged_rows(rows);
  format.decimal_mark = find_decimal_mark(rows, format.separator);
  format.header =
      options.header ? *options.header : find_header(rows, format.decimal_mark);
  layout.names = find_names(rows, format.header);
  layout.types = find_types(rows, format, layout.names, options);
  return layout;
}

}  // namespace radir::data
