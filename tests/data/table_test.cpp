#include "radir/data/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/largest_allocation.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using testing::expect_error;

Table table_of(std::string_view text, const TableOptions& options = {}) {
  return read_table(files::memory_byte_source("t.csv", text), options);
}

TableFormat format_of(std::string_view text) {
  return TableReader(files::memory_byte_source("t.csv", text)).format();
}

std::vector<double> numbers_of(const Column& column) {
  std::vector<double> values(static_cast<std::size_t>(column.size()));
  column.copy_numbers(0, column.size(), values.data());
  return values;
}

std::vector<std::string> texts_of(const Column& column) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < column.size(); ++i) {
    texts.push_back(column.is_missing(i)
                        ? "(missing)"
                        : column.categories().text(column.code(i)));
  }
  return texts;
}

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

// --- what the reader finds by itself -------------------------------------

TEST(Table, ReadsNumbersAndCategoriesUnderAHeader) {
  const Table table = table_of("age,city\n31,Oslo\n-4.5e1,Bergen\n7,Oslo\n");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.column_names(), (Texts{"age", "city"}));
  EXPECT_EQ(table.column("age").type(), ColumnType::Numeric);
  EXPECT_EQ(numbers_of(table.column("age")), (Numbers{31, -45, 7}));
  EXPECT_EQ(table.column("city").type(), ColumnType::Categorical);
  EXPECT_EQ(texts_of(table.column("city")), (Texts{"Oslo", "Bergen", "Oslo"}));
  EXPECT_EQ(table.column("city").categories().size(), 2);
  EXPECT_EQ(table.column("city").code(2), 0);
}

TEST(Table, FindsTheSeparator) {
  EXPECT_EQ(format_of("1,2\n3,4\n").separator, ',');
  EXPECT_EQ(format_of("1;2\n3;4\n").separator, ';');
  EXPECT_EQ(format_of("1\t2\n3\t4\n").separator, '\t');
  EXPECT_EQ(format_of("  1   2\n 3 \t 4 \n").separator, ' ');
  EXPECT_EQ(format_of("a b,c d\ne f,g h i\n").separator, ',');
  EXPECT_EQ(format_of("1,5;2,5;3\n1,5;2;3\n").separator, ';');
  EXPECT_EQ(format_of("\"x;y;z\",1\n\"w\",2\n").separator, ',');
  EXPECT_EQ(format_of("a b,c\nd e,f\ng h,i,j\n").separator, ',');
  EXPECT_EQ(table_of("4\n5\n6\n").columns().size(), 1u);
  EXPECT_EQ(table_of("my value\n5\n6\n").column_names(), Texts{"my value"});
}

TEST(Table, FindsTheHeader) {
  EXPECT_TRUE(format_of("a,b\n1,2\n").header);
  EXPECT_FALSE(format_of("1,2\n3,4\n").header);
  EXPECT_FALSE(format_of("x,1\ny,2\n").header);
  EXPECT_TRUE(format_of("colour,size\nred,big\nblue,big\nred,small\n").header);
  EXPECT_FALSE(format_of("red,big\nblue,big\nred,small\n").header);
  EXPECT_FALSE(format_of(",\n1,2\n").header);
  EXPECT_TRUE(format_of(",b\n1,2\n").header);
}

TEST(Table, ObeysWhatItIsTold) {
  TableOptions options;
  options.header = false;
  EXPECT_EQ(table_of("red,big\nblue,small\n", options).column_names(),
            (Texts{"column_1", "column_2"}));
  options.header = true;
  EXPECT_EQ(table_of("2001,2002\n1,2\n", options).column_names(),
            (Texts{"2001", "2002"}));
  options.separator = '|';
  EXPECT_EQ(table_of("a|b,c\n1|2\n", options).column_names(),
            (Texts{"a", "b,c"}));
  options.types["a"] = ColumnType::Categorical;
  EXPECT_EQ(texts_of(table_of("a|b\n1.0|2\n", options).column("a")),
            (Texts{"1.0"}));
}

TEST(Table, SkipsColumnsNobodyAskedFor) {
  TableOptions options;
  options.types["b"] = ColumnType::Numeric;
  options.types["absent"] = ColumnType::Numeric;
  options.other_types = ColumnType::Skipped;
  TableReader reader(
      files::memory_byte_source("t.csv", "a,b,c\nx,1,y\nz,2,w\n"), options);
  EXPECT_EQ(reader.column_names(), (Texts{"a", "b", "c"}));
  EXPECT_EQ(reader.column_types()[0], ColumnType::Skipped);
  Table table = reader.empty_table();
  EXPECT_EQ(reader.read(table, 10), 2);
  EXPECT_EQ(table.column_names(), (Texts{"b"}));
  EXPECT_EQ(numbers_of(table.column("b")), (Numbers{1, 2}));
}

TEST(Table, ReadsDecimalCommasOfSemicolonFiles) {
  EXPECT_EQ(format_of("a;b\n1,5;2\n-0,25;3\n").decimal_mark, ',');
  EXPECT_EQ(numbers_of(table_of("a;b\n1,5;2\n-0,25;3\n").column("a")),
            (Numbers{1.5, -0.25}));
  EXPECT_EQ(format_of("a;b\n1.5;x,y\n2.5;1,2\n").decimal_mark, '.');
}

TEST(Table, TellsCategoriesAmongNumbersFromSlips) {
  // Recurring words are categories, a lone one among numbers is a slip.
  const Table table = table_of("a\n1\nother\n2\nother\n3\nother\n1\n");
  EXPECT_EQ(table.column("a").type(), ColumnType::Categorical);
  expect_error<IoError>([] { table_of("a\n1\n2\noops\n4\n"); },
                        "t.csv: row 3 (line 4), column 1 \"a\" is numeric, but "
                        "holds \"oops\"");
}

// --- cells ---------------------------------------------------------------

TEST(Table, UnderstandsQuotes) {
  const Table table = table_of(
      "\"na\"\"me\",value\n\"a, b\",1\n\"line\nbreak\",2\n\"\"\"q\"\"\",3\n"
      " \"padded\" , 4 \n5\" disk,5\n");
  EXPECT_EQ(table.columns()[0].name(), "na\"me");
  EXPECT_EQ(texts_of(table.columns()[0]),
            (Texts{"a, b", "line\nbreak", "\"q\"", "padded", "5\" disk"}));
  EXPECT_EQ(numbers_of(table.columns()[1]), (Numbers{1, 2, 3, 4, 5}));
}

TEST(Table, UnderstandsLineEndsBlankLinesAndByteOrderMarks) {
  const Numbers expected = {1, 2, 3};
  EXPECT_EQ(numbers_of(table_of("1\r\n2\r\n3\r\n").columns()[0]), expected);
  EXPECT_EQ(numbers_of(table_of("1\r2\r3").columns()[0]), expected);
  EXPECT_EQ(numbers_of(table_of("\n1\n\n2\n  \n3").columns()[0]), expected);
  EXPECT_EQ(table_of("\xEF\xBB\xBFx,y\n1,2\n").column_names(),
            (Texts{"x", "y"}));
}

TEST(Table, ReadsNumbersOfAllForms) {
  EXPECT_EQ(
      numbers_of(
          table_of("1\n+2\n-.5\n3.\n1e3\n1E-2\n1e-999\n4.9e-324").columns()[0]),
      (Numbers{1, 2, -0.5, 3, 1000, 0.01, 0, 4.9e-324}));
  EXPECT_EQ(numbers_of(table_of("0.1\n123456789.123456789\n").columns()[0]),
            (Numbers{0.1, 123456789.123456789}));
  for (const char* text : {"0x10", "1e", "+-1", "1 2", "--1", "1_000"}) {
    TableOptions options;
    options.separator = ',';
    options.header = false;
    options.other_types = ColumnType::Numeric;
    expect_error<IoError>([&] { table_of(text, options); }, text);
  }
}

TEST(Table, TracksMissingValues) {
  const Table table = table_of(
      "x,c\n1,red\n,NA\nNA,?\n?,\nnan,blue\nNULL,none\nn/a,red\n#N/A,red\n");
  EXPECT_EQ(table.column("x").missing(), 7);
  EXPECT_TRUE(std::isnan(table.column("x").number(3)));
  EXPECT_EQ(table.column("c").missing(), 4);
  EXPECT_EQ(table.column("c").code(1), -1);
  ASSERT_TRUE(table.first_missing());
  EXPECT_EQ(table.first_missing()->row, 1);
  EXPECT_EQ(table.first_missing()->column, 0u);
  EXPECT_FALSE(table_of("1,2\n3,4\n").first_missing());
}

TEST(Table, FindsTheFirstMissingValueRowByRow) {
  const auto first = table_of("a,b\n1,2\n3,\n,4\n").first_missing();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->row, 1);
  EXPECT_EQ(first->column, 1u);
}

TEST(Table, StoresFloatsWhenAsked) {
  TableOptions options;
  options.storage = NumericStorage::Float;
  const Table table = table_of("0.1\n\n1e30\n", options);
  EXPECT_EQ(table.columns()[0].number(0), static_cast<double>(0.1f));
  expect_error<IoError>([&] { table_of("1\n1e39\n", options); },
                        "\"1e39\" is not a finite number of at most 3.4");
}

TEST(Table, CopiesNumbersWithAStride) {
  const Table table = table_of("1\n2\n3\n");
  float out[6] = {};
  table.columns()[0].copy_numbers(1, 2, out, 3);
  EXPECT_EQ(out[0], 2.0f);
  EXPECT_EQ(out[3], 3.0f);
  expect_error<ArgumentError>(
      [&] { table.columns()[0].copy_numbers(2, 2, out); }, "it has 3 rows");
}

TEST(Table, StreamsInBatches) {
  std::string text = "x,c\n";
  for (int i = 0; i < 5000; ++i) {
    text += std::to_string(i) + ",c" + std::to_string(i % 7) + "\n";
  }
  const std::string compressed = testing::gzip(text);
  TableReader reader(files::memory_byte_source("t.csv.gz", compressed));
  std::int64_t rows = 0;
  for (;;) {
    Table batch = reader.empty_table();
    const std::int64_t count = reader.read(batch, 999);
    if (count == 0) break;
    ASSERT_EQ(batch.rows(), count);
    ASSERT_EQ(batch.columns()[0].number(0), static_cast<double>(rows));
    ASSERT_EQ(batch.columns()[1].categories().size(),
              std::min<std::int64_t>(7, count));
    rows += count;
  }
  EXPECT_EQ(rows, 5000);
}

// Rows that cross the internal buffer's end come out complete.
TEST(Table, ReadsFilesLongerThanItsBuffer) {
  TableOptions options;
  options.limits.row_bytes = 64;
  std::string text;
  Numbers expected;
  for (int i = 0; i < 3000; ++i) {
    text += "\"a\"\"" + std::string(static_cast<std::size_t>(i % 23), 'b') +
            "\"," + std::to_string(i) + "\r\n";
    expected.push_back(i);
  }
  const Table table = table_of(text, options);
  EXPECT_EQ(numbers_of(table.columns()[1]), expected);
  EXPECT_EQ(table.columns()[0].categories().size(), 23);
  EXPECT_EQ(table.columns()[0].categories().text(1), "a\"b");
}

// --- what it refuses ------------------------------------------------------

TEST(Table, RefusesWhatIsNoTable) {
  using namespace std::string_view_literals;
  expect_error<IoError>([] { table_of(""); }, "t.csv: the file is empty");
  expect_error<IoError>([] { table_of("\n \n\n"); }, "only blank lines");
  TableOptions options;
  options.limits.row_bytes = 64;
  expect_error<IoError>(
      [&] { table_of(std::string(70, '\n') + "4\n5\n", options); },
      "no row within the first 64 bytes, only blank lines");
  expect_error<IoError>(
      [] { table_of("a,b\n1,2\n" + std::string(1000001, '\n') + "3,4\n"); },
      "more than 1000000 blank lines follow line 2; remove them");
  expect_error<IoError>([] { table_of("a,b\n"); },
                        "there is a header but no row below it");
  expect_error<IoError>([] { table_of("1,2\n\0,3\n"sv); },
                        "not a text table: byte 4 is 0");
  expect_error<IoError>([] { table_of("PK\x03\x04 xlsx"); },
                        "zip or spreadsheet");
  expect_error<IoError>(
      [] {
        table_of(
            "\xFF\xFE"
            "1\0"sv);
      },
      "UTF-16");
  expect_error<IoError>(
      [] {
        table_of(
            "\x7F"
            "ELF\x02\x01\x01");
      },
      "this is not text");
}

TEST(Table, RefusesZeroBytesBeyondTheHead) {
  TableOptions options;
  options.limits.row_bytes = 16;
  std::string text = "1,2\n3,4\n5,6\n7,8\n9,1\n";
  text += std::string("2,\0", 3) + "\n";
  expect_error<IoError>([&] { table_of(text, options); },
                        "row 6 (line 6), column 2 holds a zero byte");
  text.replace(text.size() - 4, 4, std::string("2,\"\0\"\n", 6));
  expect_error<IoError>([&] { table_of(text, options); },
                        "row 6 (line 6), column 2 holds a zero byte");
}

TEST(Table, RefusesRaggedRows) {
  expect_error<IoError>([] { table_of("a,b\n1,2\n3\n"); },
                        "t.csv: row 2 (line 3) has 1 column, the rows before "
                        "it have 2");
  expect_error<IoError>([] { table_of("1 2\n3 4\n5 6 7\n"); },
                        "row 3 (line 3) has 3 columns");
  expect_error<IoError>([] { table_of("c,n\n\"a\nb\",1\nx,2,3\n"); },
                        "row 2 (line 4) has 3 columns");
}

TEST(Table, RefusesTextInANumericColumn) {
  std::string text = "a,b\n";
  for (int i = 0; i < 50; ++i) text += "1,2\n";
  expect_error<IoError>([&] { table_of(text + "3,four\n"); },
                        "row 51 (line 52), column 2 \"b\" is numeric, but "
                        "holds \"four\"; correct it, leave it empty if it is "
                        "missing, or declare the column categorical");
  expect_error<IoError>([] { table_of("name,2\n3,4\n5,6\n"); },
                        "say that there is a header");
  TableOptions options;
  options.types["b"] = ColumnType::Numeric;
  expect_error<IoError>([&] { table_of("a,b\n1,x\n", options); },
                        "column 2 \"b\" is numeric, but holds \"x\"");
}

TEST(Table, RefusesInfinity) {
  expect_error<IoError>([] { table_of("a\n1\ninf\n2\n"); },
                        "row 2 (line 3), column 1 \"a\": \"inf\" is not a "
                        "finite number");
  expect_error<IoError>([] { table_of("a\n1\n-Infinity\n2\n"); },
                        "\"-Infinity\" is not a finite number");
  expect_error<IoError>([] { table_of("a\n1\n1e999\n2\n"); },
                        "\"1e999\" is not a finite number");
}

TEST(Table, RefusesBrokenQuotes) {
  expect_error<IoError>([] { table_of("a,b\n\"x\"y,2\n"); },
                        "row 1 (line 2), column 1: text follows the closing "
                        "quote of \"x\"");
  expect_error<IoError>([] { table_of("a,b\n1,\"x\n3,4\n"); },
                        "row 1 (line 2), column 2: the quote that opens here "
                        "is never closed");
}

TEST(Table, RefusesTextThatIsNotUtf8) {
  expect_error<IoError>([] { table_of("a,caf\xE9\n1,2\n"); },
                        "header (line 1), column 2: the name is not UTF-8");
  expect_error<IoError>([] { table_of("a,b\n1,caf\xE9\n2,x\n"); },
                        "row 1 (line 2), column 2 \"b\": the text is not "
                        "UTF-8");
  // Overlong, surrogate, too large, cut.
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xE2\x82", "\xF5\x80\x80\x80", "\x80"}) {
    const std::string text = std::string("a,b\n1,") + bad + "\n2,x\n";
    expect_error<IoError>([&] { table_of(text); }, "not UTF-8");
  }
  EXPECT_EQ(texts_of(table_of("a,b\n1,caf\u00E9\n2,\U0001F600\n").column("b")),
            (Texts{"caf\u00E9", "\U0001F600"}));
}

TEST(Table, RefusesEqualNames) {
  expect_error<IoError>([] { table_of("a,b,a\n1,2,3\n"); },
                        "columns 1 and 3 are both named \"a\"; rename one");
}

TEST(Table, RefusesWhatIsBeyondItsLimits) {
  const TableLimits defaults;
  const std::string huge(defaults.cell_bytes + 1, 'x');
  expect_error<IoError>([&] { table_of("a,b\n1," + huge + "\n"); },
                        "row 1 (line 2), column 2: a cell of 1048577 bytes is "
                        "longer than the limit of 1048576");
  const std::string endless(defaults.row_bytes + 1, 'x');
  expect_error<IoError>([&] { table_of("\"" + endless); },
                        "the row at line 1 is longer than the limit of "
                        "4194304 bytes");
  const std::string commas(defaults.row_bytes, ',');
  testing::take_largest_allocation();
  expect_error<IoError>(
      [&] { table_of(commas); },
      "row 1 (line 1) has more columns than the limit of 100000");
  // Some 200 bytes for each of 100000 columns, not 32 for each of 2^22 cells.
  EXPECT_LE(testing::take_largest_allocation(), std::size_t{1} << 25);
  TableOptions options;
  options.limits.columns = 3;
  expect_error<IoError>([&] { table_of("1,2,3,4\n", options); },
                        "row 1 (line 1) has more columns than the limit of 3");
  expect_error<IoError>([&] { table_of("1\t2\t3\t4\n", options); },
                        "row 1 (line 1) has more columns than the limit of 3");
  options.limits.categories = 2;
  expect_error<IoError>([&] { table_of("x\ny\nx\nz\n", options); },
                        "row 4 (line 4), column 1 \"column_1\" has more "
                        "different values than the limit of 2");
  options.limits.table_bytes = 1000;
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += "1\n";
  expect_error<IoError>([&] { table_of(rows, options); },
                        "more memory than the limit of 1000 bytes");
}

TEST(Table, RefusesACutGzipFile) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * i) + "\n";
  const std::string whole = testing::gzip(text);
  expect_error<IoError>(
      [&] { table_of(std::string_view(whole).substr(0, whole.size() / 2)); },
      "t.csv: the gzip data ends after");
}

TEST(Table, RefusesUnknownSeparators) {
  TableOptions options;
  options.separator = 'x';
  expect_error<ArgumentError>([&] { table_of("1x2\n", options); },
                              "the separator must be one of");
}

TEST(Table, SuggestsTheNearestColumn) {
  const Table table = table_of("price,size\n1,2\n");
  EXPECT_EQ(table.column_index("size"), 1u);
  expect_error<ArgumentError>([&] { table.column("pirce"); },
                              "t.csv has no column named \"pirce\"; did you "
                              "mean \"price\"?");
}

TEST(Table, RefusesColumnsThatDoNotFitTogether) {
  Column a("a", ColumnType::Numeric);
  a.append_number(1);
  const Column b("b", ColumnType::Numeric);
  expect_error<ArgumentError>(
      [&] {
        Table("made", {a, b});
      },
      "column \"b\" has 0 rows, but \"a\" has 1");
  expect_error<ArgumentError>(
      [&] {
        Table("made", {a, a});
      },
      "two columns are named \"a\"");
  expect_error<ArgumentError>([] { Column("x", ColumnType::Skipped); },
                              "a skipped column has no values");
}

TEST(Table, NamesColumnTypes) {
  EXPECT_STREQ(to_string(ColumnType::Numeric), "numeric");
  EXPECT_STREQ(to_string(ColumnType::Categorical), "categorical");
  EXPECT_STREQ(to_string(ColumnType::Skipped), "skipped");
}

TEST(Column, LooksAtNumbersOfOthers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float matrix[] = {1, 10, 2, nan, 3, 30};
  Column column("b", NumberView<float>(matrix + 1, 3, 2));
  EXPECT_EQ(column.size(), 3);
  EXPECT_EQ(column.missing(), 1);
  EXPECT_EQ(column.number(2), 30);
  EXPECT_TRUE(column.is_missing(1));
  double copy[2] = {};
  column.copy_numbers(1, 2, copy);
  EXPECT_EQ(copy[1], 30);
  EXPECT_THROW(column.number(3), std::out_of_range);
  expect_error<ArgumentError>([&] { column.append_number(1); }, "not its own");
  expect_error<ArgumentError>([&] { column.append_missing(); }, "not its own");
  EXPECT_EQ(column.missing(), 1);
}

TEST(Dictionary, NumbersTextsInOrder) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary.find("x"), -1);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(dictionary.add("text " + std::to_string(i)), i);
    }
  }
  EXPECT_EQ(dictionary.size(), 1000);
  const Dictionary copy = dictionary;
  EXPECT_EQ(copy.find("text 567"), 567);
  EXPECT_EQ(copy.text(999), "text 999");
  EXPECT_EQ(copy.find("text 1000"), -1);
}

}  // namespace
}  // namespace radir::data
