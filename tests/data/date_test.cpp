#include "data/date.h"

#include <gtest/gtest.h>

#include <cmath>

namespace radir::data {
namespace {

constexpr double kDay2024 = 19723;  // 2024-01-01

TEST(Date, IsDaysSince1970) {
  const auto days = [](const char* text, DateOrder order) {
    return parse_date(text, order).value_or(NAN);
  };
  const DateOrder year_first = DateOrder::YearMonthDay;
  EXPECT_EQ(days("1970-01-01", year_first), 0);
  EXPECT_EQ(days("1969-12-31", year_first), -1);
  EXPECT_EQ(days("2024-01-01", year_first), kDay2024);
  EXPECT_EQ(days("2024/1/31", year_first), kDay2024 + 30);
  EXPECT_EQ(days("2024-02-29", year_first), kDay2024 + 59);
  EXPECT_EQ(days("2024-02", year_first), kDay2024 + 31);
  EXPECT_EQ(days("31.01.2024", DateOrder::DayMonthYear), kDay2024 + 30);
  EXPECT_EQ(days("31/1/2024", DateOrder::DayMonthYear), kDay2024 + 30);
  EXPECT_EQ(days("1/31/2024", DateOrder::MonthDayYear), kDay2024 + 30);
  EXPECT_EQ(days("0001-01-01", year_first), -719162);
}

TEST(Date, TimesAreFractionsOfADay) {
  const auto days = [](const std::string& time) {
    return parse_date("2024-01-01" + time, DateOrder::YearMonthDay)
               .value_or(NAN) -
           kDay2024;
  };
  EXPECT_DOUBLE_EQ(days("T06:00:00Z"), 0.25);
  EXPECT_DOUBLE_EQ(days(" 12:00"), 0.5);
  EXPECT_NEAR(days(" 00:00:01.5"), 1.5 / 86400, 1e-11);
  EXPECT_NEAR(days(" 6:00 PM"), 0.75, 1e-11);
  EXPECT_NEAR(days(" 12:00 am"), 0, 1e-11);
  EXPECT_NEAR(days("T06:00+02:00"), 4 / 24.0, 1e-11);
  EXPECT_NEAR(days("T06:00-0330"), 9.5 / 24, 1e-11);
  EXPECT_DOUBLE_EQ(*parse_date("17:30", DateOrder::TimeOfDay), 17.5 / 24);
}

TEST(Date, OtherTextIsNone) {
  for (const char* text :
       {"", "2024", "2024-13-01", "2024-00-01", "2023-02-29", "2024-01-32",
        "2024-01-01x", "2024-01-01 25:00", "2024-01-01 10:60", "2024-01-01T10",
        "2024-01/01", "24-01-01", "2024-1-1-1", "12.5",
        "2024-01-01 10:00 +99:00", "2024-01-01 13:00 PM", "-2024-01-01"}) {
    for (const DateOrder order :
         {DateOrder::YearMonthDay, DateOrder::DayMonthYear,
          DateOrder::MonthDayYear, DateOrder::TimeOfDay}) {
      EXPECT_FALSE(parse_date(text, order)) << text;
    }
  }
  EXPECT_FALSE(parse_date("12.31.2024", DateOrder::MonthDayYear));
}

TEST(Date, TheOrderIsToldByTheColumn) {
  const auto evidence = [](std::vector<const char*> texts) {
    DateEvidence result;
    for (const char* text : texts) result.add(text);
    return result;
  };
  EXPECT_EQ(evidence({"2024-01-31", "2023-05-06 10:00"}).order(),
            DateOrder::YearMonthDay);
  EXPECT_EQ(evidence({"01.02.2023"}).order(), DateOrder::DayMonthYear);
  EXPECT_EQ(evidence({"01/02/2023", "12/31/2023"}).order(),
            DateOrder::MonthDayYear);
  EXPECT_EQ(evidence({"01/02/2023", "31/12/2023"}).order(),
            DateOrder::DayMonthYear);
  const DateEvidence unclear = evidence({"01/02/2023", "03/04/2023"});
  EXPECT_FALSE(unclear.order());
  EXPECT_TRUE(unclear.all_dates());
  const DateEvidence mixed = evidence({"31/12/2023", "12/31/2023"});
  EXPECT_FALSE(mixed.order());
  EXPECT_FALSE(mixed.all_dates());
  EXPECT_TRUE(mixed.all_dates_of_some_order());
  EXPECT_FALSE(
      evidence({"2023-12-31", "x", "31.12.2023"}).all_dates_of_some_order());
  EXPECT_FALSE(evidence({}).all_dates_of_some_order());
  EXPECT_FALSE(evidence({}).order());
  EXPECT_EQ(evidence({"10:00", "23:59:59"}).order(), DateOrder::TimeOfDay);
}

TEST(Date, HasPositionsInItsCycles) {
  EXPECT_EQ(position_in_year(kDay2024), 0);
  EXPECT_NEAR(position_in_year(kDay2024 + 182.5), 0.5, 2e-3);
  EXPECT_EQ(position_in_week(kDay2024), 0);  // a Monday
  EXPECT_DOUBLE_EQ(position_in_week(kDay2024 + 6), 6 / 7.0);
  EXPECT_DOUBLE_EQ(position_in_week(-1), 2 / 7.0);  // 1969-12-31, a Wednesday
  EXPECT_DOUBLE_EQ(position_in_day(kDay2024 + 0.25), 0.25);
  EXPECT_DOUBLE_EQ(position_in_day(-0.25), 0.75);
}

TEST(Date, IsWrittenForPeople) {
  EXPECT_EQ(date_text(kDay2024 + 30, DateOrder::DayMonthYear), "2024-01-31");
  EXPECT_EQ(date_text(kDay2024 + 17.5 / 24, DateOrder::YearMonthDay),
            "2024-01-01 17:30");
  EXPECT_EQ(date_text(17.5 / 24, DateOrder::TimeOfDay), "17:30");
  EXPECT_EQ(date_text(-1, DateOrder::YearMonthDay), "1969-12-31");
}

}  // namespace
}  // namespace radir::data
