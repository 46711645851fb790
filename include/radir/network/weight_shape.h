#pragma once

#include <cstdint>

namespace radir::network {

/// A weight tensor seen as [groups][out][in][kernel], contiguous: a dense layer
/// has groups = kernel = 1; a convolution's weight [out channels][in channels
/// per group][height][width] has kernel = height * width.
///
/// A *row* is one output channel: row_length() consecutive numbers. A *column*
/// is one input channel: the column_length() numbers by which it enters the
/// outputs of its group.
struct WeightShape {
  std::int64_t groups = 1;
  std::int64_t out = 1;  ///< output channels per group
  std::int64_t in = 1;   ///< input channels per group
  std::int64_t kernel = 1;

  std::int64_t rows() const { return groups * out; }
  std::int64_t columns() const { return groups * in; }
  std::int64_t row_length() const { return in * kernel; }
  std::int64_t column_length() const { return out * kernel; }
  std::int64_t size() const { return rows() * row_length(); }
};

}  // namespace radir::network
