#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace radir {

/// A few threads that wait for loops to run.
///
/// Work is cut into tasks by the caller, never by the number of threads, so
/// that what a task computes (and the order in which results are combined) is
/// the same for any number of threads. A thread begins with the same part of
/// any two loops, where it finds in its cache what it wrote there before.
class ThreadPool {
 public:
  /// Uses `threads` threads, the calling one included; 0 takes all that are
  /// available. A pool of one runs everything in the caller.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  /// Runs task(0) ... task(count - 1), each exactly once, on any thread, and
  /// returns when all are done. The first exception a task throws is rethrown
  /// here. Not to be called from inside a task of the same pool.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs task(0) ... task(count - 1) in the pool, or here where it is null.
template <typename Task>
void run_tasks(ThreadPool* pool, std::int64_t count, const Task& task) {
  if (pool == nullptr || count == 1) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
  } else {
    // Captures one reference: std::function holds it without allocating.
    pool->run(count, [&task](std::int64_t i) { task(i); });
  }
}

}  // namespace radir
