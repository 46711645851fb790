#include "kernels/draw_sums_isa.h"
#include "kernels/simd.h"
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

}  // namespace

extern const DrawSumsTable draw_sums_table = {range, chebyshev<1>};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
