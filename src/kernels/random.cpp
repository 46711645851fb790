#include "radir/kernels/random.h"

#include <limits>

#include "kernels/random_isa.h"
#include "radir/core/error.h"

namespace radir::kernels {
namespace {

template <typename T>
const RandomFills<T>& active_fills() {
  static const RandomTable& table = random_table_of(active_isa());
  return table.fills<T>();
}

void check_range(const char* where, const RandomStream& stream,
                 std::int64_t offset, std::int64_t count, const void* out) {
  RADIR_CHECK(stream.step < kMaxRandomSteps, ArgumentError, where,
              ": step must be below 2^48, but is ", stream.step);
  RADIR_CHECK(offset >= 0, ArgumentError, where,
              ": offset must not be negative, but is ", offset);
  RADIR_CHECK(count >= 0, ArgumentError, where,
              ": count must not be negative, but is ", count);
  RADIR_CHECK(
      offset <= kMaxRandomElements && count <= kMaxRandomElements - offset,
      ArgumentError, where, ": a sequence has 2^32 elements, but offset ",
      offset, " plus count ", count, " exceeds that; use a second stream");
  RADIR_CHECK(out != nullptr || count == 0, ArgumentError, where,
              ": out is null, but count is ", count);
}

void check_positive(const char* where, const char* name, double value) {
  RADIR_CHECK(value > 0 && value < std::numeric_limits<double>::infinity(),
              DomainError, where, ": ", name,
              " must be positive and finite, but is ", value);
}

template <typename T>
void fill_scaled_gamma(const RandomStream& stream, std::int64_t offset,
                       double shape, double scale, std::int64_t count, T* out) {
  constexpr double kSmallest = std::numeric_limits<T>::min();
  for (std::int64_t i = 0; i < count; ++i) {
    PhiloxEngine engine(stream, static_cast<std::uint32_t>(offset + i));
    const double draw = scale * engine.gamma(shape);
    out[i] = static_cast<T>(draw > kSmallest ? draw : kSmallest);
  }
}

}  // namespace

const RandomTable& random_table_of(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::Avx512:
      return isa_avx512::random_table;
    case Isa::Avx2:
      return isa_avx2::random_table;
    case Isa::Generic:
      break;
  }
#else
  RADIR_ASSERT(isa == Isa::Generic);
#endif
  return isa_generic::random_table;
}

template <typename T>
void fill_uniform(const RandomStream& stream, std::int64_t offset,
                  std::int64_t count, T* out) {
  check_range("fill_uniform", stream, offset, count, out);
  active_fills<T>().uniform(stream, offset, count, out);
}

template <typename T>
void fill_normal(const RandomStream& stream, std::int64_t offset,
                 std::int64_t count, T* out) {
  check_range("fill_normal", stream, offset, count, out);
  active_fills<T>().normal(stream, offset, count, out);
}

template <typename T>
void fill_exponential(const RandomStream& stream, std::int64_t offset,
                      std::int64_t count, T* out) {
  check_range("fill_exponential", stream, offset, count, out);
  active_fills<T>().exponential(stream, offset, count, out);
}

template <typename T>
void fill_gamma(const RandomStream& stream, std::int64_t offset, double shape,
                std::int64_t count, T* out) {
  check_range("fill_gamma", stream, offset, count, out);
  check_positive("fill_gamma", "shape", shape);
  fill_scaled_gamma(stream, offset, shape, 1, count, out);
}

template <typename T>
void fill_chi_square(const RandomStream& stream, std::int64_t offset,
                     double degrees, std::int64_t count, T* out) {
  check_range("fill_chi_square", stream, offset, count, out);
  check_positive("fill_chi_square", "degrees", degrees);
  fill_scaled_gamma(stream, offset, degrees / 2, 2, count, out);
}

#define RADIR_INSTANTIATE(T)                                                  \
  template void fill_uniform(const RandomStream&, std::int64_t, std::int64_t, \
                             T*);                                             \
  template void fill_normal(const RandomStream&, std::int64_t, std::int64_t,  \
                            T*);                                              \
  template void fill_exponential(const RandomStream&, std::int64_t,           \
                                 std::int64_t, T*);                           \
  template void fill_gamma(const RandomStream&, std::int64_t, double,         \
                           std::int64_t, T*);                                 \
  template void fill_chi_square(const RandomStream&, std::int64_t, double,    \
                                std::int64_t, T*);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::kernels
