#include "radir/files/settings_json.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace radir::files {
namespace {

enum class Fruit { Apple, Pear };

struct EveryKind {
  double number = 1.5;
  std::int64_t integer = -3;
  std::uint64_t seed = 0xffffffffffffffffu;
  bool flag = true;
  std::string text = "a b";
  std::vector<std::int64_t> integers = {3, 1};
  std::optional<double> present = 2;
  std::optional<double> absent;
  Fruit fruit = Fruit::Pear;
};

void describe(SettingsVisitor& visit, EveryKind& settings) {
  const Choices<Fruit> fruits = {{Fruit::Apple, "apple"},
                                 {Fruit::Pear, "pear"}};
  visit.number({"number", "Number", {}}, settings.number);
  visit.integer({"integer", "Integer", {}}, settings.integer);
  visit.seed({"seed", "Seed", {}}, settings.seed);
  visit.flag({"flag", "Flag", {}}, settings.flag);
  visit.text({"text", "Text", {}}, settings.text);
  visit.integers({"integers", "Integers", {}}, settings.integers);
  visit.optional_number({"present", "Present", {}}, settings.present);
  visit.optional_number({"absent", "Absent", {}}, settings.absent);
  visit.choice({"fruit", "Fruit", {}}, settings.fruit, fruits);
}

const char* const kDocument =
    R"({"number":1.5,"integer":-3,"seed":18446744073709551615,"flag":true,)"
    R"("text":"a b","integers":[3,1],"present":2.0,"absent":null,)"
    R"("fruit":"pear"})";

TEST(SettingsJson, WritesEveryKindInOrder) {
  EveryKind settings;
  nlohmann::ordered_json json;
  SettingsWriter writer(json);
  describe(writer, settings);
  EXPECT_EQ(json.dump(), kDocument);
}

EveryKind read(nlohmann::ordered_json json) {
  EveryKind settings{0, 0, 0, false, "", {}, {}, 1, Fruit::Apple};
  JsonObject object(json, "settings");
  SettingsReader reader(object);
  describe(reader, settings);
  object.finish();
  return settings;
}

TEST(SettingsJson, ReadsWhatIsWritten) {
  EveryKind settings = read(nlohmann::ordered_json::parse(kDocument));
  nlohmann::ordered_json json;
  SettingsWriter writer(json);
  describe(writer, settings);
  EXPECT_EQ(json.dump(), kDocument);
}

// A null value that turns into an object later crashes without memory.
TEST(SettingsJson, AWriterBeginsAnObject) {
  nlohmann::ordered_json json;
  const SettingsWriter writer(json);
  EXPECT_TRUE(json.is_object());
}

TEST(SettingsJson, ReadingIsStrict) {
  const auto refuse = [](const char* key, const nlohmann::ordered_json& value,
                         const std::string& part) {
    auto json = nlohmann::ordered_json::parse(kDocument);
    json[key] = value;
    testing::expect_error<IoError>([&] { read(json); }, part);
  };
  refuse("number", "x", "settings: \"number\" must be a number");
  refuse("fruit", "plum", "which this program does not know; it knows apple");
  refuse("colour", 1, "\"colour\" is unknown");
}

}  // namespace
}  // namespace radir::files
