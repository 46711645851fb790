#include "kernels/gaussian_isa.h"

#include <cmath>

#include "kernels/simd_math.h"
#include "kernels/vector_loop.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

template <typename T>
void sample(std::int64_t count, const T* loc, const T* log_scale, T* deviation,
            T* weight) {
  for_each_vector<T>(0, count, [&](std::int64_t i, auto lanes) {
    const Vec<T> noise = lanes.load(deviation + i);
    const Vec<T> scaled = exp(lanes.load(log_scale + i)) * noise;
    lanes.store(deviation + i, scaled);
    lanes.store(weight + i, lanes.load(loc + i) + scaled);
  });
}

template <typename T>
void backward(std::int64_t count, const T* deviation, const T* weight_gradient,
              T* loc_gradient, T* log_scale_gradient) {
  for_each_vector<T>(0, count, [&](std::int64_t i, auto lanes) {
    const Vec<T> slope = lanes.load(weight_gradient + i);
    lanes.store(loc_gradient + i, lanes.load(loc_gradient + i) + slope);
    lanes.store(log_scale_gradient + i, lanes.load(log_scale_gradient + i) +
                                            slope * lanes.load(deviation + i));
  });
}

/// expm1(d) - d, given expm1(d).
template <typename T>
[[gnu::always_inline]] inline Vec<T> excess_over_tangent(Vec<T> d,
                                                         Vec<T> expm1_d) {
  // |d| < 1/2: sum d^k / k! from k = 2 on, to eps.
  constexpr int kLast = sizeof(T) == 4 ? 8 : 14;
  Vec<T> series = broadcast(T(1));
  for (int k = kLast; k > 2; --k) series = 1 + series * d / static_cast<T>(k);
  const auto small = (d > T(-0.5)) & (d < T(0.5));
  return select(small, series * d * d * T(0.5), expm1_d - d);
}

template <typename T>
GaussianKl kl(std::int64_t count, const T* loc, const T* log_scale,
              double log_prior_scale, double scale, T* loc_gradient,
              T* log_scale_gradient) {
  const T shift = static_cast<T>(log_prior_scale);
  const T inverse = static_cast<T>(std::exp(-log_prior_scale));
  const T c = static_cast<T>(scale);
  Vec<T> value = {}, slope = {};
  for_each_vector<T>(0, count, [&](std::int64_t i, auto lanes) {
    const Vec<T> z = lanes.load(loc + i) * inverse;
    const Vec<T> d = 2 * (lanes.load(log_scale + i) - shift);
    const Vec<T> excess = expm1(d);
    value += lanes.keep(excess_over_tangent<T>(d, excess) + z * z);
    slope += lanes.keep(excess + z * z);
    if (loc_gradient == nullptr) return;
    lanes.store(loc_gradient + i,
                lanes.load(loc_gradient + i) + c * inverse * z);
    lanes.store(log_scale_gradient + i,
                lanes.load(log_scale_gradient + i) + c * excess);
  });
  return {0.5 * static_cast<double>(reduce_add<T>(value)),
          -static_cast<double>(reduce_add<T>(slope))};
}

template <typename T>
constexpr GaussianTable<T> kTable = {sample<T>, backward<T>, kl<T>};

}  // namespace

extern const GaussianTable<float> gaussian_float = kTable<float>;
extern const GaussianTable<double> gaussian_double = kTable<double>;

}  // namespace RADIR_ISA
}  // namespace radir::kernels
