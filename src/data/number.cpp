#include "data/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace radir::data {
namespace {

constexpr std::size_t kLongestNumber = 128;

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) {
                      return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
                    });
}

// std::from_chars says "out of range" for both 1e999 and 1e-999; a long double
// tells them apart, up to exponents that are nobody's data.
CellKind out_of_range(const char* begin, const char* end, double& value) {
  long double wide = 0;
  const auto parsed = std::from_chars(begin, end, wide);
  if (parsed.ec != std::errc() || std::fabs(wide) > 1) {
    return CellKind::TooLarge;
  }
  value = 0;
  return CellKind::Number;
}

CellKind parse_plain(std::string_view cell, double& value) {
  const char* begin = cell.data();
  const char* const end = begin + cell.size();
  if (cell.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  double parsed_value = 0;
  const auto parsed = std::from_chars(begin, end, parsed_value);
  if (parsed.ptr != end) return CellKind::Text;
  if (parsed.ec == std::errc::result_out_of_range) {
    return out_of_range(begin, end, value);
  }
  if (parsed.ec != std::errc()) return CellKind::Text;
  if (std::isnan(parsed_value)) return CellKind::Missing;
  if (std::isinf(parsed_value)) return CellKind::TooLarge;
  value = parsed_value;
  return CellKind::Number;
}

// The same with a comma for the decimal point; a point is then no number.
CellKind parse_with_comma(std::string_view cell, double& value) {
  if (cell.size() > kLongestNumber || cell.find('.') != cell.npos) {
    return CellKind::Text;
  }
  std::array<char, kLongestNumber> copy;
  std::replace_copy(cell.begin(), cell.end(), copy.begin(), ',', '.');
  return parse_plain({copy.data(), cell.size()}, value);
}

}  // namespace

bool is_missing_text(std::string_view cell) {
  if (cell.empty()) return true;
  // Most strings differ in their first letter or length.
  constexpr std::string_view kFirstLetters = "?#nN";
  if (cell.size() > 4 || kFirstLetters.find(cell[0]) == cell.npos) return false;
  for (const std::string_view marker :
       {"?", "na", "n/a", "#n/a", "nan", "null", "none"}) {
    if (equal_ignoring_case(cell, marker)) return true;
  }
  return false;
}

CellKind parse_cell(std::string_view cell, char decimal_mark, double& value) {
  if (cell.empty()) return CellKind::Missing;
  const CellKind kind = decimal_mark == ',' ? parse_with_comma(cell, value)
                                            : parse_plain(cell, value);
  if (kind == CellKind::Text && is_missing_text(cell)) return CellKind::Missing;
  return kind;
}

}  // namespace radir::data
