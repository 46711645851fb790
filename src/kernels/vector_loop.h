#pragma once

#include "kernels/simd.h"

// Loops over arrays of any length, a register at a time. Private to the
// *.isa.cpp files.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// Reads and writes full registers.
struct AllLanes {
  template <typename T>
  Vec<T> load(const T* p) const {
    return kernels::load(p);
  }
  template <typename T>
  void store(T* p, Vec<T> v) const {
    kernels::store(p, v);
  }
  template <typename V>
  V keep(V v) const {
    return v;
  }
};

/// Reads and writes the first `count` lanes; the others read as zero.
struct SomeLanes {
  std::int64_t count;

  template <typename T>
  Vec<T> load(const T* p) const {
    return load_part(p, count);
  }
  template <typename T>
  void store(T* p, Vec<T> v) const {
    store_part(p, v, count);
  }
  /// v with zeros in the lanes that are not in use, for sums over lanes.
  template <typename V>
  V keep(V v) const {
    using Index =
        std::conditional_t<sizeof(v[0]) == 4, std::int32_t, std::int64_t>;
    return select(lane_numbers<Index>() < static_cast<Index>(count), v, V{});
  }
};

/// Lanes of one register that `count` numbers fill.
template <typename T>
inline std::int64_t lanes_used(std::int64_t count) {
  return count < kLanes<T> ? count : kLanes<T>;
}

/// body(i, lanes) for i = begin, begin + kLanes, ...: the lanes of i that lie
/// below `end` are read by lanes.load(array + i) and written by lanes.store.
template <typename T, typename Body>
[[gnu::always_inline]] inline void for_each_vector(std::int64_t begin,
                                                   std::int64_t end,
                                                   const Body& body) {
  std::int64_t i = begin;
  for (; i + kLanes<T> <= end; i += kLanes<T>) body(i, AllLanes{});
  if (i < end) body(i, SomeLanes{end - i});
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
