#include "kernels/draw_sums_isa.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/vector_loop.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

using V = Vec<double>;

DrawRange range(const double* draws, std::int64_t count) {
  const V first = broadcast(draws[0]);
  const double share = 1 / double(count);  // the sum itself may overflow
  V least = first, most = first, mean = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    // In lanes that are left over, the first number.
    const V x = lanes.load(draws + i) + (first - lanes.keep(first));
    least = minimum(least, x);
    most = maximum(most, x);
    mean += lanes.keep(x) * share;
  });
  DrawRange result = {draws[0], draws[0], reduce_add<double>(mean)};
  for (int i = 0; i < kLanes<double>; ++i) {
    result.least = least[i] < result.least ? least[i] : result.least;
    result.most = most[i] > result.most ? most[i] : result.most;
  }
  return result;
}

/// The polynomials at x times a factor, in turn.
template <int kOrders, typename Visit>
[[gnu::always_inline]] inline void for_each_polynomial(V x, V factor,
                                                       const Visit& visit) {
  V before = factor * x;  // the polynomial of order -1 is that of order 1
  V polynomial = factor;
#pragma GCC unroll 12
  for (int k = 0; k < kOrders; ++k) {
    visit(k, polynomial);
    const V next = (x + x) * polynomial - before;
    before = polynomial;
    polynomial = next;
  }
}

template <typename Lanes>
[[gnu::always_inline]] inline V place_of(const ChebyshevPlace& place,
                                         std::int64_t i, Lanes lanes) {
  return (lanes.load(place.draws + i) - place.middle) * place.factor;
}

template <int kOrders>
void sums_along_x(const ChebyshevPlace& x, std::int64_t count, double* sums) {
  V total[kOrders] = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    const V one = lanes.keep(broadcast(1.0));
    for_each_polynomial<kOrders>(place_of(x, i, lanes), one,
                                 [&](int k, V p) { total[k] += p; });
  });
  for (int k = 0; k < kOrders; ++k) sums[k] = reduce_add<double>(total[k]);
}

template <int kOrders>
void sums_of_products(const ChebyshevPlace& x, const ChebyshevPlace& y,
                      std::int64_t count, double* sums) {
  V total[kMostChebyshev][kOrders] = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    const V at_x = place_of(x, i, lanes);
    const V at_y = place_of(y, i, lanes);
    V factor = lanes.keep(broadcast(1.0));
    V before = factor * at_y;
    for (std::int64_t l = 0; l < y.orders; ++l) {
      for_each_polynomial<kOrders>(at_x, factor,
                                   [&](int k, V p) { total[l][k] += p; });
      const V next = (at_y + at_y) * factor - before;
      before = factor;
      factor = next;
    }
  });
  for (std::int64_t l = 0; l < y.orders; ++l) {
    for (int k = 0; k < kOrders; ++k) {
      sums[l * kOrders + k] = reduce_add<double>(total[l][k]);
    }
  }
}

/// Calls the loops that are compiled for the number of polynomials along x.
template <int kOrders = 1>
void chebyshev(const ChebyshevPlace& x, const ChebyshevPlace& y,
               std::int64_t count, double* sums) {
  if constexpr (kOrders < kMostChebyshev) {
    if (x.orders > kOrders) return chebyshev<kOrders + 1>(x, y, count, sums);
  }
  if (y.orders == 1) return sums_along_x<kOrders>(x, count, sums);
  sums_of_products<kOrders>(x, y, count, sums);
}

/// (z + 1.5) Phi(-z) / phi(z) in (z - 4) / (z + 4) for z >= 0, error 3e-15
/// (tools/simd_polynomials.py).
constexpr double kMills[] = {
    1.3015881060245817,      -0.45596154390483748,    0.1909781593407053,
    -0.018181426165054681,   -0.042024714366542811,   0.034315865747756271,
    -0.011902968591839214,   8.4683626613292353e-5,   0.0015072456290622245,
    -0.00029379717301702746, -0.00018429862506455896, 5.9075647557611731e-5,
    2.8730911164136987e-5,   -9.6570674528743344e-6,  -5.6589851764875289e-6,
    1.299003009681234e-6,    1.1917767585980085e-6,   -9.4944946709400887e-8,
    -2.1160504688867582e-7,  -1.0900950495685611e-8,  2.1478024954019595e-8,
    3.144697872670015e-9};

V absolute(V v) { return select(v < 0, -v, v); }

/// What one normal distribution of mean 0 and deviation 1 says of z >= 0.
struct Tail {
  V density;
  V beyond;  // the probability
};

[[gnu::always_inline]] inline Tail tail_at(V z) {
  constexpr double kInvSqrtTwoPi = 0.39894228040143267794;
  // Both are 0 there, and infinite z would be no number below.
  constexpr double kEnd = 40;
  const V end = broadcast(kEnd);
  z = select(z < end, z, end);
  const V density = exp(z * z * -0.5) * kInvSqrtTwoPi;
  const V place = (z - 4) / (z + 4);
  return {density, density * detail::polynomial(kMills, place) / (z + 1.5)};
}

/// Scales, with 1 in lanes that are not in use.
template <typename Lanes>
[[gnu::always_inline]] inline V scales_of(const NormalColumns& of,
                                          std::int64_t i, Lanes lanes) {
  const V one = broadcast(1.0);
  return lanes.load(of.scales + i) + (one - lanes.keep(one));
}

/// The expected distance from 0 of a normal variable whose mean is so far.
[[gnu::always_inline]] inline V distance_of(V mean, V deviation,
                                            const Tail& tail) {
  return mean * (1 - 2 * tail.beyond) + 2 * deviation * tail.density;
}

NormalSums normals(const NormalColumns& of, std::int64_t count, double at) {
  V probability = {}, density = {}, distance = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    const V scale = scales_of(of, i, lanes);
    const V weight = lanes.load(of.weights + i);
    const V above = at - lanes.load(of.locations + i);
    const Tail tail = tail_at(absolute(above / scale));
    probability += weight * select(above < 0, tail.beyond, 1 - tail.beyond);
    density += weight * tail.density / scale;
    distance += weight * distance_of(absolute(above), scale, tail);
  });
  return {reduce_add<double>(probability), reduce_add<double>(density),
          reduce_add<double>(distance)};
}

StudentSums students(const NormalColumns& of, double degrees_of_freedom,
                     std::int64_t count, double at) {
  // Squares of larger numbers overflow.
  const V largest = broadcast(1e150);
  const double n = degrees_of_freedom;
  const double factor = (8 * n + 1) / (8 * n + 3);
  V probability = {}, density = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    const V scale = scales_of(of, i, lanes);
    const V weight = lanes.load(of.weights + i);
    const V above = at - lanes.load(of.locations + i);
    V t = absolute(above / scale);
    t = select(t < largest, t, largest);
    const Tail tail = tail_at(factor * sqrt(n * log1p(t * t / n)));
    probability += weight * select(above < 0, tail.beyond, 1 - tail.beyond);
    density += weight * tail.density / scale;
  });
  return {reduce_add<double>(probability), reduce_add<double>(density)};
}

NormalPairSums normal_pairs(const NormalColumns& a, const NormalColumns& b,
                            std::int64_t count) {
  V weights = {}, distance = {};
  for_each_vector<double>(0, count, [&](std::int64_t i, auto lanes) {
    const V of_a = scales_of(a, i, lanes), of_b = scales_of(b, i, lanes);
    const V scale = sqrt(of_a * of_a + of_b * of_b);
    const V weight = lanes.load(a.weights + i) * lanes.load(b.weights + i);
    const V between =
        absolute(lanes.load(a.locations + i) - lanes.load(b.locations + i));
    weights += weight;
    distance += weight * distance_of(between, scale, tail_at(between / scale));
  });
  return {reduce_add<double>(weights), reduce_add<double>(distance)};
}

}  // namespace

extern const DrawSumsTable draw_sums_table = {range, chebyshev<1>, normals,
                                              students, normal_pairs};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
