#include "radir/core/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "radir/core/error.h"

namespace radir {
namespace {

TEST(ThreadPool, RunsEveryTaskExactlyOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<int> hits(97, 0);
      pool.run(97,
               [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(hits, std::vector<int>(97, 1)) << threads << " threads";
    }
  }
}

TEST(ThreadPool, AnEmptyLoopReturns) {
  ThreadPool pool(2);
  bool ran = false;
  pool.run(0, [&](std::int64_t) { ran = true; });
  EXPECT_FALSE(ran);
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.run(50,
                        [](std::int64_t i) {
                          if (i == 7) throw std::runtime_error("seven");
                        }),
               std::runtime_error);
  std::vector<int> hits(10, 0);
  pool.run(10, [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), 10);
}

TEST(ThreadPool, RefusesAnImpossibleNumberOfThreads) {
  EXPECT_THROW(ThreadPool(-1), ArgumentError);
}

}  // namespace
}  // namespace radir
