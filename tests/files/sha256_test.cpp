#include "radir/files/sha256.h"

#include <gtest/gtest.h>

namespace radir::files {
namespace {

// The examples of FIPS 180-4, as NIST publishes them, and the empty message.
TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(sha256(""),
            "e3b0c44298fc1c149afbf4c8996fb924"
            "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeNoDifference) {
  const std::string text(300, 'r');
  for (std::size_t chunk : {1u, 7u, 63u, 64u, 65u, 128u, 299u}) {
    Sha256 sum;
    for (std::size_t i = 0; i < text.size(); i += chunk) {
      sum.add(std::string_view(text).substr(i, chunk));
    }
    EXPECT_EQ(sum.hex(), sha256(text)) << chunk;
  }
}

// Lengths around the end of a block, where the padding takes another one; sums
// by coreutils' sha256sum.
TEST(Sha256, PadsEveryLength) {
  EXPECT_EQ(sha256(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694"
            "958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c72"
            "3e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455"
            "a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sha256(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdf"
            "e1ced42befe7ee8d5fd6219506b5393c");
}

}  // namespace
}  // namespace radir::files
