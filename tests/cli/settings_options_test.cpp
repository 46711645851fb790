#include "cli/settings_options.h"

#include <gtest/gtest.h>

namespace radir::cli {
namespace {

struct Example {
  double rate = 0.5;
  std::int64_t count = 3;
  bool fast = false;
  std::vector<std::int64_t> widths;
  std::optional<double> limit;
  std::optional<std::int64_t> most;
};

void describe(SettingsVisitor& visit, Example& example) {
  visit.number({"rate", "Rate of the example", above(0)}, example.rate);
  visit.integer({"count", "Number of examples", at_least(1)}, example.count);
  visit.flag({"fast", "Whether to hurry", {}}, example.fast);
  visit.integers({"widths", "Widths", above(0)}, example.widths);
  visit.optional_number({"limit", "Limit, if any", {}}, example.limit);
  visit.optional_integer({"most", "Most, if any", {}}, example.most);
}

TEST(SettingsOptions, SetTheSettings) {
  Example example;
  CLI::App app;
  add_settings_options(app, example,
                       {{"count", "--number"},
                        {"rate", "--rate"},
                        {"fast", "--fast"},
                        {"widths", "--widths", '-'},
                        {"limit", "--limit"},
                        {"most", "--most"}});
  app.parse("--number 7 --rate 0.25 --fast --widths 4-5 --most 9");
  EXPECT_EQ(example.count, 7);
  EXPECT_EQ(example.rate, 0.25);
  EXPECT_TRUE(example.fast);
  EXPECT_EQ(example.widths, (std::vector<std::int64_t>{4, 5}));
  EXPECT_FALSE(example.limit);
  EXPECT_EQ(example.most, 9);
}

TEST(SettingsOptions, HelpSaysWhatTheDescriptionSays) {
  Example example;
  CLI::App app;
  add_settings_options(app, example,
                       {{"count", "--number"}, {"widths", "--widths"}});
  const std::string help = app.help();
  EXPECT_NE(help.find("--number N"), std::string::npos) << help;
  EXPECT_NE(help.find("Number of examples"), std::string::npos) << help;
  EXPECT_NE(help.find("N,N,..."), std::string::npos) << help;
  EXPECT_EQ(help.find("Rate"), std::string::npos) << help;
}

}  // namespace
}  // namespace radir::cli
