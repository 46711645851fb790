#include "radir/report/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::report {
namespace {

using ::radir::testing::expect_error;

Table methods() {
  return {{{"method", "Method"}, {"error", "Error", 3}, {"count", "n"}},
          {{std::string("naïve"), 0.123456, std::int64_t{12}},
           {std::string("a,b"), std::numeric_limits<double>::quiet_NaN(),
            std::monostate{}}}};
}

TEST(Table, TextIsAlignedByCharactersNotBytes) {
  EXPECT_EQ(to_text(methods()),
            "Method  Error    n\n"
            "──────  ─────  ───\n"
            "naïve   0.123   12\n"
            "a,b       nan    –\n");
}

TEST(Table, Markdown) {
  EXPECT_EQ(to_markdown(methods()),
            "| Method | Error |   n |\n"
            "| ------ | ----: | --: |\n"
            "| naïve  | 0.123 |  12 |\n"
            "| a,b    |   nan |   – |\n");
}

TEST(Table, HtmlEscapesAndMarksNumbers) {
  Table table = methods();
  table.columns[1].title = "|ε_{r}| < 1";
  const std::string html = to_html(table);
  EXPECT_NE(html.find("<th class=\"number\">|ε<sub>r</sub>| &lt; 1</th>"),
            std::string::npos)
      << html;
  EXPECT_NE(html.find("<td>naïve</td><td class=\"number\">0.123</td>"),
            std::string::npos)
      << html;
}

TEST(Table, CsvKeepsAllDigitsAndQuotesCommas) {
  EXPECT_EQ(to_csv(methods()),
            "method,error,count\n"
            "naïve,0.123456,12\n"
            "\"a,b\",nan,\n");
}

TEST(Table, JsonIsOneObjectPerRow) {
  const auto json = nlohmann::json::parse(to_json(methods()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["method"], "naïve");
  EXPECT_EQ(json[0]["error"], 0.123456);
  EXPECT_EQ(json[0]["count"], 12);
  EXPECT_TRUE(json[1]["error"].is_null());
  EXPECT_TRUE(json[1]["count"].is_null());
}

TEST(Table, JsonOfNoRowsIsAnEmptyArray) {
  EXPECT_EQ(to_json({{{"a", "A"}}, {}}), "[]");
}

TEST(Table, RowsMustFitTheColumns) {
  Table table = methods();
  table.rows[1].pop_back();
  const std::string part = "row 1 has 2 cells, but the table has 3 columns";
  expect_error<ArgumentError>([&] { to_text(table); }, part);
  expect_error<ArgumentError>([&] { to_markdown(table); }, part);
  expect_error<ArgumentError>([&] { to_html(table); }, part);
  expect_error<ArgumentError>([&] { to_csv(table); }, part);
  expect_error<ArgumentError>([&] { to_json(table); }, part);
}

TEST(Table, LongTextsInHtmlAreBrokenIntoLines) {
  const Table table = {{{"a", "A"}}, {{std::string(25, 'x')}, {"short"}}};
  const std::string html = to_html(table);
  EXPECT_NE(html.find("<td class=\"long\">xxx"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>short</td>"), std::string::npos) << html;
}

TEST(Table, FiguresForPeopleHaveFewDigitsAndNoPowersOfTen) {
  EXPECT_EQ(figure_text(32471.6), "32,470");
  EXPECT_EQ(figure_text(-1234567), "-1,235,000");
  EXPECT_EQ(figure_text(123456, 3), "123,000");
  EXPECT_EQ(figure_text(9999.9), "10,000");
  EXPECT_EQ(figure_text(999.94), "999.9");
  EXPECT_EQ(figure_text(0.000123456), "0.0001235");
  EXPECT_EQ(figure_text(1.5e12), "1.5e+12");
  EXPECT_EQ(figure_text(2e-7), "2e-07");
}

}  // namespace
}  // namespace radir::report
