#include "kernels/likelihood_isa.h"

#include "kernels/simd.h"
#include "kernels/simd_math.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

constexpr double kHalfLogTwoPi = 0.918938533204672741780329736406;

// One vector of data: the numbers from `first` on, `count` of which exist.
struct Slice {
  std::int64_t first;
  std::int64_t count;
};

template <typename T, typename Body>
inline void for_each_slice(const LikelihoodData<T>& data, const Body& body) {
  constexpr std::int64_t lanes = kLanes<T>;
  for (std::int64_t n = 0; n < data.batch; n += lanes) {
    body(Slice{n, data.batch - n < lanes ? data.batch - n : lanes});
  }
}

template <typename T>
inline Vec<T> output(const LikelihoodData<T>& data, std::int64_t i,
                     Slice slice) {
  return load(data.outputs + i * data.stride + slice.first);
}

template <typename T>
inline void set_gradient(const LikelihoodData<T>& data, std::int64_t i,
                         Slice slice, Vec<T> value) {
  if (data.gradient == nullptr) return;
  store(data.gradient + i * data.stride + slice.first, value * T(data.scale));
}

// Zeros in the lanes past the batch.
template <typename T>
inline void clear_tail(const LikelihoodData<T>& data) {
  if (data.gradient == nullptr) return;
  const std::int64_t width = data.width > 0 ? data.width : data.stride;
  for (std::int64_t i = 0; i < data.num_outputs; ++i) {
    for (std::int64_t n = data.batch; n < width; ++n) {
      data.gradient[i * data.stride + n] = 0;
    }
  }
}

// Targets of output i, from rows of `width` numbers.
template <typename T>
inline Vec<T> targets_of(const T* targets, std::int64_t width, std::int64_t i,
                         Slice slice) {
  if (width == 1) return load_part(targets + slice.first, slice.count);
  T gathered[kLanes<T>] = {};
  for (std::int64_t k = 0; k < slice.count; ++k) {
    gathered[k] = targets[(slice.first + k) * width + i];
  }
  return load(gathered);
}

// Losses are summed in double, in the order of the data.
template <typename T>
inline double sum_of(Vec<T> v, Slice slice) {
  T values[kLanes<T>];
  store(values, v);
  double sum = 0;
  for (std::int64_t k = 0; k < slice.count; ++k) sum += double(values[k]);
  return sum;
}

template <typename T>
double categorical(const LikelihoodData<T>& data, const std::int64_t* labels) {
  double loss = 0;
  for_each_slice(data, [&](Slice slice) {
    Vec<T> largest = output(data, 0, slice);
    for (std::int64_t c = 1; c < data.num_outputs; ++c) {
      const Vec<T> x = output(data, c, slice);
      largest = select(x > largest, x, largest);
    }
    Vec<T> total = {};
    for (std::int64_t c = 0; c < data.num_outputs; ++c) {
      total += exp(output(data, c, slice) - largest);
    }
    for (std::int64_t c = 0; c < data.num_outputs; ++c) {
      set_gradient<T>(data, c, slice,
                      exp(output(data, c, slice) - largest) / total);
    }
    T logits[kLanes<T>] = {};
    for (std::int64_t k = 0; k < slice.count; ++k) {
      const std::int64_t n = slice.first + k;
      logits[k] = data.outputs[labels[n] * data.stride + n];
      if (data.gradient != nullptr) {
        data.gradient[labels[n] * data.stride + n] -= T(data.scale);
      }
    }
    loss += sum_of<T>(log(total) + (largest - load(logits)), slice);
  });
  clear_tail(data);
  return loss;
}

template <typename T>
double squared(const LikelihoodData<T>& data, const T* targets) {
  double sum = 0;
  for_each_slice(data, [&](Slice slice) {
    for (std::int64_t i = 0; i < data.num_outputs; ++i) {
      const Vec<T> residual = output(data, i, slice) -
                              targets_of(targets, data.num_outputs, i, slice);
      set_gradient<T>(data, i, slice, residual);
      sum += sum_of<T>(residual * residual, slice);
    }
  });
  clear_tail(data);
  return sum;
}

// Negative log density of N(0, sigma^2) at `residual` and its derivatives.
template <typename T>
struct NoisyResidual {
  Vec<T> loss;  // without log(2 pi) / 2
  Vec<T> by_mean;
  Vec<T> by_noise;
};

template <typename T>
inline NoisyResidual<T> with_log_variance(Vec<T> residual, Vec<T> raw,
                                          double least) {
  const Vec<T> zero = {};
  const Vec<T> low = broadcast(T(least));
  const Vec<T> high = broadcast(T(kMaxLogVariance));
  const Vec<T> bounded = select(raw < low, low, select(raw > high, high, raw));
  const Vec<T> precision = exp(-bounded);
  const Vec<T> square = residual * residual * precision;
  const Vec<T> slope = T(0.5) * (1 - square);
  const Vec<T> upwards = select(slope < zero, slope, zero);
  const Vec<T> downwards = select(slope > zero, slope, zero);
  return {T(0.5) * (bounded + square), residual * precision,
          select(raw < low, upwards, select(raw > high, downwards, slope))};
}

// sigma = max(raw, 0) + log(1 + exp(-|raw|)), which cannot overflow.
template <typename T>
inline NoisyResidual<T> with_softplus_scale(Vec<T> residual, Vec<T> raw) {
  const Vec<T> magnitude = select(raw < 0, -raw, raw);
  const Vec<T> decay = exp(-magnitude);  // exp(-|raw|)
  const Vec<T> sigma = log1p(decay) + select(raw > 0, raw, Vec<T>{});
  const Vec<T> slope = select(raw > 0, broadcast(T(1)), decay) / (1 + decay);
  const Vec<T> standard = residual / sigma;
  return {log(sigma) + T(0.5) * standard * standard, standard / sigma,
          (1 - standard * standard) * (slope / sigma)};
}

template <typename T>
double predicted_noise(const LikelihoodData<T>& data, const T* targets,
                       NoiseOutput noise) {
  const std::int64_t width = data.num_outputs / 2;
  double loss = kHalfLogTwoPi * double(data.batch * width);
  for_each_slice(data, [&](Slice slice) {
    for (std::int64_t i = 0; i < width; ++i) {
      const Vec<T> residual =
          output(data, i, slice) - targets_of(targets, width, i, slice);
      const Vec<T> raw = output(data, width + i, slice);
      const NoisyResidual<T> result =
          noise == NoiseOutput::LogVariance
              ? with_log_variance<T>(residual, raw, kMinLogVariance)
              : with_softplus_scale<T>(residual, raw);
      set_gradient<T>(data, i, slice, result.by_mean);
      set_gradient<T>(data, width + i, slice, result.by_noise);
      loss += sum_of<T>(result.loss, slice);
    }
  });
  clear_tail(data);
  return loss;
}

// log sum_k exp(values[k]).
template <typename T>
inline Vec<T> log_sum_exp(const Vec<T>* values, std::int64_t count) {
  Vec<T> largest = values[0];
  for (std::int64_t k = 1; k < count; ++k) {
    largest = select(values[k] > largest, values[k], largest);
  }
  Vec<T> total = {};
  for (std::int64_t k = 0; k < count; ++k) total += exp(values[k] - largest);
  return largest + log(total);
}

template <typename T>
double noise_mixture(const LikelihoodData<T>& data, const T* targets,
                     const NoiseMixture& mixture) {
  const std::int64_t parts = mixture.parts;
  const std::int64_t width = data.num_outputs / (3 * parts);
  double loss = kHalfLogTwoPi * double(data.batch * width);
  for_each_slice(data, [&](Slice slice) {
    for (std::int64_t i = 0; i < width; ++i) {
      const Vec<T> target = targets_of(targets, width, i, slice);
      const auto at = [&](std::int64_t what, std::int64_t k) {
        return (what * parts + k) * width + i;
      };
      Vec<T> logits[kMostNoiseParts] = {};
      for (std::int64_t k = 0; k < parts; ++k) {
        logits[k] = output(data, at(2, k), slice);
      }
      const Vec<T> normaliser = log_sum_exp<T>(logits, parts);
      NoisyResidual<T> residuals[kMostNoiseParts];
      Vec<T> joint[kMostNoiseParts] = {};  // log of share times density
      for (std::int64_t k = 0; k < parts; ++k) {
        residuals[k] = with_log_variance<T>(
            output(data, at(0, k), slice) - target,
            output(data, at(1, k), slice), mixture.min_log_variance);
        joint[k] = logits[k] - normaliser - residuals[k].loss;
      }
      const Vec<T> log_density = log_sum_exp<T>(joint, parts);
      for (std::int64_t k = 0; k < parts; ++k) {
        const Vec<T> posterior = exp(joint[k] - log_density);
        set_gradient<T>(data, at(0, k), slice,
                        posterior * residuals[k].by_mean);
        set_gradient<T>(data, at(1, k), slice,
                        posterior * residuals[k].by_noise);
        set_gradient<T>(data, at(2, k), slice,
                        exp(logits[k] - normaliser) - posterior);
      }
      loss -= sum_of<T>(log_density, slice);
    }
  });
  clear_tail(data);
  return loss;
}

template <typename T>
TwoNormalsSums two_normals(const LikelihoodData<T>& data, const T* targets,
                           const TwoNormals& noise) {
  const T per_scale = T(1 / noise.scale);
  const T per_ratio = T(1 / (noise.ratio * noise.ratio));
  const T log_narrow = T(__builtin_log1p(-noise.share));
  const T log_wide = T(__builtin_log(noise.share / noise.ratio));
  TwoNormalsSums sums;
  for_each_slice(data, [&](Slice slice) {
    for (std::int64_t i = 0; i < data.num_outputs; ++i) {
      const Vec<T> residual = output(data, i, slice) -
                              targets_of(targets, data.num_outputs, i, slice);
      const Vec<T> r = residual * per_scale;
      const Vec<T> square = r * r;
      const Vec<T> wide_square = square * per_ratio;
      const Vec<T> joint[2] = {log_narrow - T(0.5) * square,
                               log_wide - T(0.5) * wide_square};
      const Vec<T> log_density = log_sum_exp<T>(joint, 2);
      const Vec<T> wide = exp(joint[1] - log_density);
      const Vec<T> narrow = 1 - wide;
      set_gradient<T>(data, i, slice,
                      (narrow + wide * per_ratio) * r * per_scale);
      sums.logs += sum_of<T>(log_density, slice);
      sums.wide += sum_of<T>(wide, slice);
      sums.wide_squares += sum_of<T>(wide * wide_square, slice);
      sums.squares += sum_of<T>(narrow * square + wide * wide_square, slice);
    }
  });
  clear_tail(data);
  return sums;
}

}  // namespace

extern const LikelihoodTable<float> likelihood_float = {
    categorical<float>, squared<float>, predicted_noise<float>,
    noise_mixture<float>, two_normals<float>};
extern const LikelihoodTable<double> likelihood_double = {
    categorical<double>, squared<double>, predicted_noise<double>,
    noise_mixture<double>, two_normals<double>};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
