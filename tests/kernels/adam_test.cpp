#include "radir/kernels/adam.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "each_isa.h"
#include "kernels/adam_isa.h"
#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "support/expect_error.h"
#include "support/worst_error.h"

namespace radir::kernels {
namespace {

using testing::expect_error;
using testing::for_each_isa;
using testing::WorstError;

template <typename T>
struct State {
  std::vector<T> parameter, gradient, first, second;

  explicit State(std::size_t count)
      : parameter(count), gradient(count), first(count), second(count) {
    fill_normal({1, 1, 0}, 0, static_cast<std::int64_t>(count),
                parameter.data());
  }

  void next_gradient(std::uint64_t step) {
    fill_normal({1, 2, step}, 0, static_cast<std::int64_t>(gradient.size()),
                gradient.data());
  }

  AdamBuffers<T> buffers() {
    return {parameter.data(), gradient.data(), first.data(), second.data(),
            nullptr};
  }
};

/// The formula of torch::optim::Adam, element by element in double.
void plain_step(const AdamOptions& options, int t, double gradient_scale,
                double rate_multiplier, double g, double& p, double& m,
                double& v) {
  g = gradient_scale * g + options.weight_decay * p;
  m = options.beta1 * m + (1 - options.beta1) * g;
  v = options.beta2 * v + (1 - options.beta2) * g * g;
  const double denominator =
      std::sqrt(v) / std::sqrt(1 - std::pow(options.beta2, t)) +
      options.epsilon;
  const double rate = options.learning_rate * rate_multiplier;
  p -= rate / (1 - std::pow(options.beta1, t)) * m / denominator;
}

/// Twenty steps beside the plain loop; errors in eps of parameters of order 1.
template <typename T, typename Step>
void compare_with_plain(const std::string& name, const AdamOptions& options,
                        double gradient_scale, std::size_t count,
                        const std::vector<T>& multiplier, Step step) {
  State<T> state(count);
  std::vector<double> p(state.parameter.begin(), state.parameter.end());
  std::vector<double> m(count), v(count);
  WorstError<T> worst(name, 5);
  for (int t = 1; t <= 20; ++t) {
    state.next_gradient(static_cast<std::uint64_t>(t));
    AdamBuffers<T> buffers = state.buffers();
    if (!multiplier.empty()) buffers.rate_multiplier = multiplier.data();
    step(t, static_cast<std::int64_t>(count), buffers);
    for (std::size_t i = 0; i < count; ++i) {
      plain_step(options, t, gradient_scale,
                 multiplier.empty() ? 1 : static_cast<double>(multiplier[i]),
                 static_cast<double>(state.gradient[i]), p[i], m[i], v[i]);
      const auto at = [&] {
        return "step " + std::to_string(t) + ", element " + std::to_string(i);
      };
      worst.add_scaled(state.parameter[i], p[i], 1, at);
      worst.add_scaled(state.first[i], m[i], 1, at);
      worst.add_scaled(state.second[i], v[i], 1, at);
    }
  }
  worst.verify();
}

template <typename T>
class Adam : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Adam, Types);

TYPED_TEST(Adam, FollowsTheFormula) {
  using T = TypeParam;
  AdamOptions decaying;
  decaying.learning_rate = 0.05;
  decaying.beta1 = 0.8;
  decaying.beta2 = 0.95;
  decaying.epsilon = 1e-3;
  decaying.weight_decay = 0.1;
  std::vector<T> multiplier(77);
  fill_uniform({1, 3, 0}, 0, 77, multiplier.data());
  const auto check = [](const std::string& name, const AdamOptions& options,
                        double scale, std::size_t count,
                        const std::vector<T>& rates) {
    compare_with_plain<T>(
        name, options, scale, count, rates,
        [&](int t, std::int64_t n, const AdamBuffers<T>& buffers) {
          adam_step(options, t, n, buffers, scale);
        });
  };
  check("defaults", AdamOptions(), 1, 64, {});
  check("decay and clipping", decaying, 0.3, 77, {});
  check("multipliers", decaying, 0.3, 77, multiplier);
}

TEST(AdamDefaults, AreThoseOfTorch) {
  const AdamOptions options;
  EXPECT_EQ(options.learning_rate, 1e-3);
  EXPECT_EQ(options.beta1, 0.9);
  EXPECT_EQ(options.beta2, 0.999);
  EXPECT_EQ(options.epsilon, 1e-8);
  EXPECT_EQ(options.weight_decay, 0);
}

// Each instruction set against a plain loop with the same numbers, for every
// length of the last, partial register.
TYPED_TEST(Adam, InstructionSetsFollowTheFormula) {
  using T = TypeParam;
  const AdamStep<T> numbers = {T(0.75), T(0.25), T(0.875), T(0.125), T(0.01),
                               T(1.5),  T(0.5),  T(0.25),  T(2)};
  for_each_isa([&](Isa isa) {
    const auto step = adam_table_of(isa).functions<T>().step;
    WorstError<T> worst(std::string("adam ") + to_string(isa), 1);
    for (std::size_t count = 1; count <= 40; ++count) {
      State<T> state(count + 1);
      state.next_gradient(count);
      state.second.back() = T(-7);
      const State<T> old = state;
      step(numbers, static_cast<std::int64_t>(count), state.buffers());
      for (std::size_t i = 0; i < count; ++i) {
        const double p = old.parameter[i];
        const double g = 2.0 * old.gradient[i] + 0.25 * p;
        const double m = 0.25 * g;
        const double v = 0.125 * g * g;
        const double want = p - static_cast<double>(numbers.rate) * m /
                                    (1.5 * std::sqrt(v) + 0.5);
        worst.add_scaled(state.parameter[i], want, 1,
                         [&] { return std::to_string(i); });
      }
      EXPECT_EQ(state.parameter.back(), old.parameter.back()) << count;
      EXPECT_EQ(state.second.back(), -7) << count;
    }
    worst.verify();
  });
}

TYPED_TEST(Adam, MayBeCutAnywhere) {
  using T = TypeParam;
  State<T> whole(100), parts(100);
  whole.next_gradient(1);
  parts.next_gradient(1);
  adam_step(AdamOptions(), 1, 100, whole.buffers());
  for (std::int64_t begin = 0; begin < 100; begin += 7) {
    const AdamBuffers<T> all = parts.buffers();
    adam_step(AdamOptions(), 1, std::min<std::int64_t>(7, 100 - begin),
              AdamBuffers<T>{all.parameter + begin, all.gradient + begin,
                             all.first_moment + begin,
                             all.second_moment + begin, nullptr});
  }
  EXPECT_EQ(whole.parameter, parts.parameter);
  EXPECT_EQ(whole.first, parts.first);
  EXPECT_EQ(whole.second, parts.second);
}

TYPED_TEST(Adam, SquaredNormIsTheSumOfSquares) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto squared_norm_of = adam_table_of(isa).functions<T>().squared_norm;
    for (std::size_t count : {0u, 1u, 15u, 16u, 17u, 1000u}) {
      std::vector<T> x(count);
      fill_normal({1, 2, 3}, 0, static_cast<std::int64_t>(count), x.data());
      double want = 0;
      for (T v : x) want += static_cast<double>(v) * static_cast<double>(v);
      const double got =
          squared_norm_of(static_cast<std::int64_t>(count), x.data());
      EXPECT_NEAR(got, want, 1e-14 * want) << count;
    }
    const T large[] = {T(1e30), T(1e30)};
    EXPECT_NEAR(squared_norm_of(2, large), 2e60, 1e54);
  });
}

TEST(ClippingScale, ShrinksLongGradientsOnly) {
  EXPECT_EQ(clipping_scale(0, 1), 1);
  EXPECT_EQ(clipping_scale(0.25, 1), 1);
  EXPECT_NEAR(clipping_scale(100, 1), 0.1, 1e-7);
  EXPECT_NEAR(clipping_scale(100, 5), 0.5, 1e-6);
}

TEST(ClippingScale, BadInputThrows) {
  const double nan = std::nan("");
  expect_error<DomainError>([&] { clipping_scale(1, 0); },
                            "max_norm must be positive, but is 0");
  expect_error<DomainError>([&] { clipping_scale(1, nan); },
                            "max_norm must be positive, but is nan");
  expect_error<NumericalError>([&] { clipping_scale(nan, 1); },
                               "norm of the gradient is nan");
  expect_error<NumericalError>([&] { clipping_scale(HUGE_VAL, 1); },
                               "norm of the gradient is inf");
}

TYPED_TEST(Adam, BadOptionsThrow) {
  using T = TypeParam;
  State<T> state(4);
  const auto expect = [&](double AdamOptions::*member, double value,
                          const char* text) {
    AdamOptions options;
    options.*member = value;
    expect_error<DomainError>(
        [&] { adam_step(options, 1, 4, state.buffers()); }, text);
  };
  const double nan = std::nan("");
  expect(&AdamOptions::learning_rate, -1, "learning_rate must be finite");
  expect(&AdamOptions::learning_rate, nan, "learning_rate must be finite");
  expect(&AdamOptions::beta1, 1, "beta1 must be in [0, 1), but is 1");
  expect(&AdamOptions::beta2, -0.5, "beta2 must be in [0, 1), but is -0.5");
  expect(&AdamOptions::epsilon, 0, "epsilon must be finite and > 0");
  expect(&AdamOptions::weight_decay, -1, "weight_decay must be finite");
  expect_error<DomainError>(
      [&] { adam_step(AdamOptions(), 1, 4, state.buffers(), nan); },
      "gradient_scale must be finite, but is nan");
}

TYPED_TEST(Adam, BadBuffersThrow) {
  using T = TypeParam;
  State<T> state(4);
  const auto expect = [&](std::int64_t step, std::int64_t count,
                          const AdamBuffers<T>& buffers, const char* text) {
    expect_error<ArgumentError>(
        [&] { adam_step(AdamOptions(), step, count, buffers); }, text);
  };
  AdamBuffers<T> buffers = state.buffers();
  expect(0, 4, buffers, "steps are counted from 1, but step is 0");
  expect(1, -1, buffers, "count must not be negative, but is -1");
  buffers.second_moment = nullptr;
  expect(1, 4, buffers, "second_moment is null, but count is 4");
  buffers.first_moment = nullptr;
  expect(1, 4, buffers, "first_moment is null, but count is 4");
  buffers.gradient = nullptr;
  expect(1, 4, buffers, "gradient is null, but count is 4");
  buffers.parameter = nullptr;
  expect(1, 4, buffers, "parameter is null, but count is 4");
  EXPECT_NO_THROW(adam_step(AdamOptions(), 1, 0, AdamBuffers<T>()));
  const T* none = nullptr;
  expect_error<ArgumentError>([&] { squared_norm(3, none); },
                              "x is null, but count is 3");
  expect_error<ArgumentError>([&] { squared_norm(-1, none); },
                              "count must not be negative, but is -1");
}

}  // namespace
}  // namespace radir::kernels
