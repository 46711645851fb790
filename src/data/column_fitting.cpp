#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "data/column_coding.h"
#include "data/date.h"
#include "data/day_values.h"
#include "data/number.h"
#include "radir/core/error.h"
#include "radir/files/utf8.h"
#include "radir/likelihood/target_transform.h"

namespace radir::data {
namespace {

/// A category of more levels than this is hashed into so many inputs.
constexpr std::int64_t kMostOwnInputs = 32;
/// Levels of such a category with fewer rows than this are "other".
constexpr std::int64_t kLeastRowsOfLevel = 3;
/// Levels whose names a model keeps.
constexpr std::size_t kMostLevels = 2000;
/// Fewer different values than rows say nothing in a shorter table.
constexpr std::int64_t kLeastRowsOfId = 10;
/// Offset of the logarithm of a target, of its median.
constexpr double kOffset = 0.1;
/// A cycle helps where its values are this many, over this many days.
constexpr std::size_t kLeastParts = 4;
constexpr double kDaysOfYears = 365;
constexpr double kDaysOfWeeks = 14;

/// Mean and standard deviation of the values that are there.
template <typename Value>
void fit_moments(const std::string& source, const RowNumbers& rows,
                 const Value& value, ColumnCode& code) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t row : rows) {
    const double x = value(row);
    if (std::isnan(x)) continue;
    sum += x;
    ++count;
  }
  const double n = static_cast<double>(std::max<std::int64_t>(count, 1));
  code.mean = sum / n;
  double squares = 0;
  for (std::int64_t row : rows) {
    const double x = value(row);
    if (std::isnan(x)) continue;
    squares += (x - code.mean) * (x - code.mean);
  }
  code.scale = std::sqrt(squares / n);
  RADIR_CHECK(std::isfinite(code.scale), IoError, source, ": column \"",
              code.name, "\" has numbers too large to be standardised; divide ",
              "them all by the same number");
}

/// Rows of each level of a category.
class LevelCounts {
 public:
  LevelCounts(const Column& column, const RowNumbers& rows)
      : texts_(column.categories()),
        counts_(static_cast<std::size_t>(texts_.size())) {
    for (std::int64_t row : rows) {
      const std::int32_t code = column.code(row);
      if (code < 0) continue;
      if (counts_[static_cast<std::size_t>(code)]++ == 0) ++levels_;
      ++rows_;
    }
  }

  std::int64_t levels() const { return levels_; }
  /// Rows that have one.
  std::int64_t rows() const { return rows_; }

  /// A level that is not a number, where those of more than half of the rows
  /// are; empty elsewhere.
  std::string text_among_numbers() const {
    std::int64_t numbers = 0;
    std::string other;
    for (std::int32_t i = 0; i < texts_.size(); ++i) {
      const std::int64_t count = counts_[static_cast<std::size_t>(i)];
      double value = 0;
      if (parse_cell(texts_.text(i), '.', value) == CellKind::Number) {
        numbers += count;
      } else if (count > 0 && other.empty()) {
        other = texts_.text(i);
      }
    }
    return 2 * numbers > rows_ ? other : "";
  }

  /// Texts of the levels of at least so many rows, those of most rows if there
  /// are more than `most`. By name, so that classes come in the same order
  /// whatever the rows' order.
  std::vector<std::string> names(std::int64_t least,
                                 std::size_t most = SIZE_MAX) const {
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (std::int32_t i = 0; i < texts_.size(); ++i) {
      const std::int64_t count = counts_[static_cast<std::size_t>(i)];
      if (count >= least) found.emplace_back(-count, texts_.text(i));
    }
    if (found.size() > most) {
      std::sort(found.begin(), found.end());
      found.resize(most);
    }
    std::vector<std::string> names;
    for (auto& [count, name] : found) names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  const Dictionary& texts_;
  std::vector<std::int64_t> counts_;
  std::int64_t levels_ = 0;
  std::int64_t rows_ = 0;
};

/// The words of a name, in lower case: "RowID" and "row_id" are row and id.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  char before = ' ';
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool starts = std::isupper(byte) != 0 &&
                        std::islower(static_cast<unsigned char>(before)) != 0;
    if (starts || std::isalnum(byte) == 0) words.emplace_back();
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    }
    before = c;
  }
  return words;
}

bool is_named_as_id(const std::string& name) {
  static const std::set<std::string> ids = {
      "id",  "ids", "uid",   "uuid", "guid", "rowid", "rownum",
      "row", "idx", "index", "nr",   "no",   "key",   "unnamed"};
  const std::vector<std::string> words = words_of(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return ids.count(word) == 1;
  });
}

/// A first column without a name beside columns with names: the row numbers
/// that programs write.
bool is_unnamed_first(const Table& table, const Column& column) {
  const std::vector<std::string>& names = table.file_columns();
  return names.size() > 1 && column.name() == "column_1" &&
         names.front() == "column_1" && names[1] != "column_2";
}

/// Different integers in all rows, which may be there several times;
/// `in_steps`: with none left out between the first and the last.
bool numbers_rows(const Column& column, RowNumbers rows, bool in_steps) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    if (std::isnan(value) || std::trunc(value) != value) return false;
    values.push_back(value);
  }
  if (static_cast<std::int64_t>(values.size()) < kLeastRowsOfId) return false;
  std::sort(values.begin(), values.end());
  const double count = static_cast<double>(values.size());
  if (in_steps && values.back() - values.front() != count - 1) return false;
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

void fit_number(const Table& table, const Column& column,
                const RowNumbers& rows, FittedColumn& fitted) {
  ColumnCode& code = fitted.code;
  fit_moments(
      table.source(), rows,
      [&](std::int64_t row) { return column.number(row); }, code);
  if (is_constant(code)) {
    fitted.ignored = kConstantColumn;
  } else if (column.use() == ColumnUse::Judged) {
    const bool unnamed = is_unnamed_first(table, column);
    if ((unnamed || is_named_as_id(column.name())) &&
        numbers_rows(column, rows, unnamed)) {
      fitted.ignored = "it numbers the rows";
    }
  }
}

/// How many of `parts` equal parts of a cycle have a date.
template <typename Position>
std::size_t parts_seen(const std::vector<double>& days,
                       const Position& position, int parts) {
  std::set<int> seen;
  for (const double day : days) {
    seen.insert(static_cast<int>(parts * position(day)));
  }
  return seen.size();
}

void fit_date(const Table& table, const Column& column, const RowNumbers& rows,
              FittedColumn& fitted) {
  ColumnCode& code = fitted.code;
  const DayValues values(table.source(), column, code.date_order);
  fit_moments(
      table.source(), rows, [&](std::int64_t row) { return values[row]; },
      code);
  std::vector<double> days;
  for (std::int64_t row : rows) {
    if (!std::isnan(values[row])) days.push_back(values[row]);
  }
  if (is_constant(code)) {
    fitted.ignored = kConstantColumn;
    return;
  }
  const auto [first, last] = std::minmax_element(days.begin(), days.end());
  const double range = *last - *first;
  const bool dated = code.date_order != DateOrder::TimeOfDay;
  code.year_cycle = dated && range >= kDaysOfYears &&
                    parts_seen(days, position_in_year, 12) >= kLeastParts;
  code.week_cycle = dated && range >= kDaysOfWeeks &&
                    parts_seen(days, position_in_week, 7) >= kLeastParts;
  code.day_cycle = (!dated || range >= 1) &&
                   parts_seen(days, position_in_day, 24) >= kLeastParts;
  fitted.note = date_text(*first, code.date_order) + " to " +
                date_text(*last, code.date_order);
  for (const auto& [used, name] :
       {std::pair{code.year_cycle, "year"}, std::pair{code.week_cycle, "week"},
        std::pair{code.day_cycle, "day"}}) {
    if (used) fitted.note += std::string(", position in the ") + name;
  }
}

/// Levels that are few get an input each. Of more levels those of few rows are
/// "other", and the rest share inputs if there are still more.
void fit_levels(const LevelCounts& counts, ColumnUse use,
                FittedColumn& fitted) {
  ColumnCode& code = fitted.code;
  if (use == ColumnUse::AsIs || counts.levels() <= kMostOwnInputs) {
    code.categories = counts.names(1);
  } else {
    code.categories = counts.names(kLeastRowsOfLevel, kMostLevels);
    if (code.categories.empty() && use == ColumnUse::Required) {
      code.categories = counts.names(1, kMostLevels);
    }
    const auto known = static_cast<std::int64_t>(code.categories.size());
    code.other = known < counts.levels();
    if (known > kMostOwnInputs) code.hashed_inputs = kMostOwnInputs;
    const auto add_note = [&](const std::string& text) {
      fitted.note += (fitted.note.empty() ? "" : ", ") + text;
    };
    if (code.hashed_inputs > 0) {
      add_note("hashed into " + std::to_string(kMostOwnInputs) + " inputs");
    }
    if (code.other) {
      add_note(std::to_string(counts.levels() - known) +
               " rare ones are \"other\"");
    }
  }
}

/// Why dates of no single order are texts; empty for other texts.
std::string unclear_dates(const DateEvidence& evidence) {
  if (!evidence.all_dates_of_some_order()) return "";
  return std::string(evidence.all_dates()
                         ? "its dates do not tell day and month apart"
                         : "its dates are written in different ways") +
         "; write them as 2024-01-31";
}

/// Why a text teaches nothing: almost every row has its own. `evidence` is of
/// all its levels.
std::string near_unique(const LevelCounts& counts,
                        const DateEvidence& evidence) {
  const bool all_different =
      counts.levels() == counts.rows() && counts.rows() >= kLeastRowsOfId;
  const bool many =
      counts.levels() > kMostOwnInputs && 2 * counts.levels() > counts.rows();
  if (!all_different && !many) return "";
  const std::string dates = unclear_dates(evidence);
  if (!dates.empty()) return dates;
  return std::to_string(counts.levels()) + " different texts in " +
         std::to_string(counts.rows()) + " rows";
}

void fit_category(const Table& table, const Column& column,
                  const RowNumbers& rows, FittedColumn& fitted) {
  ColumnCode& code = fitted.code;
  const LevelCounts counts(column, rows);
  fitted.levels = counts.levels();
  if (column.use() == ColumnUse::Judged && counts.levels() > 1) {
    DateEvidence evidence;
    for (std::int32_t i = 0; i < column.categories().size(); ++i) {
      evidence.add(column.categories().text(i));
    }
    if (const auto order = evidence.order()) {
      code.type = ColumnType::Date;
      code.date_order = *order;
      fitted.levels = 0;
      fit_date(table, column, rows, fitted);
      return;
    }
    fitted.ignored = near_unique(counts, evidence);
    if (!fitted.ignored.empty()) return;
    fitted.note = unclear_dates(evidence);
    const std::string text = counts.text_among_numbers();
    if (!text.empty()) {
      fitted.note = "most are numbers; leave cells such as " +
                    files::excerpt(text) + " empty to read it as one";
    }
  }
  fit_levels(counts, column.use(), fitted);
  if (code.categories.empty() && counts.levels() > 0) {
    fitted.ignored = "each of its " + std::to_string(counts.levels()) +
                     " levels has fewer than " +
                     std::to_string(kLeastRowsOfLevel) + " rows";
  } else if (is_constant(code)) {
    fitted.ignored = kConstantColumn;
  }
}

FittedColumn begin_fit(const Column& column, const RowNumbers& rows) {
  FittedColumn fitted;
  fitted.code.name = column.name();
  fitted.code.type = column.type();
  fitted.code.date_order = column.date_order();
  if (column.missing() > 0) {
    fitted.missing =
        std::count_if(rows.begin(), rows.end(),
                      [&](std::int64_t row) { return column.is_missing(row); });
  }
  return fitted;
}

/// Between different values; smaller ones than a rounding error of what was
/// written are none.
double smallest_step(const Column& column, const RowNumbers& rows) {
  constexpr double kRounding = 1e-9;  // of the range
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::int64_t row : rows) values.push_back(column.number(row));
  std::sort(values.begin(), values.end());
  const double least = kRounding * (values.back() - values.front());
  double step = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double here = values[i] - values[i - 1];
    if (here > least && (step == 0 || here < step)) step = here;
  }
  return std::isfinite(step) ? step : 0;
}

}  // namespace

bool is_constant(const ColumnCode& code) {
  if (code.type == ColumnType::Categorical) return code.width() < 2;
  // Rounding leaves a constant column a spread of this order.
  constexpr double kRounding = 1e-12;
  return !(code.scale > kRounding * std::abs(code.mean));
}

FittedColumn fit_input(const Table& table, const Column& column,
                       const RowNumbers& rows, MissingValues missing) {
  FittedColumn fitted = begin_fit(column, rows);
  if (fitted.missing == static_cast<std::int64_t>(rows.size())) {
    fitted.ignored = "it has no value in any row";
    return fitted;
  }
  fitted.code.missing_input =
      missing == MissingValues::Indicator && fitted.missing > 0;
  switch (column.type()) {
    case ColumnType::Categorical:
      fit_category(table, column, rows, fitted);
      break;
    case ColumnType::Date:
      fit_date(table, column, rows, fitted);
      break;
    default:
      fit_number(table, column, rows, fitted);
  }
  return fitted;
}

std::vector<NumberPiece> fit_pieces(const Column& column,
                                    const RowNumbers& rows,
                                    std::int64_t count) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    if (!std::isnan(value)) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  if (values.empty()) return {};
  std::vector<double> edges;
  for (std::int64_t i = 0; i <= count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    edges.push_back(values[static_cast<std::size_t>(
        share * static_cast<double>(values.size() - 1))]);
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<NumberPiece> pieces;
  for (std::size_t i = 0; edges.size() > 2 && i + 1 < edges.size(); ++i) {
    NumberPiece piece = {edges[i], edges[i + 1]};
    double sum = 0, squares = 0;
    for (const double value : values) {
      const double share =
          std::clamp((value - piece.from) / (piece.to - piece.from), 0.0, 1.0);
      sum += share;
      squares += share * share;
    }
    const auto n = static_cast<double>(values.size());
    piece.mean = sum / n;
    piece.scale = std::sqrt(squares / n - piece.mean * piece.mean);
    // A piece of a few outliers among very many rows.
    if (piece.scale > 1e-6) pieces.push_back(piece);
  }
  return pieces;
}

ColumnCode with_logarithm(const std::string& source, const Column& column,
                          const RowNumbers& rows, ColumnCode code) {
  constexpr double kEnd = 2;  // of the largest value
  std::vector<double> values;
  std::int64_t first_below = column.size();
  for (const std::int64_t row : rows) {
    const double value = column.number(row);
    if (value < 0) first_below = std::min(first_below, row);
    if (value > 0) values.push_back(value);
  }
  RADIR_CHECK(first_below == column.size(), IoError, source, ": row ",
              first_below + 1, " has the target ", column.number(first_below),
              ", but a logarithmic target must not be below 0; train with ",
              "--target-scale own");
  RADIR_CHECK(!values.empty(), IoError, source, ": column \"", column.name(),
              "\": no value is above 0, so it has no logarithm");
  std::sort(values.begin(), values.end());
  code.transform = likelihood::TargetTransform::logarithm(
      kOffset * values[values.size() / 2], kEnd * values.back());
  fit_moments(
      source, rows,
      [&](std::int64_t row) {
        return code.transform.apply(column.number(row));
      },
      code);
  return code;
}

bool is_skewed(const Column& column, const RowNumbers& rows,
               double resolution) {
  constexpr double kLongTail = 4;
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::int64_t row : rows) {
    const double value = column.number(row);
    if (value < 0) return false;
    if (!std::isnan(value)) values.push_back(value);
  }
  if (values.empty()) return false;
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double median = *middle;
  // Else one step, such as that of small counts, is most of the scale.
  if (resolution > kOffset * median) return false;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - median > kLongTail * (median - *low);
}

FittedColumn fit_target(const Table& table, const Column& column,
                        const RowNumbers& rows) {
  FittedColumn fitted = begin_fit(column, rows);
  ColumnCode& code = fitted.code;
  if (code.type == ColumnType::Categorical) {
    const LevelCounts counts(column, rows);
    fitted.levels = counts.levels();
    code.categories = counts.names(1);
  } else {
    fit_moments(
        table.source(), rows,
        [&](std::int64_t row) { return column.number(row); }, code);
    code.resolution = smallest_step(column, rows);
  }
  return fitted;
}

}  // namespace radir::data
