#include "radir/core/settings.h"

#include <cmath>
#include <sstream>

#include "radir/core/text_stream.h"

namespace radir {

bool Range::contains(double value) const {
  if (!std::isfinite(value)) return false;
  return (least_included ? value >= least : value > least) &&
         (most_included ? value <= most : value < most);
}

std::string Range::text() const {
  const bool has_least = std::isfinite(least);
  const bool has_most = std::isfinite(most);
  std::ostringstream text = text_stream();
  if (has_least && has_most) {
    text << (least_included ? "from " : "between ") << least
         << (least_included ? " to " : " and ")
         << (least_included && !most_included ? "below " : "") << most;
  } else if (has_least) {
    text << (least_included ? ">= " : "> ") << least;
  } else if (has_most) {
    text << (most_included ? "<= " : "< ") << most;
  } else {
    text << "finite";
  }
  return text.str();
}

Range any_number() { return {}; }

Range above(double bound) {
  Range range;
  range.least = bound;
  range.least_included = false;
  return range;
}

Range at_least(double bound) {
  Range range;
  range.least = bound;
  return range;
}

Range between(double least, double most) {
  Range range;
  range.least = least;
  range.most = most;
  return range;
}

Range inside(double least, double most) {
  Range range = between(least, most);
  range.least_included = range.most_included = false;
  return range;
}

Range half_open(double least, double most) {
  Range range = between(least, most);
  range.most_included = false;
  return range;
}

void SettingsCheck::number(const Setting& setting, double& value) {
  RADIR_CHECK(setting.range.contains(value), ArgumentError, what_, ": ",
              setting.name, " must be ", setting.range.text(), ", but is ",
              value);
}

void SettingsCheck::integer(const Setting& setting, std::int64_t& value) {
  RADIR_CHECK(setting.range.contains(static_cast<double>(value)), ArgumentError,
              what_, ": ", setting.name, " must be ", setting.range.text(),
              ", but is ", value);
}

void SettingsCheck::integers(const Setting& setting,
                             std::vector<std::int64_t>& value) {
  for (std::int64_t& number : value) integer(setting, number);
}

void SettingsCheck::optional_number(const Setting& setting,
                                    std::optional<double>& value) {
  if (value) number(setting, *value);
}

void SettingsCheck::optional_integer(const Setting& setting,
                                     std::optional<std::int64_t>& value) {
  if (value) integer(setting, *value);
}

}  // namespace radir
