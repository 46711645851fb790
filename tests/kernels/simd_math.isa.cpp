#include "kernels/simd_math.h"

#include "kernels/philox_simd.h"
#include "simd_math_isa.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

struct Exp {
  template <typename V>
  V operator()(V x) const {
    return exp(x);
  }
};

struct Expm1 {
  template <typename V>
  V operator()(V x) const {
    return expm1(x);
  }
};

struct Log {
  template <typename V>
  V operator()(V x) const {
    return log(x);
  }
};

struct Log1p {
  template <typename V>
  V operator()(V x) const {
    return log1p(x);
  }
};

struct Sqrt {
  template <typename V>
  V operator()(V x) const {
    return sqrt(x);
  }
};

struct Sin2Pi {
  template <typename V>
  V operator()(V x) const {
    return sincos_2pi(x).sin;
  }
};

struct Cos2Pi {
  template <typename V>
  V operator()(V x) const {
    return sincos_2pi(x).cos;
  }
};

struct OpenUnit {
  template <typename U>
  auto operator()(U bits) const {
    return open_unit(bits);
  }
};

template <typename Function, typename In, typename Out>
void apply(const In* x, Out* y, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes<In>) {
    store(y + i, Function()(load(x + i)));
  }
}

template <typename T>
constexpr SimdMathFunctions<T> kFunctions = {
    apply<Exp, T, T>,
    apply<Expm1, T, T>,
    apply<Log, T, T>,
    apply<Log1p, T, T>,
    apply<Sqrt, T, T>,
    apply<Sin2Pi, T, T>,
    apply<Cos2Pi, T, T>,
    apply<OpenUnit, typename SimdMathFunctions<T>::Bits, T>};

}  // namespace

extern const SimdMathTable simd_math_table = {kFunctions<float>,
                                              kFunctions<double>};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
