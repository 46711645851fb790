#include "data/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace radir::data {
namespace {

double number(const char* text, char decimal_mark = '.') {
  double value = 0;
  const CellKind kind = parse_cell(text, decimal_mark, value);
  return kind == CellKind::Number ? value : NAN;
}

TEST(Number, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(number("1,234"), 1234);
  EXPECT_EQ(number("-1,234,567.5"), -1234567.5);
  EXPECT_EQ(number("5 %"), 5);
  EXPECT_EQ(number("12.5%"), 12.5);
  EXPECT_EQ(number("$3.20"), 3.2);
  EXPECT_EQ(number("-$1,003.20"), -1003.2);
  EXPECT_EQ(number("$-3.20"), -3.2);
  EXPECT_EQ(number("€ 3"), 3);
  EXPECT_EQ(number("3 £"), 3);
  EXPECT_EQ(number("+1,000"), 1000);
  EXPECT_EQ(number("1.234,5", ','), 1234.5);
  EXPECT_EQ(number("3,20 €", ','), 3.2);
  EXPECT_EQ(number("3,20\u00A0€", ','), 3.2);
}

TEST(Number, OtherTextStaysText) {
  for (const char* text : {"12,34", "1,2345", ",123", "1,234,56", "1234,567",
                           "$", "%", "$%", "5 % of", "$3$", "1,234e5", "3 kg",
                           "--5 %", "1.234.567", "$$5", "5 %%", "$1.2.3"}) {
    double value = 0;
    EXPECT_EQ(parse_cell(text, '.', value), CellKind::Text) << text;
  }
  double value = 0;
  EXPECT_EQ(parse_plain_cell("5 %", '.', value), CellKind::Text);
}

}  // namespace
}  // namespace radir::data
