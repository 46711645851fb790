#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "data/column_coding.h"
#include "data/date.h"
#include "data/day_values.h"
#include "radir/core/error.h"
#include "radir/core/hash.h"
#include "radir/files/utf8.h"

namespace radir::data {
namespace {

constexpr double kTurn = 6.283185307179586;  // 2 pi

void put_cycle(double position, float*& out) {
  *out++ = static_cast<float>(std::cos(kTurn * position));
  *out++ = static_cast<float>(std::sin(kTurn * position));
}

void encode_dates(const Table& table, const Column& column,
                  const ColumnCode& code, const RowNumbers& rows, float* out,
                  std::int64_t stride) {
  const DayValues days(table.source(), column, code.date_order);
  for (std::int64_t row : rows) {
    const double day = days[row];
    if (!std::isnan(day)) {
      float* next = out;
      *next++ = static_cast<float>((day - code.mean) / code.scale);
      if (code.year_cycle) put_cycle(position_in_year(day), next);
      if (code.week_cycle) put_cycle(position_in_week(day), next);
      if (code.day_cycle) put_cycle(position_in_day(day), next);
    }
    out += stride;
  }
}

/// Levels that are not known count, and have an input of their own if the code
/// has one for them.
class OtherLevels {
 public:
  OtherLevels(const Column& column, const ColumnCode& code,
              UnseenLevels& unseen)
      : column_(column), code_(code), unseen_(unseen) {}

  void add(std::int64_t row, float* out) {
    if (code_.other) out[code_.width() - (code_.missing_input ? 2 : 1)] = 1;
    if (unseen_.count++ > 0) return;
    unseen_.column = column_.name();
    unseen_.first_row = row;
    unseen_.first_text = column_.categories().text(column_.code(row));
  }

 private:
  const Column& column_;
  const ColumnCode& code_;
  UnseenLevels& unseen_;
};

void encode_categories(const Column& column, const ColumnCode& code,
                       const RowNumbers& rows, float* out, std::int64_t stride,
                       UnseenLevels& unseen) {
  const auto indices = category_indices(column, code.categories);
  std::vector<HashedLevel> hashed;
  for (std::int32_t i = 0;
       code.hashed_inputs > 0 && i < column.categories().size(); ++i) {
    hashed.push_back(
        hashed_level(column.categories().text(i), code.hashed_inputs));
  }
  OtherLevels others(column, code, unseen);
  for (std::int64_t row : rows) {
    const std::int32_t level = column.code(row);
    if (level >= 0) {
      const auto at = static_cast<std::size_t>(level);
      if (indices[at] < 0) {
        others.add(row, out);
      } else if (hashed.empty()) {
        out[indices[at]] = 1;
      } else {
        out[hashed[at].first] = hashed[at].first_sign;
        out[hashed[at].second] = hashed[at].second_sign;
      }
    }
    out += stride;
  }
}

}  // namespace

HashedLevel hashed_level(std::string_view text, std::int64_t inputs) {
  std::uint64_t hash = kHashOfNothing;
  for (const char c : text) {
    hash = hash_with(hash, static_cast<unsigned char>(c));
  }
  const auto width = static_cast<std::uint64_t>(inputs);
  HashedLevel level;
  level.first = static_cast<std::int64_t>(hash % width);
  level.second = static_cast<std::int64_t>(
      (hash % width + 1 + (hash >> 20) % (width - 1)) % width);
  if ((hash >> 61 & 1) != 0) level.first_sign = -1;
  if ((hash >> 62 & 1) != 0) level.second_sign = -1;
  return level;
}

std::int64_t ColumnCode::width() const {
  std::int64_t width = 1;
  if (type == ColumnType::Categorical) {
    width = hashed_inputs > 0 ? hashed_inputs
                              : static_cast<std::int64_t>(categories.size());
  }
  for (const bool cycle : {year_cycle, week_cycle, day_cycle}) {
    width += cycle ? 2 : 0;
  }
  width += static_cast<std::int64_t>(pieces.size());
  return width + (other ? 1 : 0) + (missing_input ? 1 : 0);
}

DayValues::DayValues(const std::string& source, const Column& column,
                     DateOrder order)
    : column_(column) {
  for (std::int32_t i = 0; i < column.categories().size(); ++i) {
    const std::string& text = column.categories().text(i);
    const auto days = parse_date(text, order);
    RADIR_CHECK(
        days, IoError, source, ": column \"", column.name(),
        "\" holds dates, but ", files::excerpt(text), " is none of the order ",
        choice_name(date_order_choices(), order), "; write it as the others");
    days_of_code_.push_back(*days);
  }
}

double DayValues::operator[](std::int64_t row) const {
  if (column_.type() != ColumnType::Categorical) return column_.number(row);
  const std::int32_t code = column_.code(row);
  return code < 0 ? std::nan("")
                  : days_of_code_[static_cast<std::size_t>(code)];
}

std::vector<std::int64_t> category_indices(
    const Column& column, const std::vector<std::string>& categories) {
  std::unordered_map<std::string_view, std::int64_t> known;
  for (const std::string& text : categories) {
    known.emplace(text, static_cast<std::int64_t>(known.size()));
  }
  std::vector<std::int64_t> indices;
  for (std::int32_t i = 0; i < column.categories().size(); ++i) {
    const auto found = known.find(column.categories().text(i));
    indices.push_back(found == known.end() ? -1 : found->second);
  }
  return indices;
}

double standardised(const ColumnCode& code, double value) {
  return (code.transform.apply(value) - code.mean) / code.scale;
}

double target_value(const ColumnCode& code, double standardised) {
  return code.transform.invert(code.mean + code.scale * standardised);
}

void encode_number(const ColumnCode& code, double value, float* out) {
  *out++ = static_cast<float>(standardised(code, value));
  for (const NumberPiece& piece : code.pieces) {
    const double share =
        std::clamp((value - piece.from) / (piece.to - piece.from), 0.0, 1.0);
    *out++ = static_cast<float>((share - piece.mean) / piece.scale);
  }
}

void encode_numbers(const Column& column, const ColumnCode& code,
                    const RowNumbers& rows, float* out, std::int64_t stride) {
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    if (!std::isnan(value)) encode_number(code, value, out);
    out += stride;
  }
}

void encode_input(const Table& table, const Column& column,
                  const ColumnCode& code, const RowNumbers& rows, float* out,
                  std::int64_t stride, UnseenLevels& unseen) {
  switch (code.type) {
    case ColumnType::Categorical:
      encode_categories(column, code, rows, out, stride, unseen);
      break;
    case ColumnType::Date:
      encode_dates(table, column, code, rows, out, stride);
      break;
    default:
      encode_numbers(column, code, rows, out, stride);
  }
  if (!code.missing_input || column.missing() == 0) return;
  out += code.width() - 1;
  for (std::int64_t row : rows) {
    if (column.is_missing(row)) *out = 1;
    out += stride;
  }
}

}  // namespace radir::data
