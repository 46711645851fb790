#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "radir/collective/store.h"

namespace radir::collective {

/// A store in memory: of a process alone, or behind a server.
class MemoryStore : public Store {
 public:
  using Clock = std::chrono::steady_clock;

  void set(const std::string& key, std::string_view value) override;
  std::optional<std::string> get(const std::string& key) override;
  SharedText wait(const std::string& key, Milliseconds timeout) override {
    return wait(key, timeout, nullptr);
  }
  void erase(const std::string& key) override;
  void erase_range(const std::string& from, const std::string& to) override;
  bool compare_and_set(const std::string& key,
                       const std::optional<std::string>& expected,
                       std::string_view value) override;
  std::int64_t add(const std::string& key, std::int64_t number) override;
  bool lease(const std::string& name, const std::string& owner,
             Milliseconds time) override;
  void end_lease(const std::string& name, const std::string& owner) override;

  /// The same with values that are kept as they are.
  void set(const std::string& key, SharedText value);
  bool compare_and_set(const std::string& key,
                       const std::optional<std::string>& expected,
                       SharedText value);
  SharedText find(const std::string& key);
  /// As wait(), but gives up when `is_wanted`, which is asked now and then,
  /// returns false.
  SharedText wait(const std::string& key, Milliseconds timeout,
                  const std::function<bool()>& is_wanted);

 private:
  struct Lease {
    std::string owner;
    Clock::time_point end;
  };

  void put(const std::string& key, SharedText value);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, SharedText> values_;
  std::map<std::string, Lease> leases_;
};

/// Throws ArgumentError for a key or value beyond the limits.
void check_limits(const std::string& key, std::size_t value_bytes);

}  // namespace radir::collective
