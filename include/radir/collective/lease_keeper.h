#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "radir/collective/store.h"

namespace radir::collective {

/// The leases of one worker, which a thread renews until they are given back.
/// A worker that dies renews none, so that after their time others get them.
class LeaseKeeper {
 public:
  /// `store` is used by the keeper alone. `owner` is unique in the job.
  LeaseKeeper(std::unique_ptr<Store> store, std::string owner,
              Milliseconds time);
  /// Gives all leases back.
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Takes a lease; false while another worker has it.
  bool take(const std::string& name);
  void give_back(const std::string& name);
  /// Whether the lease of `name`, or of what `name` is a part of ("a-b" is one
  /// of "a"), was taken but could not be renewed in time: another worker may
  /// have it now. True until take() or give_back().
  bool has_lost(const std::string& name) const;
  /// Whether this worker took a lease of what `name` is a part of.
  bool is_inside(const std::string& name) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Lease {
    Clock::time_point end;
    bool lost = false;
  };

  void give_back_locally(const std::string& name);
  void keep_renewing();
  void renew(const std::string& name);
  void end_quietly(const std::string& name);

  std::unique_ptr<Store> store_;
  std::string owner_;
  Milliseconds time_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::map<std::string, Lease> leases_;
  std::atomic<int> lost_{0};
  std::thread thread_;
};

}  // namespace radir::collective
