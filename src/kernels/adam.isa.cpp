#include <cstdint>

#include "kernels/adam_isa.h"
#include "kernels/simd.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

/// How a register's worth of elements meets memory: all of it, or the last few.
struct Whole {
  template <typename T>
  Vec<T> get(const T* p) const {
    return load(p);
  }
  template <typename T>
  void put(T* p, Vec<T> v) const {
    store(p, v);
  }
};

struct Part {
  std::int64_t count;

  template <typename T>
  Vec<T> get(const T* p) const {
    return load_part(p, count);
  }
  template <typename T>
  void put(T* p, Vec<T> v) const {
    store_part(p, v, count);
  }
};

template <typename Memory, typename T>
inline void update(const Memory& memory, const AdamStep<T>& step,
                   const AdamBuffers<T>& at, std::int64_t i) {
  using V = Vec<T>;
  V parameter = memory.get(at.parameter + i);
  V first = memory.get(at.first_moment + i);
  V second = memory.get(at.second_moment + i);
  const V gradient = memory.get(at.gradient + i) * step.gradient_scale +
                     parameter * step.weight_decay;
  V rate = broadcast(step.rate);
  if (at.rate_multiplier != nullptr) {
    rate *= memory.get(at.rate_multiplier + i);
  }
  first = first * step.beta1 + gradient * step.one_minus_beta1;
  second = second * step.beta2 + gradient * gradient * step.one_minus_beta2;
  const V scale = sqrt(second) * step.moment_factor + step.epsilon;
  parameter -= rate * first / scale;
  memory.put(at.parameter + i, parameter);
  memory.put(at.first_moment + i, first);
  memory.put(at.second_moment + i, second);
}

template <typename T>
void adam_step(const AdamStep<T>& step, std::int64_t count,
               const AdamBuffers<T>& buffers) {
  std::int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    update(Whole{}, step, buffers, i);
  }
  if (i < count) update(Part{count - i}, step, buffers, i);
}

// Sixteen partial sums, whatever the width of the registers.
template <typename T>
double squared_norm(std::int64_t count, const T* x) {
  constexpr int kSums = 16;
  double sum[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int k = 0; k < kSums; ++k) {
      const double value = x[i + k];
      sum[k] += value * value;
    }
  }
  for (int k = 0; i + k < count; ++k) {
    const double value = x[i + k];
    sum[k] += value * value;
  }
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  }
  return sum[0];
}

}  // namespace

extern const AdamTable adam_table = {
    {adam_step<float>, squared_norm<float>},
    {adam_step<double>, squared_norm<double>},
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
