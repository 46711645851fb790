#include "radir/data/column_reading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "radir/core/error.h"
#include "radir/data/table_encoder.h"
#include "radir/files/byte_source.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

using ::radir::testing::expect_error;

/// A table of `rows` rows whose cells a function writes, without a last comma.
Table table(const std::string& header, int rows,
            const std::function<std::string(int)>& cells,
            const TableOptions& options = {}) {
  std::string text = header + "\n";
  for (int i = 0; i < rows; ++i) text += cells(i) + "\n";
  return read_table(files::memory_byte_source("t.csv", text), options);
}

TableEncoder fit(const Table& table,
                 MissingValues missing = MissingValues::Indicator) {
  return TableEncoder::fit(table, "y", missing);
}

const ColumnReading& reading(const TableEncoder& encoder,
                             const std::string& name) {
  for (const ColumnReading& column : encoder.columns()) {
    if (column.name == name) return column;
  }
  throw std::out_of_range(name);
}

std::string text(int i) { return std::to_string(i); }

TEST(ColumnReading, IdsAndNearUniqueTextAreIgnored) {
  const Table given = table("id,name,x,y", 40, [](int i) {
    return text(1000 - i) + ",person " + text(i) + "," + text(i % 7) + "," +
           text(i % 11);
  });
  const TableEncoder encoder = fit(given);
  ASSERT_EQ(encoder.inputs().size(), 1u);
  EXPECT_EQ(encoder.inputs()[0].name, "x");
  EXPECT_EQ(reading(encoder, "id").role, ColumnRole::Ignored);
  EXPECT_EQ(reading(encoder, "id").text(), "ignored: it numbers the rows");
  EXPECT_EQ(reading(encoder, "name").text(),
            "ignored: 40 different texts in 40 rows");
  EXPECT_EQ(reading(encoder, "y").role, ColumnRole::Target);
  EXPECT_EQ(encoder.notes().size(), 2u);
}

TEST(ColumnReading, NumbersOfRowsNeedTheNameOfAnId) {
  const auto cells = [](int i) { return text(i) + "," + text(i % 5); };
  for (const char* name : {"ID", "row_id", "CustomerId", "Unnamed: 0", ""}) {
    expect_error<IoError>(
        [&] { fit(table(name + std::string(",y"), 40, cells)); },
        "was ignored (\"");
  }
  for (const char* name : {"time", "idea", "width", "video"}) {
    EXPECT_EQ(fit(table(name + std::string(",y"), 40, cells)).input_size(), 1);
  }
  // Repeated values are a number, as are fractions.
  EXPECT_EQ(fit(table("id,y", 40,
                      [](int i) { return text(i / 2) + "," + text(i % 5); }))
                .input_size(),
            1);
}

TEST(ColumnReading, WhatWasAskedForByNameIsUsed) {
  TableOptions options;
  options.only = {"id", "name"};
  options.target = "y";
  const Table given = table(
      "id,name,x,y", 40,
      [](int i) {
        return text(i) + ",n" + text(i) + "," + text(i % 7) + "," + text(i % 9);
      },
      options);
  const TableEncoder encoder = fit(given);
  ASSERT_EQ(encoder.inputs().size(), 2u);
  EXPECT_EQ(encoder.inputs()[1].hashed_inputs, 32);
  EXPECT_EQ(reading(encoder, "x").text(), "ignored: not asked for");
}

TEST(ColumnReading, ManyLevelsShareInputs) {
  const Table given = table("town,y", 400, [](int i) {
    return "town " + text(i % 100 + (i > 390 ? 1000 : 0)) + "," + text(i % 9);
  });
  const TableEncoder encoder = fit(given);
  const ColumnCode& code = encoder.inputs()[0];
  EXPECT_EQ(code.hashed_inputs, 32);
  EXPECT_EQ(code.categories.size(), 100u);
  EXPECT_TRUE(code.other);  // towns 1091 to 1099 have one row each
  EXPECT_EQ(encoder.input_size(), 33);
  EXPECT_EQ(reading(encoder, "town").text(),
            "category of 109 levels, hashed into 32 inputs, 9 rare ones are "
            "\"other\"");
  const EncodedRows rows = encoder.encode(given, true);
  std::set<std::vector<float>> codes;
  for (std::int64_t i = 0; i < 391; ++i) {
    const float* row = rows.inputs.data() + i * 33;
    codes.insert(std::vector<float>(row, row + 32));
    float squares = 0;
    for (int j = 0; j < 32; ++j) squares += row[j] * row[j];
    EXPECT_EQ(squares, 2);
    EXPECT_EQ(row[32], 0);
  }
  EXPECT_GT(codes.size(), 90u);  // few of a hundred levels collide
  EXPECT_EQ(rows.inputs[395 * 33 + 32], 1);
  ASSERT_EQ(rows.unseen.size(), 1u);
  EXPECT_EQ(rows.unseen[0].count, 9);
}

TEST(ColumnReading, TheHashIsTheDocumentedOne) {
  // FNV-1a of "a" is 0xaf63dc4c8601ec8c.
  const HashedLevel level = hashed_level("a", 32);
  EXPECT_EQ(level.first, 0x8c % 32);
  EXPECT_EQ(level.second, (12 + 1 + (0xaf63dc4c8601ec8c >> 20) % 31) % 32);
  EXPECT_EQ(level.first_sign, -1);
  EXPECT_EQ(level.second_sign, 1);
}

TEST(ColumnReading, RareLevelsOfAFewDozenAreOther) {
  const TableEncoder encoder = fit(table("town,y", 200, [](int i) {
    return "t" + text(i < 180 ? i % 20 : i) + "," + text(i % 9);
  }));
  const ColumnCode& code = encoder.inputs()[0];
  EXPECT_EQ(code.hashed_inputs, 0);
  EXPECT_EQ(code.categories.size(), 20u);
  EXPECT_TRUE(code.other);
  EXPECT_EQ(encoder.input_size(), 21);
}

TEST(ColumnReading, DatesBecomeDaysAndCycles) {
  const Table given = table("when,x,y", 500, [](int i) {
    char date[32];
    std::snprintf(date, sizeof date, "%d-%02d-%02d %02d:00", 2020 + i / 200,
                  i % 12 + 1, i % 28 + 1, i % 24);
    return std::string(date) + "," + text(i % 7) + "," + text(i % 11);
  });
  EXPECT_EQ(given.column("when").type(), ColumnType::Date);
  const TableEncoder encoder = fit(given);
  const ColumnCode& code = encoder.inputs()[0];
  EXPECT_EQ(code.type, ColumnType::Date);
  EXPECT_TRUE(code.year_cycle && code.week_cycle && code.day_cycle);
  EXPECT_EQ(code.width(), 7);
  EXPECT_EQ(reading(encoder, "when").text(),
            "date, 2020-01-01 to 2022-12-28 11:00, position in the year, "
            "position in the week, position in the day");
  const EncodedRows rows = encoder.encode(given, true);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const float* row = rows.inputs.data() + i * 8;
    for (int cycle = 1; cycle < 7; cycle += 2) {
      EXPECT_NEAR(std::hypot(row[cycle], row[cycle + 1]), 1, 1e-6);
    }
  }
  // Six in the morning.
  EXPECT_NEAR(rows.inputs[6 * 8 + 5], 0, 1e-6);
  EXPECT_NEAR(rows.inputs[6 * 8 + 6], 1, 1e-6);
}

TEST(ColumnReading, AFewDaysHaveNoCycles) {
  const TableEncoder encoder = fit(table("when,y", 30, [](int i) {
    return "2024-01-0" + text(i % 9 + 1) + "," + text(i % 7);
  }));
  EXPECT_EQ(encoder.input_size(), 1);
}

TEST(ColumnReading, DatesInMemoryAreTextAndReadAsWell) {
  Column when("when", ColumnType::Categorical);
  Column y("y", ColumnType::Numeric);
  for (int i = 0; i < 20; ++i) {
    when.append_category("2024-02-" + text(i + 10));
    y.append_number(i % 7);
  }
  const Table given("memory", {when, y});
  const TableEncoder encoder = fit(given);
  EXPECT_EQ(encoder.inputs()[0].type, ColumnType::Date);
  EXPECT_EQ(encoder.encode(given, true).count, 20);
  Column bad("when", ColumnType::Categorical);
  bad.append_category("yesterday");
  expect_error<IoError>(
      [&] { encoder.encode(Table("memory", {bad}), false); },
      "column \"when\" holds dates, but \"yesterday\" is none of the order "
      "year-month-day");
}

TEST(ColumnReading, UnclearDatesAreIgnoredAndSaidSo) {
  const TableEncoder encoder = fit(table("when,x,y", 11, [](int i) {
    return text(i + 1) + "/" + text(i + 2 > 12 ? 1 : i + 1) + "/2024," +
           text(i) + "," + text(i % 7);
  }));
  EXPECT_NE(reading(encoder, "when").note.find("day and month"),
            std::string::npos);
  // Few of them are levels.
  const TableEncoder few = fit(table("when,x,y", 30, [](int i) {
    const std::string day = text(i % 5 + 1);
    return day + "/" + day + "/2024," + text(i) + "," + text(i % 7);
  }));
  EXPECT_EQ(reading(few, "when").text(),
            "category of 5 levels, its dates do not tell day and month apart; "
            "write them as 2024-01-31");
  const TableEncoder mixed = fit(table("when,x,y", 20, [](int i) {
    return (i % 2 == 0 ? "2024-01-" + text(i + 10) : text(i + 9) + ".03.2024") +
           "," + text(i) + "," + text(i % 7);
  }));
  EXPECT_EQ(reading(mixed, "when").text(),
            "ignored: its dates are written in different ways; write them as "
            "2024-01-31");
}

TEST(ColumnReading, TextAmongNumbersIsNamed) {
  const TableEncoder encoder = fit(table("x,z,y", 60, [](int i) {
    return (i % 6 == 0 ? "-" : text(i * 3 % 17)) + "," + text(i) + "," +
           text(i % 7);
  }));
  EXPECT_EQ(reading(encoder, "x").text(),
            "category of 18 levels, most are numbers; leave cells such as "
            "\"-\" empty to read it as one");
}

TEST(ColumnReading, MissingValuesHaveAnInputWhereTheyOccurred) {
  const Table given = table("a,b,c,y", 30, [](int i) {
    return (i == 3 ? "" : text(i)) + "," + text(i % 5) + "," +
           (i % 2 == 0 ? "yes" : "") + "," + (i == 7 ? "" : text(i % 9));
  });
  const TableEncoder encoder = fit(given);
  EXPECT_TRUE(encoder.inputs()[0].missing_input);
  EXPECT_FALSE(encoder.inputs()[1].missing_input);
  EXPECT_EQ(encoder.inputs()[2].width(), 2);  // yes, and missing
  EXPECT_EQ(reading(encoder, "a").text(), "number, 1 missing");
  ASSERT_EQ(encoder.notes().size(), 1u);
  EXPECT_EQ(encoder.notes()[0], "ignored 1 of 30 rows with a missing target");
  const EncodedRows rows = encoder.encode(given, true);
  EXPECT_EQ(rows.count, 29);
  EXPECT_EQ(rows.inputs[3 * 5 + 0], 0);
  EXPECT_EQ(rows.inputs[3 * 5 + 1], 1);
  EXPECT_EQ(rows.inputs[4 * 5 + 1], 0);
  EXPECT_EQ(rows.inputs[3 * 5 + 3], 0);
  EXPECT_EQ(rows.inputs[3 * 5 + 4], 1);
}

TEST(ColumnReading, FewValuesOfTheTargetHintAtClasses) {
  const auto remarks = [](int values, int rows) {
    return fit(table("x,y", rows,
                     [&](int i) {
                       return text(i * i % 17) + "," + text(i % values);
                     }))
        .notes();
  };
  ASSERT_EQ(remarks(2, 30).size(), 1u);
  EXPECT_EQ(remarks(2, 30)[0],
            "the target \"y\" has only 2 different values (0 and 1) and is "
            "predicted as a number; for classes with probabilities, add "
            "--categorical y");
  EXPECT_EQ(remarks(3, 30).size(), 1u);
  EXPECT_TRUE(remarks(8, 30).empty());
  EXPECT_TRUE(remarks(2, 10).empty());
}

TEST(ColumnReading, SurvivesJson) {
  const Table given = table("when,town,x,y", 200, [](int i) {
    return "2024-03-" + text(i % 20 + 10) + ",t" + text(i % 50) + "," +
           (i == 5 ? "" : text(i % 13)) + "," + text(i % 9);
  });
  TableEncoder encoder = fit(given);
  encoder.set_id("name");
  const TableEncoder copy = TableEncoder::from_json(encoder.to_json());
  EXPECT_EQ(copy.to_json(), encoder.to_json());
  EXPECT_EQ(copy.id(), "name");
  EXPECT_EQ(copy.encode(given, true).inputs,
            encoder.encode(given, true).inputs);
  const auto columns =
      column_readings_from_json(to_json(describe_columns(encoder)), "t");
  ASSERT_EQ(columns.size(), 4u);
  EXPECT_EQ(to_json(columns), to_json(encoder.columns()));
  // What a model tells: no counts, but the columns.
  const auto of_model = describe_columns(copy);
  ASSERT_EQ(of_model.size(), 5u);
  EXPECT_EQ(of_model[1].inputs, 32);
  EXPECT_EQ(of_model[4].text(), "id: carried into the predictions");
  expect_error<IoError>(
      [] {
        column_readings_from_json({{{"name", "a"}}}, "config.json");
      },
      "config.json");
  expect_error<ArgumentError>([&] { encoder.set_id("x"); },
                              "neither target nor input");
}

TEST(ColumnReading, AsVersionOneDidEverythingIsUsed) {
  TableOptions options;
  options.as_is = true;
  const Table given = table(
      "id,name,share,y", 40,
      [](int i) {
        return text(i) + ",n" + text(i) + "," + text(i % 3) + " %," +
               text(i % 9);
      },
      options);
  EXPECT_EQ(fit(given).input_size(), 1 + 40 + 3);
}

}  // namespace
}  // namespace radir::data
