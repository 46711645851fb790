#include "radir/kernels/adam.h"

#include <cmath>

#include "kernels/adam_isa.h"
#include "radir/core/error.h"

namespace radir::kernels {
namespace {

void check_options(const AdamOptions& options, double gradient_scale) {
  const auto check = [](bool good, const char* name, const char* range,
                        double value) {
    RADIR_CHECK(good, DomainError, "adam_step: ", name, " must be ", range,
                ", but is ", value);
  };
  const double rate = options.learning_rate;
  const double decay = options.weight_decay;
  const auto is_beta = [](double beta) { return beta >= 0 && beta < 1; };
  check(rate >= 0 && std::isfinite(rate), "learning_rate", "finite and >= 0",
        rate);
  check(is_beta(options.beta1), "beta1", "in [0, 1)", options.beta1);
  check(is_beta(options.beta2), "beta2", "in [0, 1)", options.beta2);
  check(options.epsilon > 0 && std::isfinite(options.epsilon), "epsilon",
        "finite and > 0", options.epsilon);
  check(decay >= 0 && std::isfinite(decay), "weight_decay", "finite and >= 0",
        decay);
  check(std::isfinite(gradient_scale), "gradient_scale", "finite",
        gradient_scale);
}

template <typename T>
void check_buffers(std::int64_t step, std::int64_t count,
                   const AdamBuffers<T>& buffers) {
  RADIR_CHECK(step >= 1, ArgumentError,
              "adam_step: steps are counted from 1, but step is ", step);
  RADIR_CHECK(count >= 0, ArgumentError,
              "adam_step: count must not be negative, but is ", count);
  const auto check = [count](const void* buffer, const char* name) {
    RADIR_CHECK(buffer != nullptr || count == 0, ArgumentError,
                "adam_step: ", name, " is null, but count is ", count);
  };
  check(buffers.parameter, "parameter");
  check(buffers.gradient, "gradient");
  check(buffers.first_moment, "first_moment");
  check(buffers.second_moment, "second_moment");
}

template <typename T>
AdamStep<T> numbers_of(const AdamOptions& options, std::int64_t step,
                       double gradient_scale) {
  const AdamRates rates = adam_rates(options, step);
  AdamStep<T> numbers;
  numbers.beta1 = static_cast<T>(options.beta1);
  numbers.one_minus_beta1 = static_cast<T>(1 - options.beta1);
  numbers.beta2 = static_cast<T>(options.beta2);
  numbers.one_minus_beta2 = static_cast<T>(1 - options.beta2);
  numbers.rate = static_cast<T>(rates.rate);
  numbers.moment_factor = static_cast<T>(rates.moment_factor);
  numbers.epsilon = static_cast<T>(options.epsilon);
  numbers.weight_decay = static_cast<T>(options.weight_decay);
  numbers.gradient_scale = static_cast<T>(gradient_scale);
  return numbers;
}

const AdamTable& active_table() {
  static const AdamTable& table = adam_table_of(active_isa());
  return table;
}

}  // namespace

const AdamTable& adam_table_of(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::Avx512:
      return isa_avx512::adam_table;
    case Isa::Avx2:
      return isa_avx2::adam_table;
    case Isa::Generic:
      break;
  }
#else
  RADIR_ASSERT(isa == Isa::Generic);
#endif
  return isa_generic::adam_table;
}

AdamRates adam_rates(const AdamOptions& options, std::int64_t step) {
  const auto t = static_cast<double>(step);
  const double first_sum = 1 - std::pow(options.beta1, t);
  const double second_sum = 1 - std::pow(options.beta2, t);
  return {options.learning_rate / first_sum, 1 / std::sqrt(second_sum)};
}

template <typename T>
void adam_step(const AdamOptions& options, std::int64_t step,
               std::int64_t count, const AdamBuffers<T>& buffers,
               double gradient_scale) {
  check_options(options, gradient_scale);
  check_buffers(step, count, buffers);
  active_table().functions<T>().step(
      numbers_of<T>(options, step, gradient_scale), count, buffers);
}

template <typename T>
double squared_norm(std::int64_t count, const T* x) {
  RADIR_CHECK(count >= 0, ArgumentError,
              "squared_norm: count must not be negative, but is ", count);
  RADIR_CHECK(x != nullptr || count == 0, ArgumentError,
              "squared_norm: x is null, but count is ", count);
  return active_table().functions<T>().squared_norm(count, x);
}

double clipping_scale(double squared_norm, double max_norm) {
  RADIR_CHECK(max_norm > 0, DomainError,
              "clipping_scale: max_norm must be positive, but is ", max_norm);
  const double norm = std::sqrt(squared_norm);
  RADIR_CHECK(std::isfinite(norm), NumericalError,
              "clipping_scale: the norm of the gradient is ", norm,
              "; the loss or its gradient overflowed, lower the learning rate");
  const double scale = max_norm / (norm + 1e-6);
  return scale < 1 ? scale : 1;
}

template void adam_step(const AdamOptions&, std::int64_t, std::int64_t,
                        const AdamBuffers<float>&, double);
template void adam_step(const AdamOptions&, std::int64_t, std::int64_t,
                        const AdamBuffers<double>&, double);
template double squared_norm(std::int64_t, const float*);
template double squared_norm(std::int64_t, const double*);

}  // namespace radir::kernels
