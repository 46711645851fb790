#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "radir/core/error.h"

namespace radir::collective {

using Milliseconds = std::chrono::milliseconds;

/// The store, or another worker, is gone or did not answer in time.
class ConnectionError : public IoError {
 public:
  using IoError::IoError;
};

/// Limits of what a store takes. A request beyond them throws ArgumentError.
constexpr std::size_t kMostKeyBytes = 1024;
constexpr std::size_t kMostValueBytes = std::size_t{1} << 30;
constexpr std::size_t kMostKeys = 1000000;

/// A value that many may read; large ones are not copied on their way.
using SharedText = std::shared_ptr<const std::string>;

/// Keys and values that all workers of a job share. Every function may be
/// called from several threads. Those of a store in another process throw
/// ConnectionError when it is gone.
class Store {
 public:
  virtual ~Store() = default;

  virtual void set(const std::string& key, std::string_view value) = 0;
  virtual std::optional<std::string> get(const std::string& key) = 0;
  /// The value as soon as there is one; null after `timeout`.
  virtual SharedText wait(const std::string& key, Milliseconds timeout) = 0;
  virtual void erase(const std::string& key) = 0;
  /// Erases all keys from `from` on and before `to`, in the order of bytes.
  virtual void erase_range(const std::string& from, const std::string& to) = 0;
  /// Sets the value if it is `expected` (none: if there is none) and says
  /// whether it did.
  virtual bool compare_and_set(const std::string& key,
                               const std::optional<std::string>& expected,
                               std::string_view value) = 0;
  /// Adds to a number, at first 0, and returns the sum.
  virtual std::int64_t add(const std::string& key, std::int64_t number) = 0;

  /// Gives `owner` the lease of this name for a time, by the clock of the
  /// store, unless another owner has it. An owner renews its lease in the same
  /// way. Leases and values do not share names.
  virtual bool lease(const std::string& name, const std::string& owner,
                     Milliseconds time) = 0;
  /// Ends the lease if this owner has it.
  virtual void end_lease(const std::string& name, const std::string& owner) = 0;
};

/// A store of this process alone.
std::unique_ptr<Store> local_store();

}  // namespace radir::collective
