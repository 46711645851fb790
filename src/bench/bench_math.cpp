#include "radir/bench/bench_math.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "bench/boost_bessel.h"
#include "radir/core/error.h"
#include "radir/kernels/math_array.h"
#include "radir/math/bessel.h"
#include "radir/reproduce/bessel_reference.h"

namespace radir::bench {
namespace {

/// Errors are measured on this many values at most: the reference is slow.
constexpr std::size_t kCheckedValues = 200;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What every method is given, and the first of the ratios it should find.
template <typename T>
struct Inputs {
  double m;
  std::vector<T> kappa;
  std::vector<long double> want;

  Inputs(const BenchMathOptions& options, double dimension)
      : m(dimension), kappa(static_cast<std::size_t>(options.values)) {
    std::mt19937_64 generator(options.seed);
    std::uniform_real_distribution<double> exponent(std::log(0.03),
                                                    std::log(10.0));
    for (T& k : kappa) k = static_cast<T>(m * std::exp(exponent(generator)));
    want.resize(std::min(kappa.size(), kCheckedValues));
    for (std::size_t i = 0; i < want.size(); ++i) {
      want[i] = reproduce::reference_bessel_ratio(m / 2, kappa[i]);
    }
  }
};

/// A method at one dimension: its results, and the times of its turns.
template <typename T>
class Contestant {
 public:
  using Evaluate = std::function<void(const T* kappa, std::size_t count, T*)>;

  /// Uses the first `count` concentrations.
  Contestant(std::string method, const Inputs<T>& inputs, std::size_t count,
             Evaluate evaluate)
      : method_(std::move(method)),
        inputs_(inputs),
        ratio_(count),
        evaluate_(std::move(evaluate)) {
    // A turn is short, lest others interrupt it: some 50 microseconds, or one
    // pass.
    passes_ = static_cast<int>(std::min(1000.0, 5e-5 / seconds_of(pass()))) + 1;
  }

  void take_turn() {
    const double seconds = seconds_of([&] {
      for (int i = 0; i < passes_; ++i) pass()();
    });
    const double count = static_cast<double>(ratio_.size()) * passes_;
    times_.push_back(seconds * 1e9 / count);
  }

  BenchMathRow row() const {
    BenchMathRow row;
    row.dimension = inputs_.m;
    row.method = method_;
    row.precision = sizeof(T) == sizeof(double) ? "double" : "float";
    row.ns_per_value = median(times_);
    std::size_t failed = 0;
    for (T ratio : ratio_) failed += !is_usable(ratio);
    row.failed_share =
        static_cast<double>(failed) / static_cast<double>(ratio_.size());
    row.error_eps = worst_error() / std::numeric_limits<T>::epsilon();
    return row;
  }

 private:
  static bool is_usable(T ratio) { return ratio > 0 && std::isfinite(ratio); }

  std::function<void()> pass() {
    return [this] {
      evaluate_(inputs_.kappa.data(), ratio_.size(), ratio_.data());
    };
  }

  double worst_error() const {
    double worst = 0;
    const std::size_t count = std::min(ratio_.size(), inputs_.want.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_usable(ratio_[i])) continue;
      const long double want = inputs_.want[i];
      const long double error = std::fabs(ratio_[i] - want) / want;
      worst = std::max(worst, static_cast<double>(error));
    }
    return worst;
  }

  std::string method_;
  const Inputs<T>& inputs_;
  std::vector<T> ratio_;
  Evaluate evaluate_;
  int passes_ = 1;
  std::vector<double> times_;
};

template <typename T>
std::vector<Contestant<T>> contestants(const Inputs<T>& inputs) {
  const T nu = static_cast<T>(inputs.m / 2);
  const std::size_t all = inputs.kappa.size();
  std::vector<Contestant<T>> result;
  result.emplace_back("array", inputs, all,
                      [nu](const T* kappa, std::size_t count, T* ratio) {
                        kernels::dispatched_bessel_ratio(
                            nu, kappa, static_cast<std::int64_t>(count), ratio);
                      });
  result.emplace_back("scalar", inputs, all,
                      [nu](const T* kappa, std::size_t count, T* ratio) {
                        for (std::size_t i = 0; i < count; ++i) {
                          ratio[i] = math::bessel_ratio(nu, kappa[i]);
                        }
                      });
  result.emplace_back("bounds", inputs, all,
                      [nu](const T* kappa, std::size_t count, T* ratio) {
                        kernels::article::dispatched_ratio_average_theorem5(
                            nu, kappa, static_cast<std::int64_t>(count), ratio);
                      });
  return result;
}

/// On as many values as it does in half a millisecond, one at least.
Contestant<double> boost_contestant(const std::string& method,
                                    const Inputs<double>& inputs,
                                    bool in_long_double) {
  const auto evaluate = [nu = inputs.m / 2, in_long_double](const double* kappa,
                                                            std::size_t count,
                                                            double* ratio) {
    for (std::size_t i = 0; i < count; ++i) {
      ratio[i] = boost_bessel_ratio(nu, kappa[i], in_long_double);
    }
  };
  std::size_t count = 0;
  double ratio = 0;
  for (double seconds = 0; seconds < 5e-4 && count < inputs.kappa.size();) {
    const double* kappa = &inputs.kappa[count++];
    seconds += seconds_of([&] { evaluate(kappa, 1, &ratio); });
  }
  return {method, inputs, count, evaluate};
}

void check(const BenchMathOptions& options) {
  RADIR_CHECK(options.values > 0, ArgumentError,
              "bench_math: values must be positive, but is ", options.values);
  RADIR_CHECK(options.repetitions > 0, ArgumentError,
              "bench_math: repetitions must be positive, but is ",
              options.repetitions);
  for (double m : options.dimensions) {
    RADIR_CHECK(m >= 2 && m <= 1e9, ArgumentError,
                "bench_math: dimensions must be in [2, 1e9], but got ", m);
  }
}

}  // namespace

bool BenchMathResult::has(const std::string& method) const {
  return std::any_of(rows.begin(), rows.end(), [&](const BenchMathRow& row) {
    return row.method == method;
  });
}

const BenchMathRow& BenchMathResult::row(double dimension,
                                         const std::string& method,
                                         const std::string& precision) const {
  for (const BenchMathRow& row : rows) {
    if (row.dimension == dimension && row.method == method &&
        row.precision == precision) {
      return row;
    }
  }
  ::radir::detail::throw_error<ArgumentError>(
      "bench_math has no row of dimension ", dimension, ", method ", method,
      ", precision ", precision);
}

BenchMathResult bench_math(const BenchMathOptions& options) {
  check(options);
  BenchMathResult result;
  for (double m : options.dimensions) {
    const Inputs<double> double_inputs(options, m);
    const Inputs<float> float_inputs(options, m);
    auto in_double = contestants(double_inputs);
    auto in_float = contestants(float_inputs);
    if (has_boost()) {
      in_double.push_back(boost_contestant("boost", double_inputs, true));
      in_double.push_back(
          boost_contestant("boost_double", double_inputs, false));
    }
    for (int repetition = 0; repetition < options.repetitions; ++repetition) {
      for (auto& contestant : in_double) contestant.take_turn();
      for (auto& contestant : in_float) contestant.take_turn();
    }
    for (const auto& contestant : in_double) {
      result.rows.push_back(contestant.row());
    }
    for (const auto& contestant : in_float) {
      result.rows.push_back(contestant.row());
    }
  }
  return result;
}

}  // namespace radir::bench
