#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/data_dir.h"
#include "support/temporary_folder.h"

// Tables as people have them.

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string text(int number) { return std::to_string(number); }

/// A price that depends on everything but the id: order, date, town (forty of
/// them), colour, weight (some are missing) and price, 1,000 to 3,000.
std::string order(int i, const std::string& town, const std::string& colour) {
  const int weight = i * 37 % 100;
  const int price = 1000 + 15 * weight + (colour == "red" ? 300 : 0) + i % 7;
  char line[160];
  std::snprintf(
      line, sizeof line, "A-%05d,2023-%02d-%02d,%s,%s,%s,\"%d,%03d\"\n", i,
      i % 12 + 1, i % 28 + 1, town.c_str(), colour.c_str(),
      i % 17 == 0 ? "" : text(weight).c_str(), price / 1000, price % 1000);
  return line;
}

constexpr const char* kHeader = "order,date,town,colour,weight,price\n";

std::string orders(int rows) {
  std::string table = kHeader;
  for (int i = 0; i < rows; ++i) {
    table += order(i, "town " + text(i % 40), i % 3 == 0 ? "red" : "blue");
  }
  return table;
}

/// Columns a and y, and one that the test gives.
std::string with_column(const std::string& name, int rows,
                        const std::function<std::string(int)>& cell) {
  std::string table = name + ",a,y\n";
  for (int i = 0; i < rows; ++i) {
    const int a = i * 37 % 50;
    table += cell(i) + "," + text(a) + "," + text(2 * a + i % 3) + "\n";
  }
  return table;
}

class Reading : public ::testing::Test {
 protected:
  std::string run_path() const { return folder_ / "run"; }
  std::string quoted(const std::string& name, const std::string& bytes) const {
    return "'" + folder_.write(name, bytes) + "' ";
  }

  /// Trains for a moment; the words come before --out.
  ProgramResult train(const std::string& words) {
    fs::remove_all(run_path());
    return run_program("train " + words + " --method rdp --epochs 20 --out '" +
                       run_path() + "'");
  }
  /// The columns as config.json of the run tells them, by name.
  Json columns() const {
    const Json config =
        Json::parse(testing::read_bytes(run_path() + "/config.json"));
    Json result = Json::object();
    for (const Json& column : config["data"]["columns"]) {
      result[column["name"].get<std::string>()] = column;
    }
    return result;
  }
  /// That column with a and y: trains, and returns how it was read.
  Json column(const std::string& name,
              const std::function<std::string(int)>& cell,
              const std::string& words = "") {
    const ProgramResult trained = train(
        quoted("c.csv", with_column(name, 60, cell)) + "--target y " + words);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return trained.exit_code == 0 ? columns()[name] : Json();
  }

  TemporaryFolder folder_;
};

TEST_F(Reading, ATableAsPeopleHaveThemNeedsNoOption) {
  const ProgramResult trained =
      run_program("train " + quoted("orders.csv", orders(300)) +
                  "--target price --out '" + run_path() + "' --epochs 200");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  for (const char* part :
       {"date    date, 2023-01-01 to 2023-12-28, position in the week",
        "order   ignored: 300 different texts in 300 rows",
        "town    category of 40 levels, hashed into 32 inputs",
        "colour  category of 2 levels", "weight  number, 18 missing",
        "price   target: number"}) {
    EXPECT_TRUE(contains(trained.err, part)) << part << "\n" << trained.err;
  }
  EXPECT_FALSE(contains(trained.out, "read as")) << trained.out;

  // Two categories with levels that were not there, a value missing.
  std::string table = kHeader;
  for (int i = 300; i < 340; ++i) {
    table += order(i, i == 303 ? "elsewhere" : "town " + text(i % 40),
                   i % 10 == 5 ? "green" : "blue");
  }
  const std::string fresh = quoted("new.csv", table);
  const ProgramResult predicted =
      run_program("predict '" + run_path() + "' " + fresh);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_TRUE(contains(predicted.err,
                       "1 row has a value of \"town\" that the training saw "
                       "rarely or never (first: \"elsewhere\" in row 4); it "
                       "counts as \"other\""))
      << predicted.err;
  EXPECT_TRUE(contains(predicted.err, "4 rows have a value of \"colour\""));
  const ProgramResult evaluated =
      run_program("evaluate '" + run_path() + "' " + fresh + "--json");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json document = Json::parse(evaluated.out);
  EXPECT_LT(document["metrics"]["rmse"], 250);  // the price spreads by 430
  EXPECT_EQ(document["unseen_levels"]["colour"], 4);
  EXPECT_EQ(document["rows_dropped"], 0);
}

TEST_F(Reading, DatesOfEveryKindAreRead) {
  const auto two = [](int number) {
    return (number < 10 ? "0" : "") + text(number);
  };
  for (int kind = 0; kind < 5; ++kind) {
    const Json when = column("when", [&](int i) {
      const std::string year = text(2022 + i % 2);
      const std::string month = two(i % 12 + 1), day = two(i % 28 + 1);
      const std::string dates[] = {
          year + "-" + month + "-" + day, year + "/" + month + "/" + day,
          day + "." + month + "." + year, month + "/" + day + "/" + year,
          year + "-" + month + "-" + day + "T" + two(i % 24) + ":30:00Z"};
      return dates[kind];
    });
    ASSERT_FALSE(when.is_null()) << kind;
    EXPECT_EQ(when["type"], "date") << kind << when;
    EXPECT_EQ(when["inputs"], kind == 4 ? 7 : 5) << kind << when;
  }
  // Of a single day, which says nothing by itself, the order is that of the
  // training.
  const ProgramResult predicted =
      run_program("predict '" + run_path() + "' " +
                  quoted("p.csv", "when,a\n2023-02-01T10:00:00Z,5\n"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  expect_failure("predict '" + run_path() + "' " +
                     quoted("p.csv", "when,a\nyesterday,5\n"),
                 4, "row 1 (line 2), column 1 \"when\" holds dates");
}

TEST_F(Reading, NumbersHaveSeparatorsAndSigns) {
  const auto is_number = [&](const std::function<std::string(int)>& cell) {
    return column("x", cell)["type"] == "number";
  };
  EXPECT_TRUE(is_number([](int i) { return "\"" + text(i + 1) + ",234\""; }));
  EXPECT_TRUE(is_number([](int i) { return text(i) + " %"; }));
  EXPECT_TRUE(is_number([](int i) { return "$" + text(i) + ".20"; }));
  EXPECT_TRUE(is_number([](int i) { return text(i) + " €"; }));
  EXPECT_TRUE(is_number([](int i) { return "£" + text(i); }));
}

TEST_F(Reading, IdsAreIgnoredUnlessAskedFor) {
  const auto number = [](int i) { return text(i + 1); };
  EXPECT_EQ(column("customer_id", number)["role"], "ignored");
  EXPECT_EQ(column("customer_id", number)["note"], "it numbers the rows");
  EXPECT_EQ(column("customer_id", number, "--include customer_id")["role"],
            "input");
  EXPECT_EQ(columns()["a"]["role"], "ignored");
  // Where everything would be ignored, there is nothing to train on.
  expect_failure("train " + quoted("ids.csv", with_column("id", 60, number)) +
                     "--target y --exclude a --out '" + (folder_ / "none") +
                     "'",
                 4, "every column except the target was ignored");
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(Reading, ManyLevelsTakeAFixedNumberOfInputs) {
  const Json town =
      column("town", [](int i) { return "town " + text(i % 20); });
  EXPECT_EQ(town["inputs"], 20);
  const ProgramResult trained =
      train(quoted("t.csv",
                   with_column("town", 900,
                               [](int i) { return "town " + text(i % 300); })) +
            "--target y");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(columns()["town"]["inputs"], 32);
  EXPECT_EQ(columns()["town"]["levels"], 300);
}

TEST_F(Reading, MissingValuesAreHandledUnlessRefused) {
  const auto holes = [](int i) { return i % 9 == 4 ? "" : text(i % 11); };
  const Json filled = column("x", holes);
  EXPECT_EQ(filled["missing"], 7);
  EXPECT_EQ(filled["inputs"], 2);
  EXPECT_EQ(column("x", holes, "--missing mean")["inputs"], 1);
  const std::string table = quoted("h.csv", with_column("x", 60, holes));
  expect_failure("train " + table + "--target y --missing refuse --out '" +
                     (folder_ / "none") + "'",
                 4, "row 5, column \"x\": the value is missing");
  // Rows without a target are dropped, and counted.
  const std::string some = quoted("some.csv", with_column("x", 60, [](int i) {
                                                return text(i % 7);
                                              }) + "1,2,\n3,4,NA\n");
  const ProgramResult trained = train(some + "--target y");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(
      contains(trained.err, "ignored 2 of 62 rows with a missing target"))
      << trained.err;
  const ProgramResult evaluated =
      run_program("evaluate '" + run_path() + "' " + some + "--json");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["rows_dropped"], 2);
  EXPECT_TRUE(contains(evaluated.err, "dropped 2 rows")) << evaluated.err;
}

TEST_F(Reading, AnIdIsCarriedIntoThePredictions) {
  const std::string table = quoted(
      "t.csv", with_column("name", 60, [](int i) { return "n" + text(i); }));
  ASSERT_EQ(train(table + "--target y --id name").exit_code, 0);
  EXPECT_EQ(columns()["name"]["role"], "id");
  const ProgramResult predicted =
      run_program("predict '" + run_path() + "' " + table);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.err, "");
  EXPECT_TRUE(contains(predicted.out, "row,name,mean,sd,")) << predicted.out;
  EXPECT_TRUE(contains(predicted.out, "\n60,n59,")) << predicted.out;
  // A table without it has no names.
  const ProgramResult nameless = run_program(
      "predict '" + run_path() + "' " + quoted("p.csv", "a,z\n1,5\n2,6\n"));
  ASSERT_EQ(nameless.exit_code, 0) << nameless.err;
  EXPECT_TRUE(contains(nameless.out, "\n2,")) << nameless.out;
  expect_failure("train " + table + "--target y --id y", 2, "is the target");
}

TEST_F(Reading, ColumnsAreNamedOrNumbered) {
  const std::string table =
      quoted("t.csv", with_column("x", 60, [](int i) { return text(i % 7); }));
  for (const char* target : {"3", "last", "y"}) {
    ASSERT_EQ(train(table + "--exclude 1 --target " + target).exit_code, 0);
    EXPECT_EQ(columns()["y"]["role"], "target") << target;
    EXPECT_EQ(columns()["x"]["role"], "ignored") << target;
  }
  const auto refused = [&](const std::string& words, const std::string& part) {
    expect_failure(
        "train " + table + words + " --out '" + (folder_ / "none") + "'", 2,
        part);
  };
  refused("--target xx",
          "has no column named \"xx\"; did you mean \"x\"? (its "
          "columns are \"x\", \"a\", \"y\")");
  refused("--target z", "has no column named \"z\"; its columns are \"x\"");
  refused("--target nothing", "; its columns are \"x\", \"a\", \"y\"");
  refused("--target 4", "has no column named \"4\", and 3 by number");
  refused("--target y --exclude b", "has no column named \"b\"");
  refused("--target y --include b", "has no column named \"b\"");
  refused("--target y --id nam", "has no column named \"nam\"");
  refused("--target y --exclude y", "it can be neither excluded nor an id");
  ASSERT_EQ(train(table + "--target y").exit_code, 0);
  expect_failure(
      "predict '" + run_path() + "' " + quoted("p.csv", "x,aa\n1,5\n2,6\n"), 4,
      "(its columns are \"x\", \"aa\")");
}

TEST_F(Reading, TheHeaderCanBeSaid) {
  std::string table;
  for (int i = 0; i < 60; ++i) {
    table += text(i % 7) + "," + text(i * 37 % 50 + 100) + "\n";
  }
  const std::string path = quoted("t.csv", table);
  ASSERT_EQ(train(path + "--target last --header no").exit_code, 0);
  EXPECT_EQ(columns()["column_1"]["role"], "input");
  const ProgramResult predicted =
      run_program("predict '" + run_path() + "' " + path + "--header no");
  EXPECT_TRUE(contains(predicted.out, "\n60,")) << predicted.err;
  ASSERT_EQ(train(path + "--target last --header yes").exit_code, 0);
  EXPECT_EQ(columns()["100"]["role"], "target");
  expect_failure("train " + path + "--target last --header maybe", 2,
                 "--header must be yes or no");
}

TEST_F(Reading, StandardInputIsATable) {
  const std::string table =
      with_column("x", 60, [](int i) { return text(i % 7); });
  const std::string path = folder_.write("t.csv", table);
  const auto with_input = [&](const std::string& words) {
    return run_program(words, "", "exec < '" + path + "'");
  };
  const ProgramResult trained = with_input(
      "train - --target y --method rdp --epochs 20 --out '" + run_path() + "'");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const ProgramResult predicted = with_input("predict '" + run_path() + "' -");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.out,
            run_program("predict '" + run_path() + "' '" + path + "'").out);
  const std::string evaluate = "evaluate '" + run_path() + "' ";
  EXPECT_EQ(with_input(evaluate + "- --json").out,
            run_program(evaluate + "'" + path + "' --json").out);
}

TEST_F(Reading, FilesAreJoined) {
  const auto part = [&](const std::string& name, int from, int to) {
    std::string table = "a,y\n";
    for (int i = from; i < to; ++i) {
      table += text(i * 37 % 50) + "," + text(i * 74 % 100 + i % 3) + "\n";
    }
    return quoted(name, table);
  };
  const std::string all = part("all.csv", 0, 90);
  const std::string parts = part("1.csv", 0, 50) + part("2.csv", 50, 90);
  ASSERT_EQ(train(all + "--target y").exit_code, 0);
  const std::string predicted =
      run_program("predict '" + run_path() + "' " + all).out;
  ASSERT_EQ(train(parts + "--target y").exit_code, 0);
  EXPECT_EQ(run_program("predict '" + run_path() + "' " + parts).out,
            predicted);
  expect_failure("train " + all + quoted("b.csv", "a,z\n1,2\n") +
                     "--target y --out '" + (folder_ / "none") + "'",
                 4, "its column 2 is \"z\", but that of");
  expect_failure("train " + all + "builtin:robot-arm --target y", 2,
                 "only files can be joined");
}

TEST_F(Reading, ATargetOfTwoNumbersHintsAtClasses) {
  const ProgramResult trained = train(
      quoted("t.csv", with_column("x", 60, [](int i) { return text(i % 2); })) +
      "--target x");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.err, "--categorical x")) << trained.err;
}

}  // namespace
}  // namespace radir
