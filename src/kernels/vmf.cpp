#include "radir/kernels/vmf.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/random.h"

namespace radir::kernels {
namespace {

/// sum of f(i), i in [0, count), in double. Eight partial sums let the compiler
/// use vectors; their order does not depend on anything but `count`.
template <typename Function>
double sum_over(std::int64_t count, Function f) {
  constexpr int kLanes = 8;
  double partial[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) partial[lane] += f(i + lane);
  }
  for (; i < count; ++i) partial[i % kLanes] += f(i);
  double sum = 0;
  for (const double p : partial) sum += p;
  return sum;
}

template <typename T>
double dot(std::int64_t count, const T* a, const T* b) {
  return sum_over(count, [=](std::int64_t i) {
    return static_cast<double>(a[i]) * static_cast<double>(b[i]);
  });
}

/// A normal vector taken apart along a unit vector.
struct Split {
  double along;           ///< the part along it, standard normal
  double tangent_square;  ///< squared length of the rest, chi-square of m - 1
};

/// Replaces g by its part orthogonal to `loc`.
template <typename T>
Split split_off(std::int64_t m, const T* loc, T* g) {
  if (m == 2) {
    // The orthogonal direction is known, so nothing needs to cancel.
    const double along = dot(m, loc, g);
    const double across =
        static_cast<double>(loc[0]) * static_cast<double>(g[1]) -
        static_cast<double>(loc[1]) * static_cast<double>(g[0]);
    g[0] = static_cast<T>(-across * static_cast<double>(loc[1]));
    g[1] = static_cast<T>(across * static_cast<double>(loc[0]));
    return {along, across * across};
  }
  const auto subtract = [=](double length) {
    const T amount = static_cast<T>(length);
    for (std::int64_t i = 0; i < m; ++i) g[i] -= amount * loc[i];
  };
  const double along = dot(m, loc, g);
  subtract(along);
  // A rest much shorter than what was subtracted is not yet orthogonal: again
  // ("twice is enough", Kahan and Parlett).
  if (dot(m, g, g) < 0.01 * along * along) subtract(dot(m, loc, g));
  return {along, dot(m, g, g)};
}

using Cosine = math::VmfCosine<double>;
using CosineDraw = math::VmfCosineDraw<double>;

struct Accepted {
  CosineDraw draw;
  std::int32_t proposals;
};

/// The cosine of the row whose normal vector was taken apart into `first`.
Accepted draw_cosine(std::int64_t m, const Cosine& law, const Split& first,
                     PhiloxEngine engine) {
  if (m == 3) {
    return {math::vmf_cosine_in_three(engine.uniform(), law.kappa), 1};
  }
  auto proposal = law.propose(first.along, first.tangent_square);
  std::int32_t proposals = 1;
  while (!law.accepts(proposal, engine.exponential())) {
    const double normal = engine.normal();
    const double chi_square = 2 * engine.gamma(law.dimension_minus_one / 2);
    proposal = law.propose(normal, chi_square);
    ++proposals;
  }
  return {proposal.draw, proposals};
}

/// The distributions of consecutive rows; a shared concentration is worked out
/// once.
template <typename T>
class LawOfRow {
 public:
  explicit LawOfRow(const VmfLaws<T>& laws)
      : laws_(laws), law_(make(laws.concentration[0])) {}

  const Cosine& operator()(std::int64_t row) {
    if (laws_.concentrations > 1) {
      law_ = make(laws_.concentration[row % laws_.concentrations]);
    }
    return law_;
  }
  const T* loc(std::int64_t row) const {
    return laws_.loc + row % laws_.directions * laws_.dimension;
  }

 private:
  Cosine make(T concentration) const {
    const double kappa = static_cast<double>(concentration);
    RADIR_CHECK(kappa >= 0 && kappa < std::numeric_limits<double>::infinity(),
                DomainError,
                "sample_vmf: concentration must be finite and >= 0, but is ",
                kappa);
    return Cosine::make(static_cast<double>(laws_.dimension), kappa);
  }

  const VmfLaws<T>& laws_;
  Cosine law_;
};

template <typename T>
void check(const char* where, std::int64_t rows, const VmfLaws<T>& laws,
           std::initializer_list<const void*> arrays) {
  RADIR_CHECK(laws.dimension >= 2, ArgumentError, where,
              ": dimension must be >= 2, but is ", laws.dimension);
  RADIR_CHECK(laws.directions >= 1 || rows == 0, ArgumentError, where,
              ": directions must be >= 1, but is ", laws.directions);
  RADIR_CHECK(
      laws.concentrations == 1 || laws.concentrations == laws.directions,
      ArgumentError, where,
      ": concentrations must be 1 or the number of directions, ",
      laws.directions, ", but is ", laws.concentrations);
  RADIR_CHECK(rows >= 0, ArgumentError, where,
              ": rows must not be negative, but is ", rows);
  for (const void* array : arrays) {
    RADIR_CHECK(array != nullptr || rows == 0, ArgumentError, where,
                ": an array is null");
  }
}

}  // namespace

template <typename T>
void sample_vmf(const RandomStream& stream, std::int64_t offset,
                std::int64_t rows, const VmfLaws<T>& laws,
                const VmfSamples<T>& out) {
  check("sample_vmf", rows, laws,
        {laws.loc, laws.concentration, out.vectors, out.one_minus_cosine});
  const std::int64_t m = laws.dimension;
  const std::int64_t most_rows = kMaxRandomElements / m;
  RADIR_CHECK(offset >= 0, ArgumentError,
              "sample_vmf: offset must not be negative, but is ", offset);
  RADIR_CHECK(offset <= most_rows && rows <= most_rows - offset, ArgumentError,
              "sample_vmf: a stream has 2^32 elements, but row ", offset,
              " plus ", rows, " rows of ", m,
              " elements exceeds that; use a second stream");
  if (rows == 0) return;
  fill_normal(stream, offset * m, rows * m, out.vectors);
  LawOfRow<T> law_of_row(laws);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = offset + i;
    const T* loc = law_of_row.loc(row);
    T* x = out.vectors + i * m;
    const Split split = split_off(m, loc, x);
    const auto [draw, proposals] =
        draw_cosine(m, law_of_row(row), split,
                    PhiloxEngine(stream, static_cast<std::uint32_t>(row)));
    const T along = static_cast<T>(draw.cosine);
    const T across =
        static_cast<T>(std::sqrt(draw.sine_squared / split.tangent_square));
    for (std::int64_t j = 0; j < m; ++j) x[j] = along * loc[j] + across * x[j];
    out.one_minus_cosine[i] = draw.one_minus;
    if (out.proposals != nullptr) out.proposals[i] = proposals;
  }
}

template <typename T>
void sample_vmf_backward(std::int64_t rows, const VmfLaws<T>& laws,
                         const T* vectors, const double* one_minus_cosine,
                         const T* vector_gradient, math::VmfEstimator estimator,
                         const VmfGradients& gradients) {
  check("sample_vmf_backward", rows, laws,
        {laws.loc, laws.concentration, vectors, one_minus_cosine,
         vector_gradient, gradients.loc, gradients.concentration});
  if (rows == 0) return;
  const std::int64_t m = laws.dimension;
  LawOfRow<T> law_of_row(laws);
  for (std::int64_t i = 0; i < rows; ++i) {
    const Cosine& law = law_of_row(i);
    const T* loc = law_of_row.loc(i);
    const T* x = vectors + i * m;
    const T* x_bar = vector_gradient + i * m;
    const double w = 1 - one_minus_cosine[i];
    const double along = dot(m, loc, x_bar);
    const double across = sum_over(m, [=](std::int64_t j) {
      return (static_cast<double>(loc[j]) - w * static_cast<double>(x[j])) *
             static_cast<double>(x_bar[j]);
    });
    const double velocity = estimator == math::VmfEstimator::Implicit
                                ? law.velocity(w)
                                : law.velocity(estimator, w);
    gradients.concentration[i % laws.concentrations] += velocity * across;
    double* loc_bar = gradients.loc + i % laws.directions * m;
    for (std::int64_t j = 0; j < m; ++j) {
      loc_bar[j] +=
          w * static_cast<double>(x_bar[j]) - along * static_cast<double>(x[j]);
    }
  }
}

template void sample_vmf(const RandomStream&, std::int64_t, std::int64_t,
                         const VmfLaws<float>&, const VmfSamples<float>&);
template void sample_vmf(const RandomStream&, std::int64_t, std::int64_t,
                         const VmfLaws<double>&, const VmfSamples<double>&);
template void sample_vmf_backward(std::int64_t, const VmfLaws<float>&,
                                  const float*, const double*, const float*,
                                  math::VmfEstimator, const VmfGradients&);
template void sample_vmf_backward(std::int64_t, const VmfLaws<double>&,
                                  const double*, const double*, const double*,
                                  math::VmfEstimator, const VmfGradients&);

}  // namespace radir::kernels
