#include "radir/collective/collective.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "support/expect_error.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;
using std::chrono::seconds;

/// Runs the same with each rank at a time.
void with_workers(int size, Store& store,
                  const std::function<void(Collective&)>& work) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Collective collective(store, rank, size, seconds(30));
      work(collective);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Collective, SumsHaveTheSameBitsForAll) {
  const auto store = local_store();
  constexpr int kSize = 3;
  // Their sum depends on the order.
  const float parts[kSize] = {1e8f, -1e8f, 1.25f};
  std::vector<float> sums(kSize);
  with_workers(kSize, *store, [&](Collective& collective) {
    for (int round = 0; round < 5; ++round) {
      const auto rank = static_cast<std::size_t>(collective.rank());
      sums[rank] = parts[rank];
      collective.all_reduce(&sums[rank], 1);
      ASSERT_EQ(sums[rank], 1.25f);
    }
  });
  for (const float sum : sums) EXPECT_EQ(sum, (1e8f + -1e8f) + 1.25f);
}

TEST(Collective, OneSaysWhatAllHear) {
  const auto store = local_store();
  with_workers(4, *store, [&](Collective& collective) {
    const std::string own = std::to_string(collective.rank());
    EXPECT_EQ(collective.broadcast(own), "0");
    EXPECT_EQ(collective.broadcast(own, 2), "2");
  });
}

TEST(Collective, AloneItIsQuick) {
  const auto store = local_store();
  Collective alone(*store, 0, 1, Milliseconds(1));
  double number = 0.1;
  alone.all_reduce(&number, 1);
  alone.barrier();
  EXPECT_EQ(number, 0.1);
  EXPECT_EQ(alone.broadcast("x"), "x");
}

TEST(Collective, NamesTheWorkerThatDoesNotCome) {
  const auto store = local_store();
  Collective waiting(*store, 0, 2, Milliseconds(20));
  expect_error<ConnectionError>([&] { waiting.barrier(); },
                                "worker 1 of 2 did not come within");
}

TEST(Collective, RefusesSumsOfDifferentLengths) {
  const auto store = local_store();
  std::thread other([&] {
    Collective collective(*store, 1, 2, seconds(30));
    double numbers[2] = {1, 2};
    EXPECT_THROW(collective.all_reduce(numbers, 2), ConnectionError);
  });
  Collective collective(*store, 0, 2, seconds(30));
  double number = 1;
  expect_error<ConnectionError>([&] { collective.all_reduce(&number, 1); },
                                "worker 1 sums up 2 numbers, this one 1");
  other.join();
}

TEST(Collective, RefusesARankThatIsNotThere) {
  const auto store = local_store();
  expect_error<ArgumentError>(
      [&] { Collective(*store, 2, 2, Milliseconds(1)); },
      "the rank must be from 0 to 1, but is 2");
}

}  // namespace
}  // namespace radir::collective
