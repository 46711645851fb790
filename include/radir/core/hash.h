#pragma once

#include <cstdint>

// Hashes that are the same on every machine.

namespace radir {

/// FNV-1a (Fowler, Noll, Vo) of 64 bits: of nothing.
constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325u;

/// FNV-1a with one more byte, or one more larger number in its place.
constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t next) {
  return (hash ^ next) * 0x100000001b3u;
}

/// The finaliser of MurmurHash3: every bit of the result depends on all bits.
constexpr std::uint64_t mixed_hash(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

}  // namespace radir
