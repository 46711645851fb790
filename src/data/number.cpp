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

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() ||
      text.substr(text.size() - suffix.size()) != suffix) {
    return false;
  }
  text.remove_suffix(suffix.size());
  return true;
}

constexpr std::string_view kBlanks[] = {" ", "\u00A0", "\u202F"};
constexpr std::string_view kCurrencies[] = {"$", "€", "£", "¥"};

/// Takes signs of a currency, a percent sign and blanks off both ends; whether
/// there were any signs.
bool take_units(std::string_view& text) {
  bool any = false;
  for (const std::string_view sign : kCurrencies) {
    any = any || take_prefix(text, sign);
  }
  any = any || take_suffix(text, "%");
  for (const std::string_view sign : kCurrencies) {
    any = any || take_suffix(text, sign);
  }
  for (const std::string_view blank : kBlanks) {
    if (!any) break;
    take_prefix(text, blank);
    take_suffix(text, blank);
  }
  return any;
}

/// Copies digits without the separators of their thousands, and with a point
/// for the decimal mark. Empty when the text is something else.
std::string_view without_thousands(std::string_view text, char decimal_mark,
                                   std::array<char, kLongestNumber>& copy) {
  const char separator = decimal_mark == '.' ? ',' : '.';
  const std::size_t mark = std::min(text.find(decimal_mark), text.size());
  std::size_t size = 0;
  std::size_t digits_of_group = 0;
  bool grouped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i < mark && text[i] == separator) {
      if (grouped ? digits_of_group != 3
                  : digits_of_group < 1 || digits_of_group > 3) {
        return {};
      }
      grouped = true;
      digits_of_group = 0;
    } else if (text[i] >= '0' && text[i] <= '9') {
      copy[size++] = text[i];
      if (i < mark) ++digits_of_group;
    } else if (i == mark) {
      copy[size++] = '.';
    } else {
      return {};
    }
  }
  if (grouped && digits_of_group != 3) return {};
  return {copy.data(), size};
}

CellKind parse_with_signs(std::string_view cell, char decimal_mark,
                          double& value) {
  if (cell.size() > kLongestNumber) return CellKind::Text;
  const bool minus = take_prefix(cell, "-");
  if (!minus) take_prefix(cell, "+");
  const bool units = take_units(cell);
  const bool inner_minus = units && !minus && take_prefix(cell, "-");
  std::array<char, kLongestNumber> copy;
  const std::string_view digits = without_thousands(cell, decimal_mark, copy);
  if (digits.empty() || (!units && digits.size() == cell.size())) {
    return CellKind::Text;
  }
  const CellKind kind = parse_plain(digits, value);
  if (kind == CellKind::Number && (minus || inner_minus)) value = -value;
  return kind;
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
  const CellKind kind = parse_plain_cell(cell, decimal_mark, value);
  return kind == CellKind::Text ? parse_with_signs(cell, decimal_mark, value)
                                : kind;
}

CellKind parse_plain_cell(std::string_view cell, char decimal_mark,
                          double& value) {
  if (cell.empty()) return CellKind::Missing;
  const CellKind kind = decimal_mark == ',' ? parse_with_comma(cell, value)
                                            : parse_plain(cell, value);
  if (kind == CellKind::Text && is_missing_text(cell)) return CellKind::Missing;
  return kind;
}

}  // namespace radir::data
