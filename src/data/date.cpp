#include "data/date.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace radir::data {
namespace {

constexpr std::array<DateOrder, 4> kOrders = {
    DateOrder::YearMonthDay, DateOrder::DayMonthYear, DateOrder::MonthDayYear,
    DateOrder::TimeOfDay};
constexpr double kSecondsPerDay = 86400;
constexpr double kDaysPerYear = 365.2425;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes parts off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }

  /// Whether this character comes next; takes it.
  bool take(char c) {
    if (next() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// The word comes next, in any case; takes it.
  bool take_word(std::string_view lower) {
    if (rest_.size() < lower.size()) return false;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const char c = rest_[i];
      if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != lower[i]) return false;
    }
    rest_.remove_prefix(lower.size());
    return true;
  }

  /// A number of `least` to `most` digits, all that come next.
  std::optional<int> number(std::size_t least, std::size_t most) {
    std::size_t digits = 0;
    int value = 0;
    while (digits < rest_.size() && is_digit(rest_[digits])) {
      if (digits == most) return std::nullopt;
      value = 10 * value + (rest_[digits++] - '0');
    }
    if (digits < least) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  /// ".25" as 0.25.
  double fraction() {
    double value = 0;
    if (rest_.size() < 2 || rest_[0] != '.' || !is_digit(rest_[1]))
      return value;
    rest_.remove_prefix(1);
    for (double digit = 0.1; !rest_.empty() && is_digit(next()); digit /= 10) {
      value += digit * (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view rest_;
};

bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30,
                                         31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year)
             ? 29
             : kDays[static_cast<std::size_t>(month) - 1];
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (H. Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", days_from_civil).
int days_from_civil(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = (year >= 0 ? year : year - 399) / 400;
  const int year_of_era = year - era * 400;
  const int day_of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

struct CivilDate {
  int year;
  int month;
  int day;
};

/// The inverse of days_from_civil.
CivilDate civil_from_days(int days) {
  days += 719468;
  const int era = (days >= 0 ? days : days - 146096) / 146097;
  const int day_of_era = days - era * 146097;
  const int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                           day_of_era / 146096) /
                          365;
  const int day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int shifted = (5 * day_of_year + 2) / 153;
  const int month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

/// Hours and minutes of a zone as a fraction of a day; 0 without one.
std::optional<double> take_zone(Scanner& text) {
  text.take(' ');
  if (text.at_end() || text.take_word("z") || text.take_word("utc") ||
      text.take_word("gmt")) {
    return 0;
  }
  const char sign = text.next();
  if (!text.take('+') && !text.take('-')) return std::nullopt;
  auto hours = text.number(2, 4);
  if (!hours) return std::nullopt;
  int minutes = 0;
  if (text.take(':')) {
    const auto given = text.number(2, 2);
    if (!given) return std::nullopt;
    minutes = *given;
  } else if (*hours >= 100) {
    minutes = *hours % 100;
    *hours /= 100;
  }
  if (*hours > 14 || minutes > 59) return std::nullopt;
  const double days = (*hours + minutes / 60.0) / 24;
  return sign == '-' ? -days : days;
}

/// A time of day and its zone, up to the end, as a fraction of a day.
std::optional<double> take_time(Scanner& text) {
  const auto hour = text.number(1, 2);
  if (!hour || !text.take(':')) return std::nullopt;
  const auto minute = text.number(2, 2);
  if (!minute) return std::nullopt;
  double seconds = 0;
  if (text.take(':')) {
    const auto given = text.number(2, 2);
    if (!given || *given > 60) return std::nullopt;  // 60: a leap second
    seconds = *given + text.fraction();
  }
  text.take(' ');
  const bool morning = text.take_word("am");
  const bool afternoon = !morning && text.take_word("pm");
  const bool half_day = morning || afternoon;
  if (*hour > (half_day ? 12 : 23) || (half_day && *hour == 0) ||
      *minute > 59) {
    return std::nullopt;
  }
  const int hour_of_day = half_day ? *hour % 12 + (afternoon ? 12 : 0) : *hour;
  const auto zone = take_zone(text);
  if (!zone || !text.at_end()) return std::nullopt;
  return (3600 * hour_of_day + 60 * *minute + seconds) / kSecondsPerDay - *zone;
}

/// Day, month and year, whose order is known.
std::optional<int> take_day(Scanner& text, DateOrder order) {
  const bool year_first = order == DateOrder::YearMonthDay;
  const auto first = text.number(year_first ? 4 : 1, year_first ? 4 : 2);
  const char mark = text.next();
  if (!first || !(text.take('-') || text.take('/') || text.take('.'))) {
    return std::nullopt;
  }
  if (mark == '.' && order == DateOrder::MonthDayYear) return std::nullopt;
  const auto second = text.number(year_first && mark == '-' ? 2 : 1, 2);
  if (!second) return std::nullopt;
  CivilDate date = {*first, *second, 1};
  if (!(year_first && mark == '-' && text.at_end())) {
    if (!text.take(mark)) return std::nullopt;
    const auto third = text.number(year_first ? 1 : 4, year_first ? 2 : 4);
    if (!third) return std::nullopt;
    date.day = *third;
    if (!year_first) {
      const bool month_first = order == DateOrder::MonthDayYear;
      date = {*third, month_first ? *first : *second,
              month_first ? *second : *first};
    }
  }
  if (date.year < 1 || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > days_in_month(date.year, date.month)) {
    return std::nullopt;
  }
  return days_from_civil(date.year, date.month, date.day);
}

}  // namespace

std::optional<double> parse_date(std::string_view text, DateOrder order) {
  Scanner scanner(text);
  if (order == DateOrder::TimeOfDay) return take_time(scanner);
  const auto day = take_day(scanner, order);
  if (!day || scanner.at_end()) return day;
  if (!scanner.take(' ') && !scanner.take('T') && !scanner.take('t')) {
    return std::nullopt;
  }
  const auto time = take_time(scanner);
  if (!time) return std::nullopt;
  return *day + *time;
}

void DateEvidence::add(std::string_view text) {
  ++count_;
  // After a text that is no date the others do not matter.
  if (dates_ + 1 < count_) return;
  bool is_date = false;
  for (std::size_t i = 0; i < kOrders.size(); ++i) {
    if (parse_date(text, kOrders[i])) {
      is_date = true;
    } else {
      possible_ &= ~(1U << i);
    }
  }
  if (is_date) ++dates_;
}

std::optional<DateOrder> DateEvidence::order() const {
  if (count_ == 0) return std::nullopt;
  for (std::size_t i = 0; i < kOrders.size(); ++i) {
    if (possible_ == 1U << i) return kOrders[i];
  }
  return std::nullopt;
}

double position_in_year(double days) {
  const auto day = static_cast<int>(std::floor(days));
  const int start = days_from_civil(civil_from_days(day).year, 1, 1);
  return std::fmod((days - start) / kDaysPerYear, 1);
}

double position_in_week(double days) {
  const double since_monday = days + 3;  // 1970-01-01 was a Thursday
  return (since_monday - 7 * std::floor(since_monday / 7)) / 7;
}

double position_in_day(double days) { return days - std::floor(days); }

std::string date_text(double days, DateOrder order) {
  const double day = std::floor(days);
  const auto minutes = static_cast<int>(std::floor(1440 * (days - day) + 1e-6));
  char time[16];
  std::snprintf(time, sizeof time, "%02d:%02d", minutes / 60, minutes % 60);
  if (order == DateOrder::TimeOfDay) return time;
  const CivilDate date = civil_from_days(static_cast<int>(day));
  char text[48];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d%s%s", date.year, date.month,
                date.day, minutes > 0 ? " " : "", minutes > 0 ? time : "");
  return text;
}

}  // namespace radir::data
