#include "radir/files/byte_source.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace radir::files {
namespace {

using testing::expect_error;
using testing::gzip;
using testing::TemporaryFolder;

constexpr std::size_t kLimit = std::size_t{1} << 30;

std::string text_of_bytes(std::string_view bytes) {
  return read_all(*memory_byte_source("memory", bytes), kLimit);
}

// Longer than one internal block, and not compressible to nothing.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) {
    text += std::to_string(i * 7919 % 10007) + (i % 5 ? "," : "\n");
  }
  return text;
}

TEST(ByteSource, HandsPlainBytesOn) {
  EXPECT_EQ(text_of_bytes(""), "");
  EXPECT_EQ(text_of_bytes("\x1f"), "\x1f");
  EXPECT_EQ(text_of_bytes("hello"), "hello");
  EXPECT_EQ(text_of_bytes(long_text()), long_text());
}

TEST(ByteSource, InflatesGzipWhateverItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.write("table.csv", gzip(long_text()));
  EXPECT_EQ(read_all(*open_byte_source(path), kLimit), long_text());
  EXPECT_EQ(text_of_bytes(gzip("")), "");
}

TEST(ByteSource, JoinsSeveralGzipMembers) {
  EXPECT_EQ(text_of_bytes(gzip("one,") + gzip("") + gzip("two")), "one,two");
}

TEST(ByteSource, RefusesGzipCutAtAnyLength) {
  const std::string whole = gzip("a,b\n1,2\n3,4\n");
  for (std::size_t length = 2; length < whole.size(); ++length) {
    expect_error<IoError>(
        [&] { text_of_bytes(whole.substr(0, length)); },
        "memory: the gzip data ends after " + std::to_string(length) +
            " bytes, before its end mark: the file is truncated");
  }
}

TEST(ByteSource, NeverTakesFlippedGzipBytesForTheText) {
  const std::string text = "a,b\n1,2\n3,4\n";
  const std::string whole = gzip(text);
  int refused = 0;
  for (std::size_t i = 2; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    try {
      // Only the time stamp, flags and system of the gzip header are free.
      EXPECT_EQ(text_of_bytes(damaged), text) << "byte " << i;
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) - 10);
}

TEST(ByteSource, RefusesDamagedGzipAndBytesAfterIt) {
  std::string damaged = gzip(long_text());
  damaged[damaged.size() / 2] =
      static_cast<char>(damaged[damaged.size() / 2] ^ 0xFF);
  expect_error<IoError>([&] { text_of_bytes(damaged); }, "damaged near byte");
  expect_error<IoError>([&] { text_of_bytes(gzip("a") + "x"); },
                        "come bytes that are not gzip");
}

TEST(ByteSource, ExplainsFilesThatCannotBeRead) {
  const TemporaryFolder folder;
  expect_error<IoError>([&] { open_byte_source(folder / "absent.csv"); },
                        "absent.csv: no such file or folder");
  expect_error<IoError>([&] { open_byte_source(folder.path()); },
                        "it is a folder, not a file");
}

TEST(ByteSource, ReadAllStopsAtItsLimit) {
  const auto source = memory_byte_source("memory", "12345678");
  expect_error<IoError>([&] { read_all(*source, 7); },
                        "memory: longer than the limit of 7 bytes");
  EXPECT_EQ(read_all(*memory_byte_source("memory", "1234567"), 7), "1234567");
}

}  // namespace
}  // namespace radir::files
