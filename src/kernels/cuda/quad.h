#pragma once

#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// Neighbouring numbers, such as examples of a batch, which a member of a team
// reads and writes as one.

namespace radir::kernels {
inline namespace RADIR_ISA {

template <typename T>
struct Quad {
  T at[kQuad];
};

/// Quads of so many examples, the last of which may be incomplete.
RADIR_HOST_DEVICE inline int quads_of(int examples) {
  return (examples + kQuad - 1) / kQuad;
}

template <typename T>
RADIR_HOST_DEVICE inline Quad<T> load_quad(const T* from) {
  Quad<T> quad;
  for (int e = 0; e < kQuad; ++e) quad.at[e] = from[e];
  return quad;
}

template <typename T>
RADIR_HOST_DEVICE inline void store_quad(const Quad<T>& quad, T* to) {
  for (int e = 0; e < kQuad; ++e) to[e] = quad.at[e];
}

/// The same of numbers in registers, which have no address.
template <typename T>
RADIR_HOST_DEVICE inline Quad<T> quad_of(const T* from) {
  Quad<T> quad;
  for (int e = 0; e < kQuad; ++e) quad.at[e] = from[e];
  return quad;
}

/// Adds the product of factor r with x to the sums of row r.
template <typename T>
RADIR_HOST_DEVICE inline void add_products(const Quad<T>& factors,
                                           const Quad<T>& x, T* sums) {
  for (int r = 0; r < kQuad; ++r) {
    for (int e = 0; e < kQuad; ++e) {
      sums[r * kQuad + e] += factors.at[r] * x.at[e];
    }
  }
}

#if defined(__CUDACC__)
static_assert(kQuad == 4);
__device__ inline Quad<float> load_quad(const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline void store_quad(const Quad<float>& quad, float* to) {
  *reinterpret_cast<float4*>(to) =
      make_float4(quad.at[0], quad.at[1], quad.at[2], quad.at[3]);
}
#endif

}  // namespace RADIR_ISA
}  // namespace radir::kernels
