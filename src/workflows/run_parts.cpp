#include "radir/workflows/run_parts.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "radir/workflows/shared_run.h"

namespace radir::workflows {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

/// The parts as this worker sees them.
class SharedParts {
 public:
  SharedParts(const PartsWork& work, SharedRun& shared)
      : work_(work),
        shared_(shared),
        states_(static_cast<std::size_t>(work.count), State::Open) {}

  /// In each thread: does parts until all are done.
  void run() {
    try {
      while (!all_done()) {
        if (do_one()) continue;
        work_.part(0)->check_stop();
        std::this_thread::sleep_for(kBetweenLooks);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      failed_ = true;
      throw;
    }
  }

 private:
  enum class State { Open, Here, Done };

  bool all_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed_) return true;  // the exception of another thread counts
    for (const State state : states_) {
      if (state != State::Done) return false;
    }
    return true;
  }

  /// Finds a part to do, in their order; false when others have all of them.
  bool do_one() {
    for (std::int64_t i = 0; i < work_.count; ++i) {
      if (!begin(i)) continue;
      bool done = false;
      try {
        done = is_done_elsewhere(i) || do_part(i);
      } catch (...) {
        set(i, State::Open);
        throw;
      }
      set(i, done ? State::Done : State::Open);
      if (done) return true;
    }
    return false;
  }

  bool begin(std::int64_t i) {
    const std::lock_guard<std::mutex> lock(mutex_);
    State& state = states_[static_cast<std::size_t>(i)];
    if (state != State::Open) return false;
    state = State::Here;
    return true;
  }

  void set(std::int64_t i, State state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    states_[static_cast<std::size_t>(i)] = state;
  }

  bool is_done_elsewhere(std::int64_t i) {
    if (work_.take_over) return work_.take_over(i);
    if (!shared_.is_done(work_.part(i)->name())) return false;
    work_.run(i);
    return true;
  }

  /// False when another worker has it, or has got it meanwhile.
  bool do_part(std::int64_t i) {
    const std::string name = work_.part(i)->name();
    if (!shared_.take(name)) return false;
    try {
      // Its owner may have finished it just before the lease was free.
      if (!is_done_elsewhere(i)) {
        work_.run(i);
        if (!work_.take_over) shared_.mark_done(name);
      }
    } catch (const Interrupted&) {
      const bool lost = shared_.has_lost(name);
      shared_.give_back(name);
      if (!lost) throw;
      return false;
    } catch (...) {
      shared_.give_back(name);
      throw;
    }
    shared_.give_back(name);
    return true;
  }

  const PartsWork& work_;
  SharedRun& shared_;
  std::mutex mutex_;
  std::vector<State> states_;
  bool failed_ = false;
};

}  // namespace

void run_parts(const PartsWork& work, ThreadPool* pool) {
  if (work.count == 0) return;
  const ResumableRun* const first = work.part(0);
  SharedRun* const shared = first == nullptr ? nullptr : first->shared();
  if (first != nullptr && first->sharded() != nullptr) pool = nullptr;
  if (shared == nullptr || shared->is_own(first->name())) {
    run_tasks(pool, work.count, work.run);
    return;
  }
  SharedParts parts(work, *shared);
  const std::int64_t threads = pool == nullptr ? 1 : pool->size();
  run_tasks(pool, threads, [&](std::int64_t) { parts.run(); });
}

void run_parts(
    const ResumableRun* run, const std::vector<std::string>& names,
    ThreadPool* pool,
    const std::function<void(std::int64_t, const ResumableRun*)>& work) {
  std::vector<ResumableRun> parts;
  for (const std::string& name : names) {
    if (run != nullptr) parts.push_back(name.empty() ? *run : run->part(name));
  }
  PartsWork all;
  all.count = static_cast<std::int64_t>(names.size());
  all.part = [&](std::int64_t i) {
    return parts.empty() ? nullptr : &parts[static_cast<std::size_t>(i)];
  };
  all.run = [&](std::int64_t i) { work(i, all.part(i)); };
  run_parts(all, pool);
}

}  // namespace radir::workflows
