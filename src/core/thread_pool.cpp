#include "radir/core/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "radir/core/cpu.h"
#include "radir/core/error.h"

namespace radir {
namespace {

// How often a thread looks for work before it sleeps: about ten microseconds,
// the time between two loops of one training step. Sleeping at once would cost
// a system call per loop; spinning for ever would starve other processes.
constexpr int kSpins = 2000;

/// The tasks that one thread takes first: from `next` to before `end`. Each in
/// a cache line of its own, or every take would slow the other threads.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : shares(static_cast<std::size_t>(threads)) {}

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::atomic<std::uint64_t> generation{0};
  std::atomic<bool> stop{false};

  // The loop being run; written by the caller before `generation` advances,
  // and only while no worker is inside the previous one.
  const std::function<void(std::int64_t)>* task = nullptr;
  std::vector<Share> shares;
  std::atomic<int> busy{0};
  std::exception_ptr failure;

  /// Thread `thread` gets the same share of any two loops of equal length, so
  /// that what it wrote in the first is still in its cache in the second.
  void share_out(std::int64_t count) {
    const auto threads = static_cast<std::int64_t>(shares.size());
    for (std::int64_t i = 0; i < threads; ++i) {
      Share& share = shares[static_cast<std::size_t>(i)];
      share.next.store(i * count / threads, std::memory_order_relaxed);
      share.end = (i + 1) * count / threads;
    }
  }

  /// Runs the tasks of this thread's share, then what the others left.
  void work(std::size_t thread) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      run_share(shares[(thread + i) % shares.size()]);
    }
  }

  void run_share(Share& share) {
    for (;;) {
      const std::int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end) return;
      try {
        (*task)(i);
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }

  /// Keeps the first failure and drops the tasks that have not started.
  void fail(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!failure) failure = std::move(error);
    for (Share& share : shares) {
      share.next.store(share.end, std::memory_order_relaxed);
    }
  }

  void loop(std::size_t thread) {
    std::uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && generation.load() == seen; ++spin) {
        pause_cpu();
      }
      if (generation.load() == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [&] { return generation.load() != seen; });
      }
      seen = generation.load();
      if (stop.load()) return;
      work(thread);
      if (busy.fetch_sub(1) == 1) {
        const std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
    }
  }

  void advance() {
    const std::lock_guard<std::mutex> lock(mutex);
    generation.fetch_add(1);
    wake.notify_all();
  }

  /// Starts workers; how many could be started.
  std::size_t start(std::size_t count) {
    try {
      workers.reserve(count);
      while (workers.size() < count) {
        const std::size_t thread = workers.size() + 1;
        workers.emplace_back([this, thread] { loop(thread); });
      }
    } catch (const std::exception&) {
    }
    return workers.size();
  }

  void end() {
    stop.store(true);
    advance();
    for (std::thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) {
  RADIR_CHECK(threads >= 0 && threads <= 1024, ArgumentError,
              "ThreadPool: number of threads must be between 0 (all) and 1024,",
              " but got ", threads);
  const int size = threads == 0 ? available_threads() : threads;
  state_ = std::make_unique<State>(size);
  const std::size_t wanted = state_->shares.size() - 1;
  const std::size_t started = state_->start(wanted);
  if (started == wanted) return;
  // No more threads, or no memory for them: work needs memory too, so half of
  // them go again. The others take their tasks.
  state_->end();
  state_ = std::make_unique<State>(size);
  state_->start(started / 2);
}

ThreadPool::~ThreadPool() { state_->end(); }

int ThreadPool::size() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::run(std::int64_t count,
                     const std::function<void(std::int64_t)>& task) {
  if (count <= 0) return;
  State& state = *state_;
  if (state.workers.empty() || count == 1) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  state.task = &task;
  state.share_out(count);
  state.failure = nullptr;
  state.busy.store(static_cast<int>(state.workers.size()));
  state.advance();
  state.work(0);
  for (int spin = 0; spin < kSpins && state.busy.load() != 0; ++spin) {
    pause_cpu();
  }
  if (state.busy.load() != 0) {
    std::unique_lock<std::mutex> lock(state.mutex);
    state.done.wait(lock, [&] { return state.busy.load() == 0; });
  }
  if (state.failure) std::rethrow_exception(state.failure);
}

}  // namespace radir
