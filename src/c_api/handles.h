#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "radir/core/error.h"

namespace radir::c_api {

/// A number that no handle has had before, of any kind; never 0.
std::uintptr_t next_handle();

/// The objects behind the handles of one kind. A handle is a number in the
/// shape of a pointer, which nobody follows. An object lives until its handle
/// is freed and the calls that use it have returned.
template <typename Handle, typename Object>
class Handles {
 public:
  explicit Handles(const char* kind) : kind_(kind) {}

  Handle add(std::shared_ptr<Object> object) {
    const std::uintptr_t number = next_handle();
    const std::lock_guard<std::mutex> lock(mutex_);
    objects_.emplace(number, std::move(object));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is not followed.
    return reinterpret_cast<Handle>(number);
  }

  /// Throws ArgumentError for a handle that is not of this kind, or was freed.
  std::shared_ptr<Object> get(Handle handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    check(found != objects_.end());
    return found->second;
  }

  /// A null handle is freed already. Throws as get() does.
  void remove(Handle handle) {
    if (handle == nullptr) return;
    std::shared_ptr<Object> object;  // destroyed after the lock is released
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    check(found != objects_.end());
    object = std::move(found->second);
    objects_.erase(found);
  }

 private:
  void check(bool found) const {
    RADIR_CHECK(found, ArgumentError, "this is not the handle of a ", kind_,
                ", or it was freed");
  }

  const char* kind_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace radir::c_api
