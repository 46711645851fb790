#include "radir/kernels/gaussian.h"

#include <algorithm>
#include <cmath>

#include "kernels/gaussian_isa.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/kernels/random.h"

namespace radir::kernels {
namespace {

template <typename T>
const GaussianTable<T>& gaussian_table();

template <>
const GaussianTable<float>& gaussian_table<float>() {
#if defined(__x86_64__)
  return select_isa(isa_generic::gaussian_float, isa_avx2::gaussian_float,
                    isa_avx512::gaussian_float);
#else
  return isa_generic::gaussian_float;
#endif
}

template <>
const GaussianTable<double>& gaussian_table<double>() {
#if defined(__x86_64__)
  return select_isa(isa_generic::gaussian_double, isa_avx2::gaussian_double,
                    isa_avx512::gaussian_double);
#else
  return isa_generic::gaussian_double;
#endif
}

/// Weights that one task handles.
constexpr std::int64_t kBlock = 1 << 14;

constexpr std::int64_t blocks_of(std::int64_t count) {
  return (count + kBlock - 1) / kBlock;
}

/// Runs body(begin, size) over blocks of [0, count).
template <typename Body>
void for_each_block(ThreadPool* pool, std::int64_t count, const Body& body) {
  run_tasks(pool, blocks_of(count), [&](std::int64_t i) {
    body(i * kBlock, std::min(kBlock, count - i * kBlock));
  });
}

template <typename... P>
void check_arrays(const char* where, std::int64_t count, const P*... arrays) {
  RADIR_CHECK(count >= 0, ArgumentError, where,
              ": count must not be negative, but is ", count);
  RADIR_CHECK(count == 0 || ((arrays != nullptr) && ...), ArgumentError, where,
              ": an array is null, but count is ", count);
}

}  // namespace

template <typename T>
void gaussian_sample(std::int64_t count, const T* loc, const T* log_scale,
                     const RandomStream& stream, T* deviation, T* weight,
                     ThreadPool* pool) {
  check_arrays("gaussian_sample", count, loc, log_scale, deviation, weight);
  for_each_block(pool, count, [&](std::int64_t at, std::int64_t size) {
    fill_normal(stream, at, size, deviation + at);
    gaussian_table<T>().sample(size, loc + at, log_scale + at, deviation + at,
                               weight + at);
  });
}

template <typename T>
void gaussian_backward(std::int64_t count, const T* deviation,
                       const T* weight_gradient, T* loc_gradient,
                       T* log_scale_gradient, ThreadPool* pool) {
  check_arrays("gaussian_backward", count, deviation, weight_gradient,
               loc_gradient, log_scale_gradient);
  for_each_block(pool, count, [&](std::int64_t at, std::int64_t size) {
    gaussian_table<T>().backward(size, deviation + at, weight_gradient + at,
                                 loc_gradient + at, log_scale_gradient + at);
  });
}

template <typename T>
double gaussian_kl(std::int64_t count, const T* loc, const T* log_scale,
                   double log_prior_scale,
                   const GaussianKlGradient<T>* gradient, ThreadPool* pool) {
  check_arrays("gaussian_kl", count, loc, log_scale);
  if (gradient != nullptr) {
    check_arrays("gaussian_kl", count, gradient->loc, gradient->log_scale);
  }
  RADIR_CHECK(std::isfinite(log_prior_scale), DomainError,
              "gaussian_kl: log_prior_scale must be finite, but is ",
              log_prior_scale);
  // Blocks are summed in order, in slices whose results fit on the stack.
  constexpr std::int64_t kSlice = 64;
  GaussianKl total = {0, 0};
  for (std::int64_t start = 0; start < count; start += kSlice * kBlock) {
    GaussianKl parts[kSlice];
    const std::int64_t size = std::min(kSlice * kBlock, count - start);
    for_each_block(pool, size, [&](std::int64_t at, std::int64_t block_size) {
      T* loc_gradient = gradient ? gradient->loc + start + at : nullptr;
      T* log_scale_gradient =
          gradient ? gradient->log_scale + start + at : nullptr;
      parts[at / kBlock] = gaussian_table<T>().kl(
          block_size, loc + start + at, log_scale + start + at, log_prior_scale,
          gradient ? gradient->scale : 0, loc_gradient, log_scale_gradient);
    });
    for (std::int64_t i = 0; i < blocks_of(size); ++i) {
      total.value += parts[i].value;
      total.log_prior_scale += parts[i].log_prior_scale;
    }
  }
  if (gradient != nullptr && gradient->log_prior_scale != nullptr) {
    *gradient->log_prior_scale += gradient->scale * total.log_prior_scale;
  }
  return total.value;
}

#define RADIR_INSTANTIATE(T)                                                \
  template void gaussian_sample(std::int64_t, const T*, const T*,           \
                                const RandomStream&, T*, T*, ThreadPool*);  \
  template void gaussian_backward(std::int64_t, const T*, const T*, T*, T*, \
                                  ThreadPool*);                             \
  template double gaussian_kl(std::int64_t, const T*, const T*, double,     \
                              const GaussianKlGradient<T>*, ThreadPool*);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::kernels
