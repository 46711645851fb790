#include "radir/core/settings_text.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace radir {
namespace {

using Texts = std::map<std::string, std::string>;

enum class Colour { Red, Green };
const Choices<Colour> kColours = {{Colour::Red, "red"},
                                  {Colour::Green, "green"}};

struct Example {
  double rate = 0.1;
  std::int64_t count = 3;
  bool fast = false;
  std::string name = "a";
  std::vector<std::int64_t> widths = {4, 5};
  std::optional<double> limit = 2;
  std::optional<std::int64_t> most;
  Colour colour = Colour::Red;
};

void describe(SettingsVisitor& visit, Example& example) {
  visit.number({"rate", "Rate", {}}, example.rate);
  visit.integer({"count", "Count", {}}, example.count);
  visit.flag({"fast", "Fast", {}}, example.fast);
  visit.text({"name", "Name", {}}, example.name);
  visit.integers({"widths", "Widths", {}}, example.widths);
  visit.optional_number({"limit", "Limit", {}}, example.limit);
  visit.optional_integer({"most", "Most", {}}, example.most);
  visit.choice({"colour", "Colour", {}}, example.colour, kColours);
}

Example assigned(const Texts& texts) {
  Example example;
  SettingsAssignment assignment("example", texts);
  describe(assignment, example);
  assignment.finish();
  return example;
}

TEST(SettingsAssignment, SetsWhatIsNamedAndNothingElse) {
  const Example example = assigned({{"rate", "0.5"},
                                    {"fast", "true"},
                                    {"widths", "7,8,9"},
                                    {"limit", "none"},
                                    {"most", "6"},
                                    {"colour", "green"}});
  EXPECT_EQ(example.rate, 0.5);
  EXPECT_EQ(example.count, 3);
  EXPECT_TRUE(example.fast);
  EXPECT_EQ(example.name, "a");
  EXPECT_EQ(example.widths, (std::vector<std::int64_t>{7, 8, 9}));
  EXPECT_FALSE(example.limit.has_value());
  EXPECT_EQ(example.most, 6);
  EXPECT_EQ(example.colour, Colour::Green);
}

TEST(SettingsAssignment, RefusesOtherValuesAndNames) {
  const auto expect_refused = [](const Texts& texts, const char* part) {
    testing::expect_error<ArgumentError>([&] { assigned(texts); }, part);
  };
  expect_refused({{"rate", "fast"}}, "rate must be a number, but is \"fast\"");
  expect_refused({{"rate", "1x"}}, "rate must be a number, but is \"1x\"");
  expect_refused({{"count", "1.5"}}, "count must be an integer");
  expect_refused({{"fast", "yes"}}, "fast must be true or false");
  expect_refused({{"widths", "3,x"}}, "widths must be integers");
  expect_refused({{"limit", ""}}, "limit must be a number or none");
  expect_refused({{"colour", "blue"}}, "colour must be one of red, green");
  expect_refused({{"rates", "1"}}, "there is no \"rates\"; did you mean");
}

TEST(ParseAssignments, SplitsNamesAndValues) {
  EXPECT_EQ(parse_assignments("options", ""), Texts{});
  EXPECT_EQ(parse_assignments("options", "a=1,b=x=y"),
            (Texts{{"a", "1"}, {"b", "x=y"}}));
  testing::expect_error<ArgumentError>(
      [] { parse_assignments("options", "a"); },
      "options: \"a\" must be NAME=VALUE");
  testing::expect_error<ArgumentError>(
      [] { parse_assignments("options", "a=1,a=2"); }, "a is given twice");
}

}  // namespace
}  // namespace radir
