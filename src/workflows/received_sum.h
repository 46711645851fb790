#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "radir/collective/shared_memory.h"
#include "radir/collective/store.h"

namespace radir::workflows {

/// Why a worker has to join again: what it needs is not there any more.
constexpr const char* kWentOn = "the others went on";

/// A sum that another worker has made, in what the store sent or in the memory
/// that the workers share. Whatever reads its numbers throws Rejoin when they
/// were replaced meanwhile: newer sums replace those of workers that were not
/// waited for.
class ReceivedSum {
 public:
  /// `text` is some bytes of another kind and `count` numbers, or a reference
  /// to them. Throws IoError for a reference that leads nowhere; other sizes
  /// are found by has_right_size().
  ReceivedSum(const collective::SharedMemory* memory,
              collective::SharedText text, std::size_t before,
              std::int64_t count);

  bool has_right_size() const { return size_ == byte_count_; }
  std::size_t size() const { return size_; }
  const std::string& text() const { return *text_; }
  void copy_to(float* sum) const;
  void add_to(float* sum) const;
  bool equals(const float* sum) const;

 private:
  void check_kept() const;

  const collective::SharedMemory* memory_;
  collective::SharedText text_;
  std::size_t byte_count_;  // of the numbers
  std::size_t size_;        // of what came
  const char* bytes_;
  std::optional<collective::SharedMemory::Value> in_memory_;
};

}  // namespace radir::workflows
