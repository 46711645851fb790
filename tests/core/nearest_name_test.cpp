#include "radir/core/nearest_name.h"

#include <gtest/gtest.h>

namespace radir {
namespace {

TEST(NearestName, FindsMisspellings) {
  const std::vector<std::string> names = {"age", "income", "price", "Pirce"};
  EXPECT_EQ(nearest_name("icnome", names), "income");
  EXPECT_EQ(nearest_name("prices", names), "price");
  EXPECT_EQ(nearest_name("AGE", names), "age");
  EXPECT_EQ(nearest_name("pirce", names), "Pirce");
}

TEST(NearestName, GivesNothingWhenNothingIsNear) {
  const std::vector<std::string> names = {"age", "income"};
  EXPECT_EQ(nearest_name("temperature", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("z", {"a", "b"}), "");
  EXPECT_EQ(nearest_name("z", {"za", "Z"}), "Z");
  EXPECT_EQ(nearest_name(std::string(10'000, 'a'), {std::string(10'000, 'a')}),
            "");
}

TEST(NearestName, PutsItIntoWords) {
  EXPECT_EQ(did_you_mean("pric", {"price"}), "; did you mean \"price\"?");
  EXPECT_EQ(did_you_mean("zzz", {"price"}), "");
  EXPECT_EQ(known_names("pric", {"age", "price"}),
            "; those known are age, price; did you mean \"price\"?");
}

}  // namespace
}  // namespace radir
