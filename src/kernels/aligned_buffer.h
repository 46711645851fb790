#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace radir::kernels {

/// Bytes of the widest vector and of a cache line.
constexpr std::int64_t kAlignment = 64;

/// Numbers of the widest vector: what batches are rounded up to, whatever the
/// instruction set, so that layouts do not depend on it.
template <typename T>
constexpr std::int64_t kWidestLanes = kAlignment /
                                      static_cast<std::int64_t>(sizeof(T));

constexpr std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Zero-filled numbers, aligned to cache lines.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::int64_t count) : size_(count) {
    const std::int64_t bytes =
        round_up(count * static_cast<std::int64_t>(sizeof(T)), kAlignment);
    if (count == 0) return;
    data_.reset(static_cast<T*>(
        std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes))));
    if (!data_) throw std::bad_alloc();
    clear();
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  void clear() { std::fill(data(), data() + size_, T(0)); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace radir::kernels
