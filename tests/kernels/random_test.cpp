#include "radir/kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "each_isa.h"
#include "kernels/random_isa.h"
#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/table.h"

namespace radir::kernels {
namespace {

using testing::expect_error;
using testing::for_each_isa;

constexpr std::int64_t kCount = std::int64_t{1} << 20;
const double kRootCount = std::sqrt(static_cast<double>(kCount));
const RandomStream kStream = {20190621, 3, 17};

template <typename T>
using Fill = std::function<void(const RandomStream&, std::int64_t offset,
                                std::int64_t count, T* out)>;

template <typename T>
std::vector<T> sample(const Fill<T>& fill, const RandomStream& stream = kStream,
                      std::int64_t offset = 0, std::int64_t count = kCount) {
  std::vector<T> x(static_cast<std::size_t>(count));
  fill(stream, offset, count, x.data());
  return x;
}

template <typename T>
Fill<T> gamma_fill(double shape) {
  return [shape](const RandomStream& stream, std::int64_t offset,
                 std::int64_t count,
                 T* out) { fill_gamma(stream, offset, shape, count, out); };
}

template <typename T>
Fill<T> chi_square_fill(double degrees) {
  return [degrees](const RandomStream& stream, std::int64_t offset,
                   std::int64_t count, T* out) {
    fill_chi_square(stream, offset, degrees, count, out);
  };
}

/// A distribution by name, with its raw moments E[x], ... E[x^8].
struct Law {
  std::string name;
  double shape;
  std::function<double(int)> moment;
};

const Law kUniform = {"uniform", 0, [](int k) { return 1.0 / (k + 1); }};
const Law kNormal = {"normal", 0, [](int k) {
                       double product = k % 2 == 0 ? 1 : 0;
                       for (int i = k - 1; i > 1; i -= 2) product *= i;
                       return product;
                     }};
const Law kExponential = {"exponential", 0, [](int k) {
                            double product = 1;
                            for (int i = 2; i <= k; ++i) product *= i;
                            return product;
                          }};

Law gamma_law(double shape) {
  return {"gamma", shape, [shape](int k) {
            double product = 1;
            for (int i = 0; i < k; ++i) product *= shape + i;
            return product;
          }};
}

/// The first four moments are within five standard errors.
template <typename T>
void expect_moments(const std::vector<T>& x, const Law& law) {
  const auto count = static_cast<double>(x.size());
  double sum[5] = {};
  for (T v : x) {
    double power = 1;
    for (int k = 1; k <= 4; ++k) sum[k] += power *= static_cast<double>(v);
  }
  for (int k = 1; k <= 4; ++k) {
    const double moment = law.moment(k);
    const double deviation = std::sqrt(law.moment(2 * k) - moment * moment);
    EXPECT_NEAR(sum[k] / count, moment, 5 * deviation / std::sqrt(count))
        << law.name << " " << law.shape << ", moment " << k;
  }
}

/// Number of standard deviations, on the normal scale, that a chi-square
/// statistic is above its mean (E. Wilson, M. Hilferty, PNAS 17 (1931) 684).
double chi_square_score(double statistic, double degrees) {
  const double variance = 2 / (9 * degrees);
  return (std::cbrt(statistic / degrees) - (1 - variance)) /
         std::sqrt(variance);
}

// Of p = 10^-6, one-sided.
constexpr double kScoreLimit = 4.753;

/// Cells that a distribution fills with known probabilities.
struct Cells {
  std::vector<double> upper_ends;
  std::vector<double> probabilities;  // one more: the last cell has no end
};

/// The cells between the quantiles of 2^-16, ... 1/16, 2/16, ... 1 - 2^-16.
/// Quantiles too small for T are left out: what lies below them is raised to
/// the smallest normal number.
template <typename T>
Cells cells_of(const Law& law) {
  static const testing::Table table("quantiles");
  Cells cells;
  double below = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "distribution") != law.name) continue;
    if (table.number(row, "shape") != law.shape) continue;
    const double quantile = table.number(row, "quantile");
    if (quantile > 0 && quantile < std::numeric_limits<T>::min()) continue;
    const double probability = table.number(row, "probability");
    cells.upper_ends.push_back(quantile);
    cells.probabilities.push_back(probability - below);
    below = probability;
  }
  cells.probabilities.push_back(1 - below);
  return cells;
}

/// Chi-square test.
template <typename T>
void expect_fits(const std::vector<T>& x, const Law& law) {
  const auto [ends, probabilities] = cells_of<T>(law);
  ASSERT_GE(ends.size(), 17u);
  std::vector<double> counts(probabilities.size());
  for (T v : x) {
    const auto end = std::lower_bound(ends.begin(), ends.end(), v);
    ++counts[static_cast<std::size_t>(end - ends.begin())];
  }
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(x.size());
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  const auto degrees = static_cast<double>(ends.size());
  EXPECT_LT(chi_square_score(statistic, degrees), kScoreLimit)
      << law.name << " " << law.shape << ": chi-square " << statistic
      << " with " << degrees << " degrees of freedom";
}

template <typename T>
double correlation_score(const std::vector<T>& x, const std::vector<T>& y,
                         std::size_t lag = 0) {
  double sum = 0;
  for (std::size_t i = 0; i + lag < x.size(); ++i) {
    sum += static_cast<double>(x[i]) * static_cast<double>(y[i + lag]);
  }
  return std::fabs(sum) / kRootCount;
}

template <typename T>
class Random : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Random, Types);

TYPED_TEST(Random, FollowsItsDistribution) {
  using T = TypeParam;
  for_each_isa([](Isa isa) {
    const RandomFills<T>& fills = random_table_of(isa).fills<T>();
    const auto check = [](const Fill<T>& fill, const Law& law) {
      const std::vector<T> x = sample<T>(fill);
      expect_moments(x, law);
      expect_fits(x, law);
    };
    check(fills.uniform, kUniform);
    check(fills.normal, kNormal);
    check(fills.exponential, kExponential);
  });
}

TYPED_TEST(Random, GammaFollowsItsDistribution) {
  using T = TypeParam;
  for (float shape : {0.1F, 0.5F, 1.F, 2.5F, 100.F, 1e5F}) {
    const std::vector<T> x = sample<T>(gamma_fill<T>(shape));
    expect_moments(x, gamma_law(shape));
    expect_fits(x, gamma_law(shape));
  }
}

TYPED_TEST(Random, ChiSquareIsTwiceAGamma) {
  using T = TypeParam;
  const std::vector<T> gamma = sample<T>(gamma_fill<T>(2.5), kStream, 0, 1000);
  const std::vector<T> chi_square =
      sample<T>(chi_square_fill<T>(5), kStream, 0, 1000);
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    EXPECT_EQ(chi_square[i], 2 * gamma[i]);
  }
}

TYPED_TEST(Random, SmallGammaHasAFiniteLogarithm) {
  using T = TypeParam;
  const std::vector<T> x = sample<T>(gamma_fill<T>(1e-3));
  EXPECT_EQ(*std::min_element(x.begin(), x.end()),
            std::numeric_limits<T>::min());
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 20);
}

TYPED_TEST(Random, GammaElementIsTheEnginesFirstDraw) {
  using T = TypeParam;
  const std::vector<T> x = sample<T>(gamma_fill<T>(0.7), kStream, 1000, 10);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(x[i], static_cast<T>(PhiloxEngine(kStream, 1000 + i).gamma(0.7)));
  }
}

// 2^28 normals: as many beyond 4.5, 5, 5.5 and 6 standard deviations as there
// should be, within five standard errors.
TEST(RandomNormal, FloatTailsAreRight) {
  constexpr std::int64_t kChunk = 1 << 16;
  constexpr std::int64_t kChunks = 1 << 12;
  const double limits[] = {4.5, 5, 5.5, 6};
  std::int64_t beyond[4] = {};
  std::vector<float> x(kChunk);
  for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) {
    fill_normal(kStream, chunk * kChunk, kChunk, x.data());
    for (int i = 0; i < 4; ++i) {
      const auto limit = static_cast<float>(limits[i]);
      for (float v : x) beyond[i] += std::fabs(v) > limit;
    }
  }
  for (int i = 0; i < 4; ++i) {
    const double expected =
        kChunk * kChunks * std::erfc(limits[i] / std::sqrt(2.0));
    std::printf("beyond %.1f: %lld, expected %.2f\n", limits[i],
                static_cast<long long>(beyond[i]), expected);
    EXPECT_NEAR(static_cast<double>(beyond[i]), expected,
                5 * std::sqrt(expected));
  }
  EXPECT_GT(beyond[2], 0);
}

TYPED_TEST(Random, AnySliceIsASliceOfTheWhole) {
  using T = TypeParam;
  std::vector<Fill<T>> fills = {gamma_fill<T>(1.5)};
  for_each_isa([&](Isa isa) {
    const RandomFills<T>& table = random_table_of(isa).fills<T>();
    fills.insert(fills.end(), {table.uniform, table.normal, table.exponential});
  });
  for (const Fill<T>& fill : fills) {
    const std::vector<T> whole = sample<T>(fill, kStream, 0, 400);
    for (std::int64_t offset = 0; offset < 200; offset += 7) {
      for (std::int64_t count : {0, 1, 3, 16, 63, 64, 65, 128, 200}) {
        const std::vector<T> part = sample<T>(fill, kStream, offset, count);
        ASSERT_TRUE(
            std::equal(part.begin(), part.end(), whole.begin() + offset))
            << offset << " " << count;
      }
    }
  }
}

TYPED_TEST(Random, WritesNothingOutsideOfTheSlice) {
  using T = TypeParam;
  for (std::int64_t count : {0, 1, 5, 64, 100}) {
    std::vector<T> x(static_cast<std::size_t>(count) + 2, T(-7));
    fill_uniform(kStream, 3, count, x.data() + 1);
    EXPECT_EQ(x.front(), -7);
    EXPECT_EQ(x.back(), -7);
  }
}

TYPED_TEST(Random, LastElementsOfASequenceExist) {
  using T = TypeParam;
  std::vector<T> x(100, T(-1));
  fill_uniform(kStream, kMaxRandomElements - 100, 100, x.data());
  EXPECT_GT(*std::min_element(x.begin(), x.end()), 0);
}

TYPED_TEST(Random, InstructionSetsAgreeBitForBit) {
  using T = TypeParam;
  const RandomFills<T>& generic = random_table_of(Isa::Generic).fills<T>();
  for_each_isa([&](Isa isa) {
    const RandomFills<T>& fills = random_table_of(isa).fills<T>();
    const auto expect_same = [](const Fill<T>& a, const Fill<T>& b) {
      const std::vector<T> x = sample<T>(a), y = sample<T>(b);
      EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(T)), 0);
    };
    expect_same(fills.uniform, generic.uniform);
    expect_same(fills.normal, generic.normal);
    expect_same(fills.exponential, generic.exponential);
  });
}

// The layout that random.isa.cpp states, from scalar Philox blocks.
TEST(RandomUniform, DoublesFollowTheStatedLayout) {
  for_each_isa([](Isa isa) {
    const Fill<double> fill = random_table_of(isa).fills<double>().uniform;
    const std::vector<double> x = sample<double>(fill, kStream, 0, 160);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      const std::uint32_t tile = i / 32, half = i % 32 / 16, b = i % 16;
      const PhiloxBlock block =
          philox(counter_of(kStream, 16 * tile + b), key_of(kStream));
      EXPECT_EQ(x[i],
                open_unit(block.word[2 * half], block.word[2 * half + 1]));
    }
  });
}

TEST(RandomUniform, FloatsFollowTheStatedLayout) {
  for_each_isa([](Isa isa) {
    const Fill<float> fill = random_table_of(isa).fills<float>().uniform;
    const std::vector<float> x = sample<float>(fill, kStream, 0, 640);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
      const std::uint32_t tile = i / 64, word = i % 64 / 16, p = i % 16;
      const PhiloxBlock block =
          philox(counter_of(kStream, 16 * tile + p / 2 + 8 * (p % 2)),
                 key_of(kStream));
      const auto k = static_cast<float>(block.word[word] >> 1);
      EXPECT_EQ(x[i], k * 0x1p-31F + 0x1p-32F);
    }
  });
}

TYPED_TEST(Random, SequencesAreUncorrelated) {
  using T = TypeParam;
  const auto normals = [](const RandomStream& stream) {
    return sample<T>(fill_normal<T>, stream);
  };
  const std::vector<T> x = normals(kStream);
  const RandomStream others[] = {
      {kStream.seed + 1, kStream.stream, kStream.step},
      {kStream.seed + (std::uint64_t{1} << 32), kStream.stream, kStream.step},
      {kStream.seed, kStream.stream + 1, kStream.step},
      {kStream.seed, kStream.stream, kStream.step + 1},
      {kStream.seed, kStream.stream, kStream.step + (std::uint64_t{1} << 32)},
      {kStream.seed, kStream.stream, kStream.step + (std::uint64_t{1} << 47)},
  };
  for (const RandomStream& other : others) {
    const std::vector<T> y = normals(other);
    EXPECT_NE(x[0], y[0]);
    EXPECT_LT(correlation_score(x, y), 5);
    EXPECT_LT(correlation_score(x, y, 1), 5);
  }
}

TYPED_TEST(Random, NeighboursAreUncorrelated) {
  using T = TypeParam;
  const std::vector<T> x = sample<T>(fill_normal<T>);
  std::vector<T> energy;
  for (T v : x) energy.push_back((v * v - 1) / std::sqrt(T(2)));
  // 16: partners of one Box-Muller pair.
  for (std::size_t lag : {1u, 2u, 3u, 8u, 16u, 32u, 64u}) {
    EXPECT_LT(correlation_score(x, x, lag), 5) << lag;
    EXPECT_LT(correlation_score(energy, energy, lag), 5) << lag;
  }
}

TYPED_TEST(Random, BadRangesThrow) {
  using T = TypeParam;
  T out[4];
  const RandomStream late = {1, 2, std::uint64_t{1} << 48};
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const std::pair<std::string, Fill<T>> fills[] = {
      {"fill_uniform", fill_uniform<T>},
      {"fill_normal", fill_normal<T>},
      {"fill_exponential", fill_exponential<T>},
      {"fill_gamma", gamma_fill<T>(1)},
      {"fill_chi_square", chi_square_fill<T>(3)}};
  for (const auto& [name, fill] : fills) {
    const auto expect = [&, where = name, call = fill](
                            const RandomStream& stream, std::int64_t offset,
                            std::int64_t count, T* x, const char* text) {
      expect_error<ArgumentError>([&] { call(stream, offset, count, x); },
                                  where + ": " + text);
    };
    expect(kStream, 0, -1, out, "count must not be negative, but is -1");
    expect(kStream, -5, 1, out, "offset must not be negative, but is -5");
    expect(kStream, kMaxRandomElements - 1, 2, out,
           "a sequence has 2^32 elements");
    expect(kStream, kHuge, 2, out, "a sequence has 2^32 elements");
    expect(late, 0, 1, out, "step must be below 2^48");
    expect(kStream, 0, 1, nullptr, "out is null, but count is 1");
    EXPECT_NO_THROW(fill(kStream, 0, 0, nullptr));
  }
}

TYPED_TEST(Random, BadShapesThrow) {
  using T = TypeParam;
  T out[1];
  for (double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    expect_error<DomainError>(
        [&] { fill_gamma(kStream, 0, bad, 1, out); },
        "fill_gamma: shape must be positive and finite, but is");
    expect_error<DomainError>(
        [&] { fill_chi_square(kStream, 0, bad, 1, out); },
        "fill_chi_square: degrees must be positive and finite, but is");
  }
}

}  // namespace
}  // namespace radir::kernels
