#include "kernels/winograd_isa.h"

#include "kernels/simd.h"
#include "kernels/vector_block.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

constexpr int kPoints = static_cast<int>(kWinogradPoints);

// The maps of one dimension. With p ranging over the points, M(x) the product
// of all (x - p) and M_p = M / (x - p):
//   Evaluate        v_p = sum_j p^j x_j, at infinity the last coefficient: the
//                   matrix A, and the matrix G apart from the factors 1/M_p(p);
//   Interpolate     v_p = the coefficients of M_p times x, at infinity those of
//                   M: the matrix B'.
// Points come in pairs +-p, which share their even and odd parts.

template <typename T>
struct Pairs {
  Vec<T> sum[3];         // v(p) + v(-p) for p = 1, 2, 1/2
  Vec<T> difference[3];  // v(p) - v(-p)
  explicit Pairs(const Vec<T>* v) {
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      sum[i] = v[1 + 2 * i] + v[2 + 2 * i];
      difference[i] = v[1 + 2 * i] - v[2 + 2 * i];
    }
  }
};

template <typename T>
inline void store_pair(Vec<T> even, Vec<T> odd, Vec<T>* v) {
  v[0] = even + odd;
  v[1] = even - odd;
}

template <typename T>
constexpr T power_of_two(int exponent) {
  return exponent < 0 ? T(1) / T(1 << -exponent) : T(1 << exponent);
}

template <typename T, int N>
struct Evaluate {
  static constexpr int kIn = N;
  static constexpr int kOut = kPoints;
  static void apply(const Vec<T>* x, Vec<T>* v) {
    v[0] = x[0];
    pair<0>(x, v + 1);
    pair<1>(x, v + 3);
    pair<-1>(x, v + 5);
    v[7] = x[N - 1];
  }

 private:
  template <int Log2>  // the points +-2^Log2
  static void pair(const Vec<T>* x, Vec<T>* v) {
    Vec<T> even = x[0];
    Vec<T> odd = x[1] * power_of_two<T>(Log2);
#pragma GCC unroll 8
    for (int j = 2; j < N; ++j) {
      Vec<T>& part = j % 2 == 0 ? even : odd;
      part = multiply_add(x[j], broadcast(power_of_two<T>(j * Log2)), part);
    }
    store_pair<T>(even, odd, v);
  }
};

template <typename T, int N>
struct EvaluateTransposed {
  static constexpr int kIn = kPoints;
  static constexpr int kOut = N;
  static void apply(const Vec<T>* v, Vec<T>* x) {
    const Pairs<T> pairs(v);
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const Vec<T>* part = j % 2 == 0 ? pairs.sum : pairs.difference;
      x[j] = part[0] + part[1] * power_of_two<T>(j) +
             part[2] * power_of_two<T>(-j);
    }
    x[0] += v[0];
    x[N - 1] += v[7];
  }
};

template <typename T>
struct Interpolate {
  static constexpr int kIn = kPoints;
  static constexpr int kOut = kPoints;
  static void apply(const Vec<T>* x, Vec<T>* v) {
    v[0] = (x[6] - x[0]) + T(5.25) * (x[2] - x[4]);
    store_pair<T>(x[2] - T(4.25) * x[4] + x[6], x[1] - T(4.25) * x[3] + x[5],
                  v + 1);
    store_pair<T>(T(0.25) * x[2] - T(1.25) * x[4] + x[6],
                  T(0.5) * x[1] - T(2.5) * x[3] + T(2) * x[5], v + 3);
    store_pair<T>(T(4) * x[2] - T(5) * x[4] + x[6],
                  T(2) * x[1] - T(2.5) * x[3] + T(0.5) * x[5], v + 5);
    v[7] = (x[7] - x[1]) + T(5.25) * (x[3] - x[5]);
  }
};

template <typename T>
struct InterpolateTransposed {
  static constexpr int kIn = kPoints;
  static constexpr int kOut = kPoints;
  static void apply(const Vec<T>* v, Vec<T>* x) {
    const Pairs<T> pairs(v);
    const Vec<T>* s = pairs.sum;
    const Vec<T>* d = pairs.difference;
    x[0] = -v[0];
    x[1] = d[0] + T(0.5) * d[1] + T(2) * d[2] - v[7];
    x[2] = T(5.25) * v[0] + s[0] + T(0.25) * s[1] + T(4) * s[2];
    x[3] = T(5.25) * v[7] - T(4.25) * d[0] - T(2.5) * (d[1] + d[2]);
    x[4] = -T(5.25) * v[0] - T(4.25) * s[0] - T(1.25) * s[1] - T(5) * s[2];
    x[5] = d[0] + T(2) * d[1] + T(0.5) * d[2] - T(5.25) * v[7];
    x[6] = v[0] + s[0] + s[1] + s[2];
    x[7] = v[7];
  }
};

/// 1 / M_p(p), the factors of G.
template <typename T>
constexpr T kKernelFactors[kPoints] = {
    T(-1),        T(-2) / T(9),  T(-2) / T(9),  T(1) / T(90),
    T(1) / T(90), T(32) / T(45), T(32) / T(45), T(1)};

// Applies a map to the columns, then to the rows of what `load` gives, and
// hands the results to `store`.
template <typename T, typename Map, typename Load, typename Store>
inline void transform_tile(const Load& load_at, const Store& store_at) {
  Vec<T> half[Map::kOut][Map::kIn];
  for (int column = 0; column < Map::kIn; ++column) {
    Vec<T> in[Map::kIn];
    Vec<T> out[Map::kOut];
#pragma GCC unroll 8
    for (int row = 0; row < Map::kIn; ++row) in[row] = load_at(row, column);
    Map::apply(in, out);
#pragma GCC unroll 8
    for (int row = 0; row < Map::kOut; ++row) half[row][column] = out[row];
  }
  for (int row = 0; row < Map::kOut; ++row) {
    Vec<T> out[Map::kOut];
    Map::apply(half[row], out);
#pragma GCC unroll 8
    for (int column = 0; column < Map::kOut; ++column) {
      store_at(row, column, out[column]);
    }
  }
}

// Calls body(y, x, datum, frequencies) for each vector of each tile, (y, x)
// being the tile's first pixel. Tiles come in increasing order, so that what
// one writes past its end is overwritten by the next.
template <typename T, typename Body>
inline void for_each_tile(const WinogradPlane<T>& p, const Body& body) {
  constexpr std::int64_t group = kWinogradGroup<T>;
  const std::int64_t step = winograd_step(p.kernel);
  const std::int64_t tiles = p.tiles_h * p.tiles_w;
  for (std::int64_t first = p.begin; first < p.end; first += group) {
    const std::int64_t size = p.end - first < group ? p.end - first : group;
    T* tile = p.frequencies + first * tiles;
    for (std::int64_t ty = 0; ty < p.tiles_h; ++ty) {
      for (std::int64_t tx = 0; tx < p.tiles_w; ++tx, tile += size) {
        for (std::int64_t n = 0; n < size; n += kLanes<T>) {
          body(ty * step - p.padding_h, tx * step - p.padding_w, first + n,
               tile + n);
        }
      }
    }
  }
}

// Pixels of the plane seen from (y, x), one vector of data each; those outside
// of the image are zeros.
template <typename T>
struct Window {
  const WinogradPlane<T>& plane;
  std::int64_t y;
  std::int64_t x;
  std::int64_t datum;

  T* at(int row, int column) const {
    const std::int64_t r = y + row;
    const std::int64_t c = x + column;
    if (r < 0 || r >= plane.height || c < 0 || c >= plane.width) return nullptr;
    return plane.pixels + (r * plane.width + c) * plane.stride + datum;
  }
  Vec<T> get(int row, int column) const {
    const T* const pixel = at(row, column);
    return pixel != nullptr ? load(pixel) : Vec<T>{};
  }
};

template <typename T, typename Map>
void transform_pixels(const WinogradPlane<T>& p) {
  for_each_tile(p, [&p](std::int64_t y, std::int64_t x, std::int64_t datum,
                        T* frequencies) {
    const Window<T> window{p, y, x, datum};
    transform_tile<T, Map>(
        [&](int row, int column) { return window.get(row, column); },
        [&](int row, int column, Vec<T> v) {
          store(frequencies + (row * kPoints + column) * p.frequency_stride, v);
        });
  });
}

template <typename T, typename Map, typename Update>
void gather_pixels(const WinogradPlane<T>& p, const Update& update) {
  for_each_tile(p, [&](std::int64_t y, std::int64_t x, std::int64_t datum,
                       T* frequencies) {
    const Window<T> window{p, y, x, datum};
    transform_tile<T, Map>(
        [&](int row, int column) {
          return load(frequencies +
                      (row * kPoints + column) * p.frequency_stride);
        },
        [&](int row, int column, Vec<T> v) {
          T* const pixel = window.at(row, column);
          if (pixel != nullptr) store(pixel, update(pixel, v, datum));
        });
  });
}

template <typename T>
void transform_input(const WinogradPlane<T>& p) {
  transform_pixels<T, Interpolate<T>>(p);
}

template <typename T>
void transform_output(const WinogradPlane<T>& p) {
  if (p.kernel == 5) {
    transform_pixels<T, Evaluate<T, 4>>(p);
  } else {
    transform_pixels<T, Evaluate<T, 6>>(p);
  }
}

template <typename T>
void gather_output(const WinogradPlane<T>& p) {
  const Vec<T> lowest = broadcast(p.relu ? T(0) : -T(INFINITY));
  const auto finish = [&](const T*, Vec<T> v, std::int64_t) {
    const Vec<T> shifted = v + p.bias;
    return select(shifted < lowest, lowest, shifted);
  };
  if (p.kernel == 5) {
    gather_pixels<T, EvaluateTransposed<T, 4>>(p, finish);
  } else {
    gather_pixels<T, EvaluateTransposed<T, 6>>(p, finish);
  }
}

// Tiles overlap, so gradients add up; the lanes past the batch hold other
// tiles' numbers and must stay zero.
template <typename T>
void gather_input(const WinogradPlane<T>& p) {
  std::memset(
      p.pixels, 0,
      static_cast<std::size_t>(p.height * p.width * p.stride) * sizeof(T));
  T lane_numbers[kLanes<T>];
  for (int i = 0; i < kLanes<T>; ++i) lane_numbers[i] = T(i);
  const Vec<T> lane = load(lane_numbers);
  gather_pixels<T, InterpolateTransposed<T>>(
      p, [&](const T* pixel, Vec<T> v, std::int64_t datum) {
        return load(pixel) + select(lane < T(p.end - datum), v, Vec<T>{});
      });
}

// A vector's worth of kernels, number j of all of them in numbers[j].
template <typename T, int Size>
struct KernelBlock {
  static constexpr int kLanesPerBlock = kLanes<T>;
  static constexpr int kPadded =
      (Size + kLanesPerBlock - 1) / kLanesPerBlock * kLanesPerBlock;
  Vec<T> numbers[kPadded] = {};

  void read(const T* kernels, std::int64_t count) {
    for (int j = 0; j < Size; j += kLanesPerBlock) {
      for (int i = 0; i < kLanesPerBlock; ++i) {
        const int rest = Size - j < kLanesPerBlock ? Size - j : kLanesPerBlock;
        numbers[j + i] =
            i < count ? load_part(kernels + i * Size + j, rest) : Vec<T>{};
      }
      transpose<T>(numbers + j);
    }
  }
  void write(T* kernels, std::int64_t count) {
    for (int j = 0; j < Size; j += kLanesPerBlock) {
      transpose<T>(numbers + j);
      for (int i = 0; i < kLanesPerBlock && i < count; ++i) {
        const int rest = Size - j < kLanesPerBlock ? Size - j : kLanesPerBlock;
        store_part(kernels + i * Size + j, numbers[j + i], rest);
      }
    }
  }
};

template <typename T, int Kernel>
void transform_kernels_of(const WinogradKernels<T>& p) {
  KernelBlock<T, Kernel * Kernel> block;
  for (std::int64_t i = 0; i < p.count; i += kLanes<T>) {
    block.read(p.kernels + i * Kernel * Kernel, p.count - i);
    transform_tile<T, Evaluate<T, Kernel>>(
        [&](int row, int column) {
          return block.numbers[row * Kernel + column];
        },
        [&](int row, int column, Vec<T> v) {
          const T factor = kKernelFactors<T>[row] * kKernelFactors<T>[column];
          store(
              p.frequencies + (row * kPoints + column) * p.frequency_stride + i,
              v * factor);
        });
  }
}

template <typename T, int Kernel>
void gather_kernels_of(const WinogradKernels<T>& p) {
  KernelBlock<T, Kernel * Kernel> block;
  for (std::int64_t i = 0; i < p.count; i += kLanes<T>) {
    transform_tile<T, EvaluateTransposed<T, Kernel>>(
        [&](int row, int column) {
          const T factor = kKernelFactors<T>[row] * kKernelFactors<T>[column];
          return factor *
                 load(p.frequencies +
                      (row * kPoints + column) * p.frequency_stride + i);
        },
        [&](int row, int column, Vec<T> v) {
          block.numbers[row * Kernel + column] = v;
        });
    block.write(p.kernels + i * Kernel * Kernel, p.count - i);
  }
}

template <typename T>
void transform_kernels(const WinogradKernels<T>& p) {
  p.kernel == 5 ? transform_kernels_of<T, 5>(p) : transform_kernels_of<T, 3>(p);
}

template <typename T>
void gather_kernels(const WinogradKernels<T>& p) {
  p.kernel == 5 ? gather_kernels_of<T, 5>(p) : gather_kernels_of<T, 3>(p);
}

template <typename T>
constexpr WinogradTable<T> kTable = {transform_input<T>,   gather_output<T>,
                                     transform_output<T>,  gather_input<T>,
                                     transform_kernels<T>, gather_kernels<T>};

}  // namespace

extern const WinogradTable<float> winograd_float = kTable<float>;
extern const WinogradTable<double> winograd_double = kTable<double>;

}  // namespace RADIR_ISA
}  // namespace radir::kernels
