#include "radir/core/settings.h"

#include <gtest/gtest.h>

namespace radir {
namespace {

enum class Colour { Red, Green };
const Choices<Colour> kColours = {{Colour::Red, "red"},
                                  {Colour::Green, "green"}};

struct Example {
  double rate = 0.1;
  std::int64_t count = 3;
  std::vector<std::int64_t> widths = {4, 5};
  std::optional<double> limit;
  std::optional<std::int64_t> most;
  Colour colour = Colour::Green;
};

void describe(SettingsVisitor& visit, Example& example) {
  visit.number({"rate", "Rate of the example", inside(0, 1)}, example.rate);
  visit.integer({"count", "Number of examples", at_least(1)}, example.count);
  visit.integers({"widths", "Widths", above(0)}, example.widths);
  visit.optional_number({"limit", "Limit, if any", at_least(0)}, example.limit);
  visit.optional_integer({"most", "Most, if any", at_least(2)}, example.most);
  visit.choice({"colour", "Colour", {}}, example.colour, kColours);
}

std::string message(const Example& example) {
  try {
    check_settings("example", example);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, AcceptsWhatIsInRange) { EXPECT_EQ(message({}), ""); }

TEST(Settings, NamesTheFirstFieldOutOfRange) {
  Example example;
  example.rate = 1;
  EXPECT_EQ(message(example),
            "example: rate must be between 0 and 1, but is 1");
  example.rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(example),
            "example: rate must be between 0 and 1, but is nan");
  example = {};
  example.count = 0;
  EXPECT_EQ(message(example), "example: count must be >= 1, but is 0");
  example = {};
  example.widths = {3, 0};
  EXPECT_EQ(message(example), "example: widths must be > 0, but is 0");
  example = {};
  example.limit = -2;
  EXPECT_EQ(message(example), "example: limit must be >= 0, but is -2");
  example = {};
  example.most = 1;
  EXPECT_EQ(message(example), "example: most must be >= 2, but is 1");
}

TEST(Settings, AChoiceKeepsItsValueUnlessTheVisitorChangesIt) {
  Example example;
  SettingsCheck check("example");
  describe(check, example);
  EXPECT_EQ(example.colour, Colour::Green);
  EXPECT_STREQ(choice_name(kColours, example.colour), "green");
}

TEST(Settings, RangesReadAsPeopleSayThem) {
  EXPECT_EQ(between(0, 1).text(), "from 0 to 1");
  EXPECT_EQ(half_open(0, 1).text(), "from 0 to below 1");
  EXPECT_TRUE(half_open(0, 1).contains(0));
  EXPECT_FALSE(half_open(0, 1).contains(1));
  EXPECT_EQ(any_number().text(), "finite");
  EXPECT_TRUE(any_number().contains(-1e300));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_TRUE(at_least(0).contains(0));
}

}  // namespace
}  // namespace radir
