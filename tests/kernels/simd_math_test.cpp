#include "simd_math_isa.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "each_isa.h"
#include "support/worst_error.h"

namespace radir::kernels {
namespace {

using testing::for_each_isa;
using testing::WorstError;

const SimdMathTable& table_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return isa_avx512::simd_math_table;
  if (isa == Isa::Avx2) return isa_avx2::simd_math_table;
#else
  EXPECT_EQ(isa, Isa::Generic);
#endif
  return isa_generic::simd_math_table;
}

template <typename T>
const SimdMathFunctions<T>& functions(Isa isa) {
  if constexpr (sizeof(T) == 4) {
    return table_of(isa).single_precision;
  } else {
    return table_of(isa).double_precision;
  }
}

constexpr std::size_t kCount = 1 << 17;

std::string exactly(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

/// Evenly spread numbers, both ends included.
template <typename T>
std::vector<T> even(double low, double high) {
  std::vector<T> x(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double part = static_cast<double>(i) / (kCount - 1);
    x[i] = static_cast<T>(low * (1 - part) + high * part);
  }
  return x;
}

/// Numbers sign 2^low to sign 2^high, evenly in the log.
template <typename T>
std::vector<T> powers(double low, double high, double sign = 1) {
  std::vector<T> x;
  for (double exponent : even<double>(low, high)) {
    x.push_back(static_cast<T>(sign * std::exp2(exponent)));
  }
  return x;
}

template <typename T>
std::vector<T> apply(typename SimdMathFunctions<T>::Function function,
                     const std::vector<T>& x) {
  std::vector<T> y(x.size());
  function(x.data(), y.data(), x.size());
  return y;
}

/// Compares with a function of long double, in eps of the result.
template <typename T>
class Comparison {
 public:
  using Function = typename SimdMathFunctions<T>::Function;

  Comparison(const std::string& name, Isa isa, double allowed_eps)
      : worst_(name + " " + to_string(isa), allowed_eps) {}
  ~Comparison() { worst_.verify(); }

  template <typename Truth>
  void add(Function function, const std::vector<T>& x, Truth truth) {
    const std::vector<T> y = apply<T>(function, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double want = truth(static_cast<long double>(x[i]));
      const long double error = static_cast<long double>(y[i]) - want;
      worst_.add_scaled(static_cast<T>(error), 0,
                        static_cast<double>(std::fabs(want)),
                        [&] { return "x=" + exactly(x[i]); });
    }
  }

 private:
  WorstError<T> worst_;
};

template <typename T>
class SimdMath : public ::testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;
  static constexpr T kInfinity = Limits::infinity();
  // Exponents of the smallest normal number and of overflow.
  static constexpr double kMinExponent = Limits::min_exponent - 1;
  static constexpr double kMaxExponent = Limits::max_exponent - 1e-3;
  static constexpr double kLn2 = 0.693147180559945309;

  /// The function of one number.
  static T at(typename SimdMathFunctions<T>::Function function, T x) {
    return apply<T>(function, std::vector<T>(16, x))[7];
  }
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdMath, Types);

TYPED_TEST(SimdMath, Exp) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto exp = functions<T>(isa).exp;
    const double low = (TestFixture::kMinExponent + 1) * TestFixture::kLn2;
    const double high = TestFixture::kMaxExponent * TestFixture::kLn2;
    Comparison<T> compare("exp", isa, 1);
    const auto truth = [](long double x) { return std::exp(x); };
    compare.add(exp, even<T>(low + 1e-3, high), truth);
    compare.add(exp, even<T>(-1, 1), truth);

    const T infinity = TestFixture::kInfinity;
    EXPECT_EQ(TestFixture::at(exp, T(high) * T(1.0001)), infinity);
    EXPECT_EQ(TestFixture::at(exp, infinity), infinity);
    EXPECT_EQ(TestFixture::at(exp, T(low) * T(1.0001)), 0);
    EXPECT_EQ(TestFixture::at(exp, -infinity), 0);
    EXPECT_EQ(TestFixture::at(exp, 0), 1);
    EXPECT_TRUE(std::isnan(TestFixture::at(exp, T(NAN))));
  });
}

TYPED_TEST(SimdMath, Expm1) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto expm1 = functions<T>(isa).expm1;
    const double high = TestFixture::kMaxExponent * TestFixture::kLn2;
    Comparison<T> compare("expm1", isa, 1.5);
    const auto truth = [](long double x) { return std::expm1(x); };
    compare.add(expm1, even<T>(-50, high), truth);
    compare.add(expm1, even<T>(-1.5, 1.5), truth);
    compare.add(expm1, powers<T>(-100, 0), truth);
    compare.add(expm1, powers<T>(-100, 0, -1), truth);

    EXPECT_EQ(TestFixture::at(expm1, TestFixture::kInfinity),
              TestFixture::kInfinity);
    EXPECT_EQ(TestFixture::at(expm1, -TestFixture::kInfinity), -1);
    EXPECT_EQ(TestFixture::at(expm1, 0), 0);
    EXPECT_TRUE(std::isnan(TestFixture::at(expm1, T(NAN))));
  });
}

TYPED_TEST(SimdMath, Log) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto log = functions<T>(isa).log;
    const double subnormal =
        TestFixture::kMinExponent - TestFixture::Limits::digits + 1;
    Comparison<T> compare("log", isa, 0.75);
    const auto truth = [](long double x) { return std::log(x); };
    compare.add(log, powers<T>(subnormal, TestFixture::kMaxExponent), truth);
    compare.add(log, even<T>(0.4, 2.2), truth);
    compare.add(log, even<T>(1 - 1e-3, 1 + 1e-3), truth);

    EXPECT_EQ(TestFixture::at(log, TestFixture::kInfinity),
              TestFixture::kInfinity);
    EXPECT_EQ(TestFixture::at(log, 0), -TestFixture::kInfinity);
    EXPECT_EQ(TestFixture::at(log, 1), 0);
    EXPECT_TRUE(std::isnan(TestFixture::at(log, -1)));
    EXPECT_TRUE(std::isnan(TestFixture::at(log, -TestFixture::kInfinity)));
    EXPECT_TRUE(std::isnan(TestFixture::at(log, T(NAN))));
  });
}

TYPED_TEST(SimdMath, Log1p) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto log1p = functions<T>(isa).log1p;
    Comparison<T> compare("log1p", isa, 1.25);
    const auto truth = [](long double x) { return std::log1p(x); };
    compare.add(log1p, powers<T>(-100, TestFixture::kMaxExponent), truth);
    compare.add(log1p, powers<T>(-100, -1e-6, -1), truth);
    compare.add(log1p, even<T>(-0.999, 3), truth);

    EXPECT_EQ(TestFixture::at(log1p, TestFixture::kInfinity),
              TestFixture::kInfinity);
    EXPECT_EQ(TestFixture::at(log1p, -1), -TestFixture::kInfinity);
    EXPECT_EQ(TestFixture::at(log1p, 0), 0);
    EXPECT_TRUE(std::isnan(TestFixture::at(log1p, -2)));
    EXPECT_TRUE(std::isnan(TestFixture::at(log1p, T(NAN))));
  });
}

TYPED_TEST(SimdMath, SqrtIsCorrectlyRounded) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const auto x = powers<T>(-100, 100);
    const auto y = apply<T>(functions<T>(isa).sqrt, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], std::sqrt(x[i])) << x[i];
    }
  });
}

TYPED_TEST(SimdMath, SinCos2Pi) {
  using T = TypeParam;
  constexpr long double kTwoPi = 6.283185307179586476925286766559L;
  for_each_isa([&](Isa isa) {
    const auto& table = functions<T>(isa);
    // Exact reduction: sin(2 pi u) from the nearest multiple of 1/4.
    const auto quarter = [](long double u) {
      return static_cast<long long>(std::rint(4 * u));
    };
    const auto truth = [&](long double u, int shift) {
      const long double angle = kTwoPi * (u - 0.25L * quarter(u));
      switch ((quarter(u) + shift) & 3) {
        case 0:
          return std::sin(angle);
        case 1:
          return std::cos(angle);
        case 2:
          return -std::sin(angle);
        default:
          return -std::cos(angle);
      }
    };
    const auto sine = [&](long double u) { return truth(u, 0); };
    const auto cosine = [&](long double u) { return truth(u, 1); };
    Comparison<T> compare_sin("sin_2pi", isa, 1.25);
    Comparison<T> compare_cos("cos_2pi", isa, 1.25);
    for (const auto& u : {even<T>(-1, 1), even<T>(0, 1000), powers<T>(-60, -3),
                          powers<T>(-60, -3, -1)}) {
      compare_sin.add(table.sin_2pi, u, sine);
      compare_cos.add(table.cos_2pi, u, cosine);
    }
    for (T u : {T(-0.5), T(0), T(0.25), T(0.5), T(0.75), T(7)}) {
      EXPECT_EQ(TestFixture::at(table.sin_2pi, u), sine(u)) << u;
      EXPECT_EQ(TestFixture::at(table.cos_2pi, u), cosine(u)) << u;
    }
  });
}

// Whatever the bits, the number is inside of (0, 1); and few bits make numbers
// as small as the tails of the normal distribution need.
TYPED_TEST(SimdMath, OpenUnitIsOpen) {
  using T = TypeParam;
  using Bits = typename SimdMathFunctions<T>::Bits;
  constexpr int kBits = std::numeric_limits<Bits>::digits;
  for_each_isa([](Isa isa) {
    std::vector<Bits> bits;
    for (int shift = 0; shift < kBits; ++shift) {
      bits.push_back(static_cast<Bits>(~Bits{0} << shift));
      bits.push_back(static_cast<Bits>(~Bits{0} >> shift));
    }
    std::vector<T> u(bits.size());
    functions<T>(isa).open_unit(bits.data(), u.data(), bits.size());
    for (std::size_t i = 0; i < u.size(); ++i) {
      EXPECT_GT(u[i], 0) << bits[i];
      EXPECT_LT(u[i], 1) << bits[i];
      EXPECT_NEAR(static_cast<double>(u[i]), std::ldexp(bits[i], -kBits),
                  std::ldexp(1, sizeof(T) == 4 ? -24 : -52))
          << bits[i];
    }
    const Bits none[16] = {};
    functions<T>(isa).open_unit(none, u.data(), 16);
    EXPECT_EQ(u[0], std::ldexp(1, sizeof(T) == 4 ? -32 : -53));
  });
}

}  // namespace
}  // namespace radir::kernels
