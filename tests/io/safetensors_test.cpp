#include "radir/io/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/largest_allocation.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using testing::expect_error;
using testing::read_bytes;
using testing::TemporaryFolder;

// The length of a header and the header, as in a file.
std::string prefixed(const std::string& header) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header;
}

void load(const std::string& bytes) { SafetensorsFile("f", bytes); }

// A small model as `SafetensorsWriter` writes it.
class SmallModel {
 public:
  SmallModel() {
    writer_.set_metadata("format", "1");
    writer_.set_metadata("config", "{\"seed\":\"7\"}");
    writer_.add("weight", {2, 3}, weight_.data());
    writer_.add("mask", {3}, mask_.data());
    writer_.add("exact", {1}, exact_.data());
    writer_.add("empty", {0, 4}, weight_.data());
    writer_.add("steps", {}, &steps_);
    writer_.add("index", {2}, index_.data());
  }
  const SafetensorsWriter& writer() const { return writer_; }

  /// Fails unless the file holds just this model.
  void expect_equal(const SafetensorsFile& file) const {
    EXPECT_EQ(file.metadata("format"), "1");
    EXPECT_EQ(file.metadata("config"), "{\"seed\":\"7\"}");
    EXPECT_EQ(file.tensors().size(), 6u);
    EXPECT_EQ(file.values<float>("weight", {2, 3}), weight_);
    EXPECT_EQ(file.values<std::uint8_t>("mask", {3}), mask_);
    EXPECT_EQ(file.values<double>("exact", {1}), exact_);
    EXPECT_EQ(file.values<float>("empty", {0, 4}), std::vector<float>());
    EXPECT_EQ(file.values<std::int64_t>("steps", {})[0], steps_);
    EXPECT_EQ(file.values<std::int32_t>("index", {2}), index_);
  }

 private:
  std::vector<float> weight_ = {1, -2.5f, 3e-8f, 4, 5, 6e30f};
  std::vector<std::uint8_t> mask_ = {0, 1, 255};
  std::vector<double> exact_ = {1.0 / 3};
  std::int64_t steps_ = -1234567890123;
  std::vector<std::int32_t> index_ = {-7, 8};
  SafetensorsWriter writer_;
};

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const SmallModel model;
  model.writer().write(folder / "m.safetensors");
  const SafetensorsFile file(folder / "m.safetensors");
  model.expect_equal(file);
  EXPECT_TRUE(file.contains("mask"));
  EXPECT_FALSE(file.contains("bias"));
  EXPECT_EQ(read_bytes(folder / "m.safetensors"), model.writer().bytes());
}

TEST(Safetensors, BytesDependOnContentAlone) {
  const float values[2] = {1, 2};
  SafetensorsWriter one, other;
  one.set_metadata("a", "1");
  one.set_metadata("b", "2");
  one.add("x", {2}, values);
  one.add("y", {1}, values);
  other.add("y", {1}, values);
  other.add("x", {2}, values);
  other.set_metadata("b", "2");
  other.set_metadata("a", "1");
  EXPECT_EQ(one.bytes(), other.bytes());
}

TEST(Safetensors, TensorsAreAlignedToTheirElements) {
  const std::string bytes = SmallModel().writer().bytes();
  const SafetensorsFile file("f", bytes);
  for (const auto& [name, tensor] : file.tensors()) {
    const auto offset =
        static_cast<std::size_t>(tensor.bytes.data() - bytes.data());
    EXPECT_EQ(offset % size_of(tensor.dtype), 0u) << name;
  }
}

// The format by its description, read by a program that knows nothing of ours.
TEST(Safetensors, PythonReadsItByTheFormatsDescription) {
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "python3 is not here";
  }
  const TemporaryFolder folder;
  SmallModel().writer().write(folder / "m.safetensors");
  const std::string command =
      "python3 " RADIR_IO_TEST_SOURCE "/read_safetensors.py " +
      (folder / "m.safetensors") + " > " + (folder / "out");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_bytes(folder / "out"),
            "config {\"seed\":\"7\"}\n"
            "format 1\n"
            "empty F32 [0, 4] ()\n"
            "exact F64 [1] (0.3333333333333333,)\n"
            "index I32 [2] (-7, 8)\n"
            "mask U8 [3] (0, 1, 255)\n"
            "steps I64 [] (-1234567890123,)\n"
            "weight F32 [2, 3] (1.0, -2.5, 3e-08, 4.0, 5.0, 6e+30)\n");
}

TEST(Safetensors, RefusesAFileCutAtAnyLength) {
  const std::string whole = SmallModel().writer().bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(load(whole.substr(0, length)), IoError) << length;
  }
  EXPECT_THROW(load(whole + "x"), IoError);
}

// Looking at a mapped file that was cut would end the program (SIGBUS).
TEST(Safetensors, AFileThatIsCutAfterItWasOpenedIsStillRead) {
  const TemporaryFolder folder;
  const SmallModel model;
  model.writer().write(folder / "m.safetensors");
  const SafetensorsFile file(folder / "m.safetensors");
  std::filesystem::resize_file(folder / "m.safetensors", 0);
  model.expect_equal(file);
}

// Every bit of every byte, header and data: refused with a message, or, when
// the change makes our checksum's own name another one, loaded to the same
// model.
TEST(Safetensors, NeverLoadsAChangedByteAsSomethingElse) {
  const SmallModel model;
  const std::string whole = model.writer().bytes();
  int loaded = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        const SafetensorsFile file("f", changed);
        ++loaded;
        model.expect_equal(file);
      } catch (const IoError&) {
      }
    }
  }
  // Each of the eleven letters of "radir.crc32" can become other ASCII.
  EXPECT_GT(loaded, 11);
  EXPECT_LE(loaded, 11 * 7);
}

TEST(Safetensors, NoticesAnotherTypeOfTheSameSize) {
  std::string bytes = SmallModel().writer().bytes();
  bytes.replace(bytes.find("F32"), 3, "I32");
  expect_error<IoError>([&] { load(bytes); }, "was changed or damaged");
}

TEST(Safetensors, RefusesFalseClaimsWithoutAllocating) {
  const std::string ten_gigabytes = prefixed(
      R"({"x":{"dtype":"F32","shape":[2500000000],"data_offsets":[0,10000000000]}})");
  const std::string file = ten_gigabytes + std::string(900, 'x');
  testing::take_largest_allocation();
  expect_error<IoError>([&] { load(file); },
                        "claims the bytes 0 to 10000000000 of 900");
  std::string header_claim(1024, '{');
  const std::uint64_t claim = 10'000'000'000;
  std::memcpy(header_claim.data(), &claim, 8);
  expect_error<IoError>([&] { load(header_claim); },
                        "its header claims 10000000000 bytes, more than the "
                        "limit of 100000000");
  const std::uint64_t smaller = 90'000'000;
  std::memcpy(header_claim.data(), &smaller, 8);
  expect_error<IoError>([&] { load(header_claim); },
                        "claims 90000000 bytes, but the file has only 1016");
  EXPECT_LT(testing::take_largest_allocation(), 10'000u);
}

struct Fault {
  std::string bytes;
  const char* message;
};

TEST(Safetensors, NamesEveryFault) {
  const std::string four(4, '\0');
  const std::string eight(8, '\0');
  const auto tensor = [](const std::string& fields) {
    return prefixed("{\"x\":{" + fields + "}}");
  };
  std::string nested = R"({"x":{"dtype":"F32","shape":[)" +
                       std::string(1000, '[') + std::string(1000, ']') + "]}}";
  const Fault faults[] = {
      {"", "0 bytes are too few"},
      {prefixed("[1]"), "the header does not begin with '{'"},
      {prefixed(""), "too few for a header"},
      {prefixed("") + "x", "the header does not begin with '{'"},
      {prefixed("{\"a\":"), "not well-formed JSON in UTF-8 (byte"},
      {prefixed("{} {}"), "not well-formed JSON"},
      {prefixed("{\"\xFF\":1}"), "not well-formed JSON in UTF-8"},
      {prefixed("{\"a\":1e999}"), "a number that is too large"},
      {prefixed(nested), "nested deeper than 3 levels"},
      {prefixed(R"({"a":1,"a":1})"), "has the key \"a\" twice"},
      {tensor(R"("dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1])") +
           "x",
       "has the key \"dtype\" twice"},
      {prefixed(R"({"__metadata__":[]})"), "must be an object of strings"},
      {prefixed(R"({"__metadata__":{"a":1}})"),
       "the metadata \"a\" must be a string"},
      {prefixed(R"({"x":1})"), "tensor \"x\" must have dtype, shape"},
      {tensor(R"("dtype":"F32","shape":[1])") + four, "must have dtype, shape"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1)") +
           four,
       "and nothing else"},
      {tensor(R"("dtype":"BF16","shape":[2],"data_offsets":[0,4])") + four,
       "has the dtype \"BF16\"; F64, F32, I64, I32 and U8 can be read"},
      {tensor(R"("dtype":3,"shape":[1],"data_offsets":[0,4])") + four,
       "(not a string)"},
      {tensor(R"("dtype":"F32","shape":1,"data_offsets":[0,4])") + four,
       "the shape must be a list"},
      {tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])") + four,
       "must be integers >= 0"},
      {tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])") + four,
       "must be integers >= 0"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])") + four,
       "data_offsets must be two integers"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])") + four,
       "claims the bytes 4 to 0 of 4"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])") + four,
       "claims the bytes 0 to 8 of 4"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])") + four,
       "is F32 [2], which takes 8 bytes, but has 4"},
      {tensor(
           R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])") +
           four,
       "is larger than any file"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])") + eight,
       "the tensors take 4 bytes, but the file has 8"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])") + eight,
       "leave a hole at byte 0"},
      {prefixed(
           R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})") +
           "123456",
       "overlap at byte 2"},
      {prefixed(R"({"__metadata__":{"radir.crc32":"123"}})"),
       "the checksum in radir.crc32 cannot be read"},
      {prefixed(R"({"__metadata__":{"radir.crc32":"12345678"}})"),
       "but 12345678 was stored: the file was changed or damaged"},
      {prefixed(R"({"__metadata__":{"radir.crc32" : "12345678"}})"),
       "cannot be read"},
  };
  for (const Fault& fault : faults) {
    expect_error<IoError>([&] { load(fault.bytes); }, fault.message);
  }
}

TEST(Safetensors, ReadsFilesOfOthers) {
  const std::string bytes =
      prefixed(
          "{ \"b\" : {\"shape\":[1],\"data_offsets\":[0,1],\"dtype\":"
          "\"U8\"},\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":"
          "[1,5]}}   ") +
      std::string("\x09\0\0\x80\x3F", 5);
  const SafetensorsFile file("f", bytes);
  EXPECT_EQ(file.values<float>("a", {}), std::vector<float>{1.0f});
  EXPECT_EQ(file.values<std::uint8_t>("b", {1}), std::vector<std::uint8_t>{9});
  EXPECT_TRUE(file.metadata().empty());
}

TEST(Safetensors, RefusesTensorsOfAnotherKindThanNeeded) {
  const std::string bytes = SmallModel().writer().bytes();
  const SafetensorsFile file("f", bytes);
  expect_error<IoError>(
      [&] {
        file.values<double>("weight", {2, 3});
      },
      "f: tensor \"weight\" is F32 [2, 3], but F64 [2, 3] is "
      "needed");
  expect_error<IoError>(
      [&] {
        file.values<float>("weight", {3, 2});
      },
      "but F32 [3, 2] is needed");
  expect_error<IoError>([&] { file.tensor("wieght"); },
                        "f has no tensor named \"wieght\"; did you mean "
                        "\"weight\"?");
  expect_error<IoError>([&] { file.metadata("absent"); },
                        "has no metadata named \"absent\"");
}

TEST(Safetensors, RefusesNumbersThatAreNotFinite) {
  const float values[3] = {1, NAN, 3};
  SafetensorsWriter writer;
  writer.add("x", {3}, values);
  const std::string bytes = writer.bytes();
  const SafetensorsFile file("f", bytes);
  expect_error<IoError>([&] { file.values<float>("x", {3}); },
                        "holds nan at index 1; all its numbers must be finite");
}

TEST(Safetensors, WriterRefusesWhatTheFormatCannotHold) {
  const float value = 1;
  SafetensorsWriter writer;
  writer.set_metadata("a", "1");
  writer.add("x", {}, &value);
  expect_error<ArgumentError>([&] { writer.set_metadata("a", "2"); },
                              "\"a\" is set already");
  expect_error<ArgumentError>([&] { writer.set_metadata("radir.crc32", ""); },
                              "is reserved or not UTF-8");
  expect_error<ArgumentError>([&] { writer.set_metadata("b", "\xFF"); },
                              "is reserved or not UTF-8");
  expect_error<ArgumentError>([&] { writer.add("x", {}, &value); },
                              "two tensors are named \"x\"");
  expect_error<ArgumentError>([&] { writer.add("__metadata__", {}, &value); },
                              "is reserved or not UTF-8");
  expect_error<ArgumentError>([&] { writer.add("y", {-1}, &value); },
                              "impossible shape F32 [-1]");
}

TEST(Safetensors, ExplainsFilesThatCannotBeOpened) {
  const TemporaryFolder folder;
  expect_error<IoError>([&] { SafetensorsFile(folder / "absent"); },
                        "absent: no such file or folder");
  expect_error<IoError>([&] { SafetensorsFile file(folder.path()); },
                        "it is not a regular file");
  const std::string empty = folder.write("empty", "");
  expect_error<IoError>([&] { SafetensorsFile file(empty); },
                        "0 bytes are too few");
}

}  // namespace
}  // namespace radir::io
