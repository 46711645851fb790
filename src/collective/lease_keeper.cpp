#include "radir/collective/lease_keeper.h"

#include <utility>
#include <vector>

#include "collective/started_thread.h"

namespace radir::collective {
namespace {

bool is_part_of(const std::string& name, const std::string& whole) {
  return name.size() > whole.size() && name.rfind(whole, 0) == 0 &&
         name[whole.size()] == '-';
}

}  // namespace

LeaseKeeper::LeaseKeeper(std::unique_ptr<Store> store, std::string owner,
                         Milliseconds time)
    : store_(std::move(store)), owner_(std::move(owner)), time_(time) {
  RADIR_CHECK(time.count() > 0, ArgumentError,
              "the time of a lease must be positive");
  thread_ =
      started_thread("the leases of a worker", [this] { keep_renewing(); });
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  thread_.join();
  for (const auto& [name, lease] : leases_) end_quietly(name);
}

// By this worker's clock a lease ends earlier than by the store's, because the
// time is taken before it is asked for.
bool LeaseKeeper::take(const std::string& name) {
  const Clock::time_point now = Clock::now();
  if (!store_->lease(name, owner_, time_)) return false;
  give_back_locally(name);
  const std::lock_guard<std::mutex> lock(mutex_);
  leases_[name] = {now + time_, false};
  return true;
}

void LeaseKeeper::give_back_locally(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = leases_.find(name);
  if (found == leases_.end()) return;
  if (found->second.lost) --lost_;
  leases_.erase(found);
}

void LeaseKeeper::give_back(const std::string& name) {
  give_back_locally(name);
  store_->end_lease(name, owner_);
}

bool LeaseKeeper::has_lost(const std::string& name) const {
  if (lost_ == 0) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [leased, lease] : leases_) {
    if (lease.lost && (name == leased || is_part_of(name, leased))) return true;
  }
  return false;
}

bool LeaseKeeper::is_inside(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [leased, lease] : leases_) {
    if (is_part_of(name, leased)) return true;
  }
  return false;
}

void LeaseKeeper::keep_renewing() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, time_ / 4, [this] { return ending_; })) {
    std::vector<std::string> names;
    for (const auto& [name, lease] : leases_) names.push_back(name);
    lock.unlock();
    for (const std::string& name : names) renew(name);
    lock.lock();
  }
}

// A lease that ended and could then be had again counts as lost too: another
// worker may have had it in between.
void LeaseKeeper::renew(const std::string& name) {
  const Clock::time_point now = Clock::now();
  bool renewed = false;
  bool refused = false;
  try {
    renewed = store_->lease(name, owner_, time_);
    refused = !renewed;
  } catch (const Error&) {
    // Without the store the lease ends at its time.
  }
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = leases_.find(name);
  if (found == leases_.end()) {
    lock.unlock();
    if (renewed) end_quietly(name);  // it was given back meanwhile
  } else if (!found->second.lost) {
    found->second.lost = refused || Clock::now() >= found->second.end;
    if (found->second.lost) ++lost_;
    if (renewed) found->second.end = now + time_;
  }
}

void LeaseKeeper::end_quietly(const std::string& name) {
  try {
    store_->end_lease(name, owner_);
  } catch (const Error&) {
    // Without a store nobody waits for it.
  }
}

}  // namespace radir::collective
