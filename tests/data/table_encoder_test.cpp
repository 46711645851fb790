#include "radir/data/table_encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/files/byte_source.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

using ::radir::testing::expect_error;

Table table(std::string_view text) {
  return read_table(files::memory_byte_source("t.csv", text));
}

constexpr const char* kHouses =
    "area,town,floors,price\n"
    "50,bonn,1,100\n"
    "100,ulm,1,300\n"
    "150,bonn,1,200\n"
    "100,hof,1,200\n";

TEST(TableEncoder, StandardisesNumbersAndSpreadsCategories) {
  const Table houses = table(kHouses);
  const TableEncoder encoder = TableEncoder::fit(houses, "price");
  ASSERT_EQ(encoder.inputs().size(), 2u);  // floors is constant
  EXPECT_EQ(encoder.input_size(), 1 + 3);
  ASSERT_EQ(encoder.notes().size(), 1u);
  EXPECT_NE(encoder.notes()[0].find("\"floors\""), std::string::npos);
  EXPECT_FALSE(encoder.is_classification());
  EXPECT_DOUBLE_EQ(encoder.target().mean, 200);
  EXPECT_DOUBLE_EQ(encoder.target().scale, std::sqrt(5000.0));

  const EncodedRows rows = encoder.encode(houses, true);
  const float wide = std::sqrt(2.0f);
  // Columns: area, then bonn, hof, ulm.
  const std::vector<float> expected = {-wide, 1, 0, 0, 0, 0, 0, 1,
                                       wide,  1, 0, 0, 0, 0, 1, 0};
  ASSERT_EQ(rows.inputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_FLOAT_EQ(rows.inputs[i], expected[i]) << i;
  }
  EXPECT_FLOAT_EQ(rows.targets[0], -wide);
  EXPECT_FLOAT_EQ(rows.targets[3], 0);
}

constexpr const char* kPrices = "x,y\n1,2\n2,0\n3,4\n4,100\n5,6\n6,8\n7,10\n";
const std::vector<std::int64_t> kAllPrices = {0, 1, 2, 3, 4, 5, 6};

// Values above 0: 2, 4, 6, 8, 10, 100, whose upper median is 8.
TEST(TableEncoder, PutsATargetOnALogarithmicScale) {
  const Table prices = table(kPrices);
  const TableEncoder own = TableEncoder::fit(prices, "y");
  const TableEncoder encoder = own.with_log_target(prices, kAllPrices);
  const ColumnCode& code = encoder.target();
  EXPECT_TRUE(own.target().transform.is_none());
  EXPECT_DOUBLE_EQ(code.transform.offset(), 0.8);
  EXPECT_DOUBLE_EQ(code.transform.end(), 200);
  EXPECT_EQ(code.resolution, 2);
  EXPECT_EQ(describe_columns(encoder)[1].text(),
            "target: number, on a logarithmic scale");
  const EncodedRows rows = encoder.encode(prices, true);
  double sum = 0, squares = 0;
  const double expected[] = {2, 0, 4, 100, 6, 8, 10};
  for (std::size_t i = 0; i < 7; ++i) {
    const auto standard = static_cast<double>(rows.targets[i]);
    sum += standard;
    squares += standard * standard;
    EXPECT_NEAR(code.mean + code.scale * standard,
                std::log1p(expected[i] / 0.8), 1e-6);
    EXPECT_NEAR(target_value(code, standard), expected[i], 2e-5);
  }
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(squares, 7, 1e-4);

  const TableEncoder again = TableEncoder::from_json(encoder.to_json());
  EXPECT_EQ(again.target().transform.offset(), code.transform.offset());
  EXPECT_EQ(again.target().transform.end(), code.transform.end());
  EXPECT_EQ(describe_columns(again)[1].text(),
            "target: number, on a logarithmic scale");
}

TEST(TableEncoder, LooksForALongTailWhereStepsAreSmall) {
  const auto is_skewed = [](const char* text) {
    const Table rows = table(text);
    return TableEncoder::fit(rows, "y").has_skewed_target(rows, kAllPrices);
  };
  EXPECT_TRUE(is_skewed("x,y\n1,2\n2,0\n3,4\n4,100\n5,4.1\n6,8\n7,10\n"));
  EXPECT_FALSE(is_skewed("x,y\n1,2\n2,0\n3,4\n4,12\n5,4.1\n6,8\n7,10\n"));
  // Steps of 2 where the median is 6, and a median of 0.
  EXPECT_FALSE(is_skewed(kPrices));
  EXPECT_FALSE(is_skewed("x,y\n1,0\n2,0\n3,0\n4,1\n5,0\n6,0.01\n7,0\n"));
}

TEST(TableEncoder, LogarithmsNeedATargetThatIsNotBelowZero) {
  const Table rows = table("x,y,c\n1,2,a\n2,-1,b\n3,400,a\n");
  const TableEncoder encoder = TableEncoder::fit(rows, "y");
  EXPECT_FALSE(encoder.has_skewed_target(rows, {0, 1, 2}));
  expect_error<IoError>(
      [&] {
        encoder.with_log_target(rows, {0, 1, 2});
      },
      "row 2 has the target -1, but a logarithmic target");
  expect_error<ArgumentError>(
      [&] {
        TableEncoder::fit(rows, "c").with_log_target(rows, {0, 1, 2});
      },
      "has classes");
  const Table even = table("x,y\n1,0\n2,1\n3,2\n4,3\n5,4\n");
  EXPECT_FALSE(
      TableEncoder::fit(even, "y").has_skewed_target(even, {0, 1, 2, 3, 4}));
}

TEST(TableEncoder, RefusesDamagedLogarithms) {
  const auto changed = [](const std::string& from, const std::string& to) {
    const Table prices = table(kPrices);
    std::string json = TableEncoder::fit(prices, "y")
                           .with_log_target(prices, kAllPrices)
                           .to_json();
    json.replace(json.find(from), from.size(), to);
    return json;
  };
  expect_error<IoError>(
      [&] { TableEncoder::from_json(changed("0.8", "-0.8")); },
      "preprocessing.target.log: TargetTransform");
  expect_error<IoError>(
      [&] { TableEncoder::from_json(changed("\"end\"", "\"and\"")); },
      "\"end\"");
  // As an input.
  expect_error<IoError>(
      [&] {
        TableEncoder::from_json(changed(
            "\"scale\":2.0", "\"scale\":2.0,\"log\":{\"offset\":1,\"end\":2}"));
      },
      "an input has no logarithm");
}

// Quarters of 0 to 8: each piece rises from 0 to 1 in one of them.
TEST(TableEncoder, CutsNumbersIntoPiecesBetweenQuantiles) {
  const Table rows = table(
      "x,town,rare,y\n0,a,0,1\n1,b,0,2\n2,a,0,3\n3,b,0,4\n4,a,0,5\n"
      "5,b,0,6\n6,a,0,7\n7,b,0,8\n8,a,1,9\n");
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const TableEncoder plain = TableEncoder::fit(rows, "y");
  const TableEncoder encoder = plain.with_pieces(rows, all, 4);
  EXPECT_FALSE(plain.has_pieces());
  EXPECT_TRUE(encoder.has_pieces());
  // x and its pieces, two towns, a column of two values that has no pieces.
  EXPECT_EQ(encoder.input_size(), 5 + 2 + 1);
  const std::vector<NumberPiece>& pieces = encoder.inputs()[0].pieces;
  ASSERT_EQ(pieces.size(), 4u);
  const EncodedRows encoded = encoder.encode(rows, true);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(pieces[p].from, 2.0 * static_cast<double>(p));
    EXPECT_EQ(pieces[p].to, pieces[p].from + 2);
    double sum = 0, squares = 0;
    for (std::size_t row = 0; row < 9; ++row) {
      const auto input = static_cast<double>(encoded.inputs[row * 8 + 1 + p]);
      const double share = std::min(
          1.0, std::max(0.0, (static_cast<double>(row) - pieces[p].from) / 2));
      EXPECT_NEAR(input, (share - pieces[p].mean) / pieces[p].scale, 1e-6);
      sum += input;
      squares += input * input;
    }
    EXPECT_NEAR(sum, 0, 1e-5);  // standardised
    EXPECT_NEAR(squares, 9, 1e-4);
  }
  // Everything else is as it was.
  const EncodedRows before = plain.encode(rows, true);
  for (std::size_t row = 0; row < 9; ++row) {
    EXPECT_EQ(encoded.inputs[row * 8], before.inputs[row * 4]);
    EXPECT_EQ(encoded.inputs[row * 8 + 7], before.inputs[row * 4 + 3]);
  }
  EXPECT_EQ(encoder.columns()[0].text(), "number, in 4 pieces");

  const TableEncoder again = TableEncoder::from_json(encoder.to_json());
  EXPECT_EQ(again.to_json(), encoder.to_json());
  EXPECT_EQ(again.encode(rows, true).inputs, encoded.inputs);
  expect_error<ArgumentError>([&] { plain.with_pieces(rows, all, 1); },
                              "from 2 to 1000");
}

TEST(TableEncoder, MissingNumbersAreInNoPiece) {
  const Table rows = table("x,y\n0,1\n1,2\n,3\n3,4\n4,5\n");
  const TableEncoder encoder =
      TableEncoder::fit(rows, "y", MissingValues::Indicator)
          .with_pieces(rows, {0, 1, 2, 3, 4}, 2);
  ASSERT_EQ(encoder.input_size(), 1 + 2 + 1);
  const EncodedRows encoded = encoder.encode(rows, true);
  const std::vector<float> missing(encoded.inputs.begin() + 8,
                                   encoded.inputs.begin() + 12);
  EXPECT_EQ(missing, (std::vector<float>{0, 0, 0, 1}));
}

TEST(TableEncoder, RefusesPiecesThatAreNone) {
  const auto refuse = [](const char* piece, const char* why) {
    const std::string text =
        std::string(
            R"({"kind":"table","missing":"refuse","inputs":[{"name":)") +
        R"("x","type":"numeric","mean":0,"scale":1,"pieces":[)" + piece +
        R"(]}],"target":{"name":"y","type":"numeric","mean":0,"scale":1}})";
    expect_error<IoError>([&] { TableEncoder::from_json(text); }, why);
  };
  refuse(R"({"from":1,"to":1,"mean":0,"scale":1})", "from < to");
  refuse(R"({"from":0,"to":1,"mean":0,"scale":0})", "scale above 0");
  refuse(R"({"from":0,"to":1,"mean":0})", "scale");
  refuse(R"(3)", "pieces");
}

TEST(TableEncoder, LearnsFromTheGivenRowsAlone) {
  const Table houses = table(kHouses);
  const TableEncoder encoder =
      TableEncoder::fit(houses, "price", MissingValues::Refuse, {0, 2});
  EXPECT_DOUBLE_EQ(encoder.inputs()[0].mean, 100);
  EXPECT_DOUBLE_EQ(encoder.inputs()[0].scale, 50);
  EXPECT_EQ(encoder.inputs().size(), 1u);  // town is constant there
  EXPECT_DOUBLE_EQ(encoder.target().mean, 150);
}

TEST(TableEncoder, ACategoricalTargetMeansClasses) {
  const Table houses = table(kHouses);
  const TableEncoder encoder = TableEncoder::fit(houses, "town");
  EXPECT_TRUE(encoder.is_classification());
  EXPECT_EQ(encoder.target().categories,
            (std::vector<std::string>{"bonn", "hof", "ulm"}));
  EXPECT_EQ(encoder.encode(houses, true).labels,
            (std::vector<std::int64_t>{0, 2, 0, 1}));
}

constexpr const char* kHoles =
    "a,b,c,y\n1,2,u,1\n3,,u,2\n5,6,,3\n,4,v,4\n7,8,v,\n9,1,v,6\n";

TEST(TableEncoder, MissingValuesAreRefusedFilledOrDropped) {
  const Table holes = table(kHoles);
  expect_error<IoError>([&] { TableEncoder::fit(holes, "y"); },
                        "t.csv: row 2, column \"b\": the value is missing");

  const auto drop = TableEncoder::fit(holes, "y", MissingValues::Drop);
  EXPECT_EQ(drop.encode(holes, true).table_rows,
            (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(drop.encode(holes, false).table_rows,
            (std::vector<std::int64_t>{0, 4, 5}));
  EXPECT_NE(drop.notes()[0].find("4 of 6 rows"), std::string::npos);

  const auto mean = TableEncoder::fit(holes, "y", MissingValues::Mean);
  const EncodedRows rows = mean.encode(holes, true);
  EXPECT_EQ(rows.table_rows, (std::vector<std::int64_t>{0, 1, 2, 3, 5}));
  EXPECT_DOUBLE_EQ(mean.inputs()[0].mean, (1 + 3 + 5 + 9) / 4.0);
  EXPECT_EQ(rows.inputs[4 + 1], 0);      // b of the second row
  EXPECT_EQ(rows.inputs[2 * 4 + 2], 0);  // c of the third: neither u
  EXPECT_EQ(rows.inputs[2 * 4 + 3], 0);  // nor v
}

TEST(TableEncoder, ExplainsWhatCannotBeLearnt) {
  const Table houses = table(kHouses);
  expect_error<ArgumentError>([&] { TableEncoder::fit(houses, "prize"); },
                              "did you mean \"price\"");
  expect_error<IoError>([&] { TableEncoder::fit(houses, "floors"); },
                        "same value in every row");
  const Table empty = table("a,b\n1,\n2,\n,3\n,4\n");
  expect_error<IoError>(
      [&] { TableEncoder::fit(empty, "a", MissingValues::Drop); },
      "every row has a missing value (2 of 4 in column \"b\"); exclude "
      "columns");
  expect_error<IoError>(
      [] {
        TableEncoder::fit(table("a,b\n1,\n2,\n"), "b", MissingValues::Drop);
      },
      "the target \"b\" has no value in any row");
  expect_error<IoError>([] { TableEncoder::fit(table("b\n1\n2\n"), "b"); },
                        "the target \"b\" is the only column");
  const Table flat = table("a,b\n1,5\n1,6\n1,7\n");
  expect_error<IoError>([&] { TableEncoder::fit(flat, "b"); },
                        "all columns except the target are constant");
  const Table huge = table("a,b\n1e200,5\n-1e200,6\n1,7\n");
  expect_error<IoError>([&] { TableEncoder::fit(huge, "b"); },
                        "column \"a\" has numbers too large");
}

TEST(TableEncoder, ExplainsOtherTables) {
  const TableEncoder encoder = TableEncoder::fit(table(kHouses), "price");
  const Table other = table("area,town\n50,bonn\n70,bon\n");
  const EncodedRows rows = encoder.encode(other, false);
  ASSERT_EQ(rows.unseen.size(), 1u);
  EXPECT_EQ(rows.unseen[0].column, "town");
  EXPECT_EQ(rows.unseen[0].count, 1);
  EXPECT_EQ(rows.unseen[0].first_row, 1);
  EXPECT_EQ(rows.unseen[0].first_text, "bon");
  for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(rows.inputs[i], 0);
  const TableEncoder classes = TableEncoder::fit(table(kHouses), "town");
  expect_error<IoError>(
      [&] {
        classes.encode(table("area,price,town\n50,1,bonn\n7,2,bon\n"), true,
                       100);
      },
      "row 102, column \"town\": the category \"bon\" was not in the training "
      "data, which had 3 others; did you mean \"bonn\"?");
  expect_error<IoError>(
      [&] { classes.encode(table("area,price,town\n50,1,nowhere\n"), true); },
      "which had 3 others; correct it, or leave it empty to leave the row out");
  EXPECT_EQ(encoder.check_columns("t", {"x", "town", "area", "price"}, false),
            (std::vector<std::string>{"x"}));
  expect_error<IoError>(
      [&] {
        encoder.check_columns("t", {"town", "areas"}, false);
      },
      "the column \"area\" that the model needs is missing; did you mean");
  expect_error<IoError>(
      [&] {
        encoder.check_columns("t", {"town", "area"}, true);
      },
      "the target \"price\" is missing");
}

TEST(TableEncoder, ClassesMayBeThoseOfMoreRows) {
  const Table given = table("a,b,y\n1,2,u\n2,1,v\n3,5,u\n4,3,w\n5,,x\n");
  const std::vector<std::int64_t> some = {0, 1, 2}, all = {0, 1, 2, 3, 4};
  const auto classes = [&](const TableEncoder& encoder) {
    return encoder.target().categories;
  };
  EXPECT_EQ(classes(TableEncoder::fit(given, "y", MissingValues::Drop, some)),
            (std::vector<std::string>{"u", "v"}));
  const TableEncoder more =
      TableEncoder::fit(given, "y", MissingValues::Drop, some, all);
  EXPECT_EQ(classes(more), (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(more.inputs()[0].mean, 2);  // of the rows alone
}

TEST(TableEncoder, SurvivesJson) {
  const Table houses = table(kHouses);
  const TableEncoder encoder =
      TableEncoder::fit(houses, "price", MissingValues::Mean);
  const TableEncoder copy = TableEncoder::from_json(encoder.to_json());
  EXPECT_EQ(copy.to_json(), encoder.to_json());
  EXPECT_EQ(copy.encode(houses, true).inputs,
            encoder.encode(houses, true).inputs);
}

TEST(TableEncoder, IsReadStrictly) {
  const auto refused = [](const std::string& inputs, const std::string& part) {
    expect_error<IoError>(
        [&] {
          TableEncoder::from_json(
              R"({"kind":"table","missing":"mean","inputs":[)" + inputs +
              R"(],"target":{"name":"y","type":"numeric","mean":0,)"
              R"("scale":1}})");
        },
        part);
  };
  const std::string a = R"({"name":"a","type":"numeric","mean":0,"scale":1})";
  const std::string y = R"({"name":"y","type":"numeric","mean":0,"scale":1})";
  refused("3", "preprocessing.inputs[0] is not an object, but 3");
  refused(R"({"name":"a","type":"numeric","mean":0,"scale":0})",
          "preprocessing.inputs[0]: the scale must be above 0, but is 0");
  refused(R"({"name":"a","type":"text"})", "\"text\", which this program");
  refused(R"({"name":"a","type":"categorical","categories":["x"]})",
          "at least two categories, but there are 1");
  refused(R"({"name":"a","type":"categorical","categories":["x",1]})",
          "\"categories\" must be a list of strings");
  refused(R"({"name":"a","type":"categorical","categories":["x","x"]})",
          "the category \"x\" appears twice");
  refused(a + "," + a, "the column \"a\" appears twice");
  refused(a + "," + y, "the column \"y\" appears twice");
  for (const char* text : {"{}", "nonsense", "[]", R"({"kind":3})"}) {
    expect_error<IoError>(
        [&] { TableEncoder::from_json(text); },
        "preprocessing: the model was not trained on a table");
  }
  expect_error<IoError>(
      [] {
        TableEncoder::from_json(
            R"({"kind":"table","missing":"pray","inputs":[],"target":{}})");
      },
      "\"pray\", which this program does not know");
}

TEST(TableEncoder, KnowsTheResolutionOfTheTarget) {
  const auto resolution = [](const std::string& targets) {
    std::string text = "a,y\n";
    int row = 0;
    std::istringstream list(targets);
    for (std::string y; list >> y;) {
      text += std::to_string(row++) + "," + y + "\n";
    }
    const Table table = read_table(files::memory_byte_source("rows", text));
    const TableEncoder encoder = TableEncoder::fit(table, "y");
    EXPECT_EQ(TableEncoder::from_json(encoder.to_json()).target().resolution,
              encoder.target().resolution);
    EXPECT_EQ(encoder.inputs()[0].resolution, 0);
    return encoder.target().resolution;
  };
  EXPECT_EQ(resolution("3 5 9 5 3"), 2);
  EXPECT_NEAR(resolution("10.1 10.3 10.2 17"), 0.1, 1e-12);
  // What a computer made of 0.3 is not another value.
  EXPECT_NEAR(resolution("0.3 0.30000000000000004 0.8"), 0.5, 1e-12);
}

}  // namespace
}  // namespace radir::data
