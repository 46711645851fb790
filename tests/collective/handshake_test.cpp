#include <gtest/gtest.h>

#include "collective/connection.h"

namespace radir::collective {
namespace {

// RFC 4231, test cases 2 and 6.
TEST(Hmac, IsThatOfTheStandard) {
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hmac_sha256(std::string(131, '\xaa'),
                  "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(RandomHex, HasItsLengthAndDoesNotRepeat) {
  EXPECT_EQ(random_hex(16).size(), 32u);
  EXPECT_NE(random_hex(16), random_hex(16));
}

}  // namespace
}  // namespace radir::collective
