#include "data/table_format.h"

#include <algorithm>
#include <optional>
#include <set>

#include "data/date.h"
#include "data/named_columns.h"
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

// Cells that are numbers with one decimal mark only decide. Of "1.234" and
// "1,234", which may be either, a point is the mark, and so is a comma where it
// is not the separator.
char find_decimal_mark(const Rows& rows, char separator) {
  if (separator == ',') return '.';
  bool only_comma = false;
  bool any_point = false;
  bool any_comma = false;
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      if (cell.find_first_of(".,") == cell.npos) continue;
      double value = 0;
      const bool point = parse_cell(cell, '.', value) == CellKind::Number;
      const bool comma = parse_cell(cell, ',', value) == CellKind::Number;
      if (point && !comma) return '.';
      only_comma = only_comma || (comma && !point);
      any_point = any_point || (point && cell.find('.') != cell.npos);
      any_comma = any_comma || comma;
    }
  }
  return only_comma || (any_comma && !any_point) ? ',' : '.';
}

// How cells are read.
struct Reading {
  char decimal_mark;
  bool plain;

  CellKind parse(std::string_view cell, double& value) const {
    return plain ? parse_plain_cell(cell, decimal_mark, value)
                 : parse_cell(cell, decimal_mark, value);
  }
};

// What the values of one column are, over the rows from `first` on.
struct ColumnTally {
  std::size_t numbers = 0;
  std::size_t texts = 0;
  std::set<std::string_view> different_texts;
  DateEvidence dates;

  ColumnTally(const Rows& rows, std::size_t first, std::size_t column,
              const Reading& reading) {
    for (std::size_t i = first; i < rows.size(); ++i) {
      double value = 0;
      const CellKind kind = reading.parse(rows[i][column], value);
      if (kind == CellKind::Missing) continue;
      if (kind == CellKind::Text) {
        ++texts;
        if (different_texts.insert(rows[i][column]).second) {
          dates.add(rows[i][column]);
        }
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

  std::optional<DateOrder> date_order() const {
    return numbers == 0 ? dates.order() : std::nullopt;
  }
};

// A number in the first row makes it a row like the others, and so does a date
// over dates; text over numbers makes it a header. Where none of them is there,
// a header's words never come again below. "10%" may be a number or a name, so
// it does not decide.
bool find_header(const Rows& rows, const Reading& reading) {
  const std::vector<std::string>& first = rows.front();
  bool any_text = false;
  bool any_text_over_numbers = false;
  bool any_repeated = false;
  for (std::size_t column = 0; column < first.size(); ++column) {
    double value = 0;
    const CellKind kind =
        parse_plain_cell(first[column], reading.decimal_mark, value);
    if (kind == CellKind::Missing) continue;
    if (kind != CellKind::Text) return false;
    if (reading.parse(first[column], value) != CellKind::Text) continue;
    any_text = true;
    const ColumnTally below(rows, 1, column, reading);
    const auto order = below.date_order();
    if (!reading.plain && order && parse_date(first[column], *order)) {
      return false;
    }
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

void find_type(const Rows& rows, std::size_t column, const NamedColumns& named,
               const TableOptions& options, TableLayout& layout) {
  const std::string& name = layout.names[column];
  ColumnType& type = layout.types[column];
  ColumnUse& use = layout.uses[column];
  DateOrder& order = layout.date_orders[column];
  const auto given = options.types.find(name);
  const bool is_given =
      given != options.types.end() || named.categorical.count(column) == 1;
  if (options.as_is) {
    use = ColumnUse::AsIs;
  } else if (is_given || named.only.count(column) == 1) {
    use = ColumnUse::Required;
  }
  if (named.is_skipped(column)) {
    type = ColumnType::Skipped;
  } else if (is_given) {
    type =
        given != options.types.end() ? given->second : ColumnType::Categorical;
    const auto known = options.date_orders.find(name);
    if (known != options.date_orders.end()) order = known->second;
  } else if (options.other_types) {
    type = *options.other_types;
  } else {
    const ColumnTally tally(rows, layout.format.header ? 1 : 0, column,
                            {layout.format.decimal_mark, options.as_is});
    const auto dates = options.as_is ? std::nullopt : tally.date_order();
    type = tally.is_numeric() ? ColumnType::Numeric
           : dates            ? ColumnType::Date
                              : ColumnType::Categorical;
    if (dates) order = *dates;
  }
}

}  // namespace

TableLayout find_layout(const std::string& source, std::string_view text,
                        bool complete, const TableOptions& options) {
  const Head head{text, complete, options.limits.columns};
  TableLayout layout;
  TableFormat& format = layout.format;
  format.separator =
      options.separator ? *options.separator : find_separator(head);
  Rows rows = cut_rows(head, format.separator);
  if (rows.empty()) return layout;
  drop_ragged_rows(rows);
  format.decimal_mark = find_decimal_mark(rows, format.separator);
  format.header = options.header
                      ? *options.header
                      : find_header(rows, {format.decimal_mark, options.as_is});
  layout.names = find_names(rows, format.header);
  const NamedColumns named(source, layout.names, options);
  layout.types.resize(layout.names.size());
  layout.uses.resize(layout.names.size());
  layout.date_orders.resize(layout.names.size());
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    find_type(rows, i, named, options, layout);
  }
  return layout;
}

}  // namespace radir::data
