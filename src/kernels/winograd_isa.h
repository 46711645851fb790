#pragma once

#include <cstdint>

#include "radir/core/config.h"

// Transforms of the fast convolution of Winograd (Lavin & Gray, "Fast
// algorithms for convolutional neural networks", CVPR 2016) with tiles of 8
// x 8. Private to the kernels.

namespace radir::kernels {
inline namespace RADIR_ISA {}

/// Points per dimension at which tiles and kernels are evaluated: 0, 1, -1, 2,
/// -2, 1/2, -1/2 and infinity.
constexpr std::int64_t kWinogradPoints = 8;
constexpr std::int64_t kWinogradFrequencies = kWinogradPoints * kWinogradPoints;

/// Output pixels a tile yields per dimension.
constexpr std::int64_t winograd_step(std::int64_t kernel) {
  return kWinogradPoints + 1 - kernel;
}

/// Data that are transformed together: the widest vector. In the transformed
/// domain columns are ordered by group of data, tile and datum; only the last
/// group may be smaller.
template <typename T>
constexpr std::int64_t kWinogradGroup = 64 / static_cast<int>(sizeof(T));

/// One channel of an image, pixels of `stride` numbers, and its tiles in the
/// transformed domain: frequency f of column c at
/// frequencies[f * frequency_stride + c]. Handles the groups of data from
/// `begin` (a multiple of kWinogradGroup) to `end`. Writing a last group that
/// is smaller reaches up to one vector past its end.
template <typename T>
struct WinogradPlane {
  T* pixels = nullptr;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t padding_h = 0;  ///< zeros around an input
  std::int64_t padding_w = 0;
  std::int64_t stride = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t tiles_h = 0;
  std::int64_t tiles_w = 0;
  std::int64_t kernel = 0;  ///< 3 or 5
  T* frequencies = nullptr;
  std::int64_t frequency_stride = 0;
  T bias = 0;
  bool relu = false;
};

/// `count` kernels of kernel x kernel numbers one after the other, and their
/// transforms: frequency f of kernel i at frequencies[f * stride + i]. Writing
/// reaches up to an integer number of vectors.
template <typename T>
struct WinogradKernels {
  T* kernels = nullptr;
  std::int64_t kernel = 0;
  std::int64_t count = 0;
  T* frequencies = nullptr;
  std::int64_t frequency_stride = 0;
};

/// y = A' [(G g G') * (B' x B)] A of every tile, and the transposes of its
/// three linear maps for the gradients.
template <typename T>
struct WinogradTable {
  void (*transform_input)(const WinogradPlane<T>&);      ///< pixels to B' x B
  void (*gather_output)(const WinogradPlane<T>&);        ///< A' m A to pixels
  void (*transform_output)(const WinogradPlane<T>&);     ///< pixels to A dy A'
  void (*gather_input)(const WinogradPlane<T>&);         ///< B dv B' to pixels
  void (*transform_kernels)(const WinogradKernels<T>&);  ///< g to G g G'
  void (*gather_kernels)(const WinogradKernels<T>&);     ///< G' du G to dg
};

namespace isa_generic {
extern const WinogradTable<float> winograd_float;
extern const WinogradTable<double> winograd_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const WinogradTable<float> winograd_float;
extern const WinogradTable<double> winograd_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const WinogradTable<float> winograd_float;
extern const WinogradTable<double> winograd_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
