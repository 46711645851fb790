#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "radir/data/table.h"

namespace radir::data {

/// Days since 1970-01-01 00:00 UTC, the time of day as a fraction; of
/// DateOrder::TimeOfDay the fraction alone. Nothing when the text is no date of
/// this order.
///
/// A date has a year of four digits, or is a month as 2024-01; '-', '/' or '.'
/// stand between its parts (a point never in MonthDayYear). A time may follow
/// after a blank or a T: 17:30, 17:30:15.25, 5:30 PM; and a zone: Z or +02:00.
std::optional<double> parse_date(std::string_view text, DateOrder order);

/// Whether texts are dates, and of which order.
class DateEvidence {
 public:
  void add(std::string_view text);
  /// All texts are dates; there is at least one.
  bool all_dates() const { return count_ > 0 && possible_ != 0; }
  /// Each text is a date, but maybe of another order than the others; there is
  /// at least one.
  bool all_dates_of_some_order() const {
    return count_ > 0 && dates_ == count_;
  }
  /// The order of all texts; nothing where they are not all dates, or have more
  /// than one order.
  std::optional<DateOrder> order() const;

 private:
  std::size_t count_ = 0;
  std::size_t dates_ = 0;   // of these, in any order
  unsigned possible_ = 15;  // a bit for each order
};

// Where a date lies in its year, in its week (from Monday) and in its day, each
// from 0 to below 1.
double position_in_year(double days);
double position_in_week(double days);
double position_in_day(double days);

/// "2024-01-31", "2024-01-31 17:30", or "17:30" of a time of day.
std::string date_text(double days, DateOrder order);

}  // namespace radir::data
