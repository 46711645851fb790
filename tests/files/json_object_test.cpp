#include "radir/files/json_object.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "support/expect_error.h"

namespace radir::files {
namespace {

// Ten times the text takes ten times as long; quadratic time was a hundred
// times, half a minute for the longer one.
TEST(ParseJson, TakesLinearTime) {
  const auto parse_many = [](const std::string& one, std::size_t count) {
    std::string text = "[" + one;
    for (std::size_t i = 1; i < count; ++i) text += "," + one;
    return parse_json<nlohmann::ordered_json>("t", text + "]", {}).size();
  };
  for (const std::string one : {"{}", "{\"a\":[0]}"}) {
    const auto ticks = [&](std::size_t count) {  // of the processor
      const std::clock_t start = std::clock();
      EXPECT_EQ(parse_many(one, count), count);
      return static_cast<double>(std::clock() - start);
    };
    const double shorter = std::max(ticks(20000), ticks(20000));
    EXPECT_LT(ticks(200000), 40 * shorter) << one;
  }
  testing::expect_error<IoError>([&] { parse_many("0", 1000000); },
                                 "t has more than 1000000 values");
}

TEST(ParseJson, ExplainsWhatIsWrong) {
  const auto expect = [](const std::string& text, const char* part) {
    const JsonLimits limits = {2, 2, 10};
    testing::expect_error<IoError>(
        [&] { parse_json<nlohmann::json>("t", text, limits); }, part);
  };
  expect("{\"a\":1,\"a\":2}", "t has the key \"a\" twice");
  expect("{\"a\":1,\"b\":2,\"c\":3}", "more than 2 keys");
  expect("[[[0]]]", "t is nested deeper than 2 levels");
  expect("[1,2", "t is not well-formed JSON in UTF-8 (byte 5)");
  expect("[1e999]", "t contains a number that is too large");
  EXPECT_EQ(parse_json<nlohmann::json>("t", "[[0,[]]]", {2, 2, 10}).size(), 1u);
}

}  // namespace
}  // namespace radir::files
