#pragma once

#include <cstdint>

// Sums of parts along a binary tree, whose shape depends on their number alone.
// Private to the kernels. The functions are inlined everywhere: no instruction
// set may call the copy of another.

namespace radir::kernels {

/// Levels of the largest tree.
constexpr std::int64_t kMostPartLevels = 10;

/// Subtrees that the part with this number ends: to its sum, those of so many
/// subtrees to its left are added, the smallest first.
[[gnu::always_inline]] constexpr std::int64_t ended_subtrees(
    std::int64_t part) {
  std::int64_t levels = 0;
  while (((part >> levels) & 1) != 0) ++levels;
  return levels;
}

/// Levels of the tree over so many parts, a power of two.
[[gnu::always_inline]] constexpr std::int64_t part_levels(std::int64_t parts) {
  return ended_subtrees(parts - 1);
}

}  // namespace radir::kernels
