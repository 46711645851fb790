#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/table.h"

namespace radir::data {

/// The days of a column of dates, which may be stored as text.
class DayValues {
 public:
  /// Throws IoError for a text that is no date of this order.
  DayValues(const std::string& source, const Column& column, DateOrder order);

  /// NaN where it is missing.
  double operator[](std::int64_t row) const;

 private:
  const Column& column_;
  std::vector<double> days_of_code_;  // of text
};

}  // namespace radir::data
