#include "collective/memory_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace radir::collective {
namespace {

/// How often a wait asks whether it is still wanted.
constexpr Milliseconds kSlice{100};

}  // namespace

void check_limits(const std::string& key, std::size_t value_bytes) {
  RADIR_CHECK(!key.empty() && key.size() <= kMostKeyBytes, ArgumentError,
              "store: a key must have 1 to ", kMostKeyBytes, " bytes, but has ",
              key.size());
  RADIR_CHECK(value_bytes <= kMostValueBytes, ArgumentError,
              "store: a value must have at most ", kMostValueBytes,
              " bytes, but that of ", key, " has ", value_bytes);
}

void MemoryStore::put(const std::string& key, SharedText value) {
  check_limits(key, value->size());
  RADIR_CHECK(values_.size() < kMostKeys || values_.count(key) == 1,
              ArgumentError, "store: there are already ", kMostKeys, " keys");
  values_[key] = std::move(value);
  changed_.notify_all();
}

void MemoryStore::set(const std::string& key, std::string_view value) {
  set(key, std::make_shared<const std::string>(value));
}

void MemoryStore::set(const std::string& key, SharedText value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  put(key, std::move(value));
}

std::optional<std::string> MemoryStore::get(const std::string& key) {
  const SharedText found = find(key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

SharedText MemoryStore::find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : found->second;
}

SharedText MemoryStore::wait(const std::string& key, Milliseconds timeout,
                             const std::function<bool()>& is_wanted) {
  const Clock::time_point end = Clock::now() + timeout;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    const Clock::time_point now = Clock::now();
    if (now >= end || (is_wanted && !is_wanted())) return nullptr;
    changed_.wait_until(lock, std::min(end, now + kSlice));
  }
}

void MemoryStore::erase(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  values_.erase(key);
}

void MemoryStore::erase_range(const std::string& from, const std::string& to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (from < to) {
    values_.erase(values_.lower_bound(from), values_.lower_bound(to));
  }
}

bool MemoryStore::compare_and_set(const std::string& key,
                                  const std::optional<std::string>& expected,
                                  std::string_view value) {
  return compare_and_set(key, expected,
                         std::make_shared<const std::string>(value));
}

bool MemoryStore::compare_and_set(const std::string& key,
                                  const std::optional<std::string>& expected,
                                  SharedText value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = values_.find(key);
  const bool equal = found == values_.end()
                         ? !expected
                         : expected && *found->second == *expected;
  if (equal) put(key, std::move(value));
  return equal;
}

std::int64_t MemoryStore::add(const std::string& key, std::int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::int64_t sum = 0;
  const auto found = values_.find(key);
  if (found != values_.end()) {
    const std::string& text = *found->second;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, sum);
    RADIR_CHECK(read.ec == std::errc() && read.ptr == end, ArgumentError,
                "store: the value of ", key, " is not a number");
  }
  RADIR_CHECK(!__builtin_add_overflow(sum, number, &sum), ArgumentError,
              "store: the sum of ", key, " is too large");
  put(key, std::make_shared<const std::string>(std::to_string(sum)));
  return sum;
}

bool MemoryStore::lease(const std::string& name, const std::string& owner,
                        Milliseconds time) {
  check_limits(name, owner.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  const auto found = leases_.find(name);
  if (found != leases_.end() && found->second.owner != owner &&
      found->second.end > now) {
    return false;
  }
  RADIR_CHECK(leases_.size() < kMostKeys || found != leases_.end(),
              ArgumentError, "store: there are already ", kMostKeys, " leases");
  leases_[name] = {owner, now + time};
  return true;
}

void MemoryStore::end_lease(const std::string& name, const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = leases_.find(name);
  if (found != leases_.end() && found->second.owner == owner) {
    leases_.erase(found);
  }
}

std::unique_ptr<Store> local_store() { return std::make_unique<MemoryStore>(); }

}  // namespace radir::collective
