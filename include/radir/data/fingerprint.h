#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "radir/core/hash.h"

namespace radir::data {

/// Identifies a data set: FNV-1a (Fowler, Noll, Vo) of their bytes.
class Fingerprint {
 public:
  template <typename T>
  void add(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) {
      hash_ = hash_with(hash_, bytes[i]);
    }
  }

  /// "3f2a9c0d11e5b7aa"
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(hash_));
    return digits;
  }

 private:
  std::uint64_t hash_ = kHashOfNothing;
};

}  // namespace radir::data
