#include "radir/collective/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;

constexpr std::size_t kSize = SharedMemory::kLeastBytes;
constexpr std::int64_t kKept = 3;

class SharedMemoryTest : public ::testing::Test {
 protected:
  std::unique_ptr<SharedMemory> worker(int rank) {
    return SharedMemory::open(memory_->place(), rank);
  }
  std::string reference(const std::string& numbers) const {
    return "memory " + memory_->name() + " " + numbers;
  }
  static std::string text_of(const SharedMemory::Value& value) {
    return {value.bytes, value.size};
  }

  std::unique_ptr<SharedMemory> memory_ = SharedMemory::create(2);
};

TEST_F(SharedMemoryTest, WorkersReadWhatOthersPut) {
  const auto first = worker(0);
  const auto second = worker(1);
  const std::string large(kSize + 5, 'a');
  const std::string other(2 * kSize, 'b');
  const auto reference = first->put(large, kKept);
  ASSERT_TRUE(reference);
  EXPECT_LT(reference->size(), 100u);
  const auto of_second = second->put(other, kKept);
  ASSERT_TRUE(of_second);
  const auto value = second->find(*reference);
  EXPECT_EQ(text_of(value), large);
  EXPECT_TRUE(second->is_kept(value));
  EXPECT_EQ(text_of(first->find(*of_second)), other);
}

TEST_F(SharedMemoryTest, KeepsAsManyValuesAsItWasAskedFor) {
  const auto first = worker(0);
  const auto second = worker(1);
  std::vector<SharedMemory::Value> values;
  for (int i = 0; i < 10; ++i) {
    const std::string text(kSize + static_cast<std::size_t>(i % 2),
                           static_cast<char>('a' + i));
    values.push_back(second->find(*first->put(text, kKept)));
    for (int j = 0; j <= i; ++j) {
      const auto& value = values[static_cast<std::size_t>(j)];
      if (j > i - kKept) {
        EXPECT_TRUE(second->is_kept(value)) << i << " " << j;
        EXPECT_EQ(value.bytes[0], 'a' + j);
      }
      // Whatever it says is kept is whole.
      if (second->is_kept(value)) {
        EXPECT_EQ(text_of(value),
                  std::string(value.size, static_cast<char>('a' + j)));
      }
    }
  }
  EXPECT_FALSE(second->is_kept(values.front()));
}

TEST_F(SharedMemoryTest, LargerAndSmallerValuesReplaceNoneTooEarly) {
  const auto first = worker(0);
  std::size_t size = kSize;
  SharedMemory::Value last;
  for (int i = 0; i < 50; ++i) {
    size = i % 7 == 0 ? 9 * kSize : (i % 5 == 0 ? 3 * kSize + 17 : kSize);
    const auto value = first->find(*first->put(std::string(size, 'x'), kKept));
    EXPECT_TRUE(first->is_kept(value));
    if (i > 0) {
      EXPECT_TRUE(first->is_kept(last)) << i;
    }
    last = value;
  }
}

TEST_F(SharedMemoryTest, AWorkerThatIsStartedAgainKeepsItsValues) {
  SharedMemory::Value value;
  const auto second = worker(1);
  {
    const auto first = worker(0);
    value = second->find(*first->put(std::string(kSize, 'a'), kKept));
  }
  const auto first = worker(0);
  ASSERT_TRUE(first->put(std::string(kSize, 'b'), kKept));
  EXPECT_TRUE(second->is_kept(value));
  EXPECT_EQ(text_of(value), std::string(kSize, 'a'));
}

TEST_F(SharedMemoryTest, TwoWorkersOfOneRankDoNotWriteTheSameArea) {
  const auto first = worker(0);
  const auto same = worker(0);
  EXPECT_TRUE(first->put(std::string(kSize, 'a'), kKept));
  EXPECT_FALSE(same->put(std::string(kSize, 'a'), kKept));
}

TEST_F(SharedMemoryTest, LeavesSmallAndHugeValuesToTheStore) {
  const auto first = worker(0);
  EXPECT_FALSE(first->put(std::string(kSize - 1, 'a'), kKept));
  const std::string huge(std::size_t{200} << 20, 'a');
  EXPECT_FALSE(first->put(huge, kKept));
  EXPECT_FALSE(
      first->put(std::string(kSize, 'a'), SharedMemory::kMostKept + 1));
}

TEST_F(SharedMemoryTest, IsSharedWithOtherProcesses) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto put = worker(0)->put(std::string(kSize, 'c'), kKept);
    ::_exit(put == reference("0 1 4096 65536") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto second = worker(1);
  EXPECT_EQ(text_of(second->find(reference("0 1 4096 65536"))),
            std::string(kSize, 'c'));
}

TEST_F(SharedMemoryTest, RefusesWhatLeadsNowhere) {
  const auto first = worker(0);
  for (const std::string& text :
       {std::string(), std::string("memory"),
        std::string("memory 0123456789abcdef 0 1 4096 65536"),
        reference("0 1 4096 65536 "), reference("2 1 4096 65536"),
        reference("-1 1 4096 65536"), reference("0 1 0 65536"),
        reference("0 1 4096 -1"), reference("0 1 536870000 65536"),
        reference("0 1 4096 9223372036854775807")}) {
    expect_error<IoError>([&] { first->find(text); },
                          "\"" + text + "\" is not a value in the memory");
  }
}

TEST(SharedMemory, OpensNothingElse) {
  expect_error<IoError>([] { SharedMemory::open("/nonexistent", 0); },
                        "start all workers on the machine of radir launch");
  expect_error<IoError>([] { SharedMemory::open("/dev/null", 0); },
                        "is not the memory of this job");
  const auto memory = SharedMemory::create(2);
  expect_error<IoError>([&] { SharedMemory::open(memory->place(), 2); },
                        "is not the memory of this job");
  // A process identifier and a descriptor may be those of another job.
  const auto other = SharedMemory::create(2);
  const std::string path = memory->place().substr(0, memory->place().find(' '));
  for (const std::string& place : {path, path + " " + other->name()}) {
    expect_error<IoError>([&] { SharedMemory::open(place, 0); },
                          "is not the memory of this job; start all workers");
  }
  const ::radir::testing::TemporaryFolder folder;
  const std::string file = folder / "file";
  std::ofstream(file) << memory->name();
  std::filesystem::resize_file(file, std::uintmax_t{1} << 30);
  expect_error<IoError>(
      [&] { SharedMemory::open(file + " " + memory->name(), 0); },
      "is not the memory of this job");
}

TEST(SharedMemory, IsNotMadeWhereAddressSpaceIsLimited) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{rlim_t{64} << 30, rlim_t{64} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    ::_exit(SharedMemory::create(2) == nullptr ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace radir::collective
