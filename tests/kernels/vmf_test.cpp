#include "radir/kernels/vmf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/table.h"
#include "support/vmf_cosine.h"

namespace radir::kernels {
namespace {

using testing::expect_error;
using testing::Table;
using testing::VmfCosineLaw;

constexpr RandomStream kStream{20190517, 3, 1};

/// One distribution and the samples drawn from it.
template <typename T>
struct Sampled {
  Sampled(std::int64_t m, std::int64_t rows, std::vector<T> loc_, T kappa_,
          const RandomStream& stream = kStream)
      : loc(std::move(loc_)),
        kappa(kappa_),
        vectors(static_cast<std::size_t>(m * rows)),
        gaps(static_cast<std::size_t>(rows)),
        proposals(static_cast<std::size_t>(rows)) {
    sample_vmf<T>(stream, 0, rows, {m, 1, loc.data(), 1, &kappa},
                  {vectors.data(), gaps.data(), proposals.data()});
  }
  std::vector<T> loc;
  T kappa;
  std::vector<T> vectors;
  std::vector<double> gaps;
  std::vector<std::int32_t> proposals;
};

template <typename T>
std::vector<T> some_direction(std::int64_t m) {
  std::vector<T> loc(static_cast<std::size_t>(m));
  double square = 0;
  for (std::size_t i = 0; i < loc.size(); ++i) {
    const double x = std::sin(1.0 + static_cast<double>(i));
    loc[i] = static_cast<T>(x);
    square += x * x;
  }
  for (T& x : loc) x = static_cast<T>(x / std::sqrt(square));
  return loc;
}

/// Fails unless the values are uniform on (0, 1) by Kolmogorov and Smirnov's
/// test, p > 1e-6.
void expect_uniform(std::vector<double> values, const std::string& what) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rank = static_cast<double>(i);
    distance =
        std::max({distance, values[i] - rank / n, (rank + 1) / n - values[i]});
  }
  EXPECT_LT(distance * std::sqrt(n), 2.7) << what;
}

/// Fewer rows for longer vectors, so that all dimensions take the same time.
std::int64_t rows_for(double m) {
  return static_cast<std::int64_t>(std::clamp(2e6 / m, 250.0, 20000.0));
}

class VmfSampler
    : public ::testing::TestWithParam<std::tuple<std::int64_t, double>> {};

TEST_P(VmfSampler, CosinesFollowTheirLaw) {
  const auto [m, kappa_over_m] = GetParam();
  const double kappa = kappa_over_m * static_cast<double>(m);
  const Sampled<double> drawn(m, rows_for(static_cast<double>(m)),
                              some_direction<double>(m), kappa);
  const VmfCosineLaw law(static_cast<double>(m), kappa);
  std::vector<double> probabilities;
  for (const double gap : drawn.gaps) {
    ASSERT_TRUE(gap > 0 && gap < 2) << gap;
    probabilities.push_back(law.probability(gap));
  }
  expect_uniform(probabilities, "cosine");
}

INSTANTIATE_TEST_SUITE_P(
    Grid, VmfSampler,
    ::testing::Combine(::testing::Values(2, 3, 10, 100, 1000, 100000),
                       ::testing::Values(0.01, 0.1, 1, 10, 1000)));

TEST(VmfSampler, IsUniformAtZeroConcentration) {
  for (const std::int64_t m : {2, 3, 7, 100}) {
    const Sampled<double> drawn(m, 20000, some_direction<double>(m), 0);
    const VmfCosineLaw law(static_cast<double>(m), 0);
    std::vector<double> along_mean, along_first;
    for (std::size_t i = 0; i < drawn.gaps.size(); ++i) {
      along_mean.push_back(law.probability(drawn.gaps[i]));
      along_first.push_back(
          law.probability(1 - drawn.vectors[i * static_cast<std::size_t>(m)]));
    }
    expect_uniform(along_mean, "along the mean direction");
    expect_uniform(along_first, "along the first axis");
    EXPECT_EQ(*std::max_element(drawn.proposals.begin(), drawn.proposals.end()),
              1);
  }
}

/// Vectors have unit length and the cosine that was reported, for mean
/// directions along an axis too, where reflections would degenerate.
template <typename T>
void expect_consistent_vectors(double tolerance) {
  for (const std::int64_t m : {2, 3, 4, 50, 784}) {
    const auto count = static_cast<std::size_t>(m);
    std::vector<T> e1(count, 0), minus_e1(count, 0);
    e1[0] = 1;
    minus_e1[0] = -1;
    for (const std::vector<T>& loc : {e1, minus_e1, some_direction<T>(m)}) {
      for (const double kappa : {0.0, 0.5, 30.0, 1e5}) {
        const Sampled<T> drawn(m, 500, loc, static_cast<T>(kappa));
        for (std::size_t row = 0; row < 500; ++row) {
          const T* x = &drawn.vectors[row * count];
          double square = 0, distance_square = 0;
          for (std::size_t i = 0; i < count; ++i) {
            const double d = static_cast<double>(x[i] - loc[i]);
            square += static_cast<double>(x[i]) * static_cast<double>(x[i]);
            distance_square += d * d;
          }
          ASSERT_NEAR(square, 1, tolerance) << m << " " << kappa;
          ASSERT_NEAR(distance_square / 2, drawn.gaps[row], tolerance);
        }
      }
    }
  }
}

TEST(VmfSampler, VectorsHaveUnitLengthAndTheirCosineInDouble) {
  expect_consistent_vectors<double>(4e-15);
}

TEST(VmfSampler, VectorsHaveUnitLengthAndTheirCosineInFloat) {
  expect_consistent_vectors<float>(2e-6);
}

// The part of a sample orthogonal to the mean direction is uniform: in the
// plane it takes either side, elsewhere its cosine to any fixed direction
// follows the uniform distribution of one dimension less.
TEST(VmfSampler, TangentPartIsUniform) {
  const VmfCosineLaw nine_dimensions(9, 0);
  for (const std::int64_t m : {2, 3, 10}) {
    const auto count = static_cast<std::size_t>(m);
    std::vector<double> loc(count, 0);
    loc[0] = -1;
    const Sampled<double> drawn(m, 20000, loc, 5);
    std::vector<double> probabilities;
    double sum = 0;
    for (std::size_t row = 0; row < drawn.gaps.size(); ++row) {
      const double gap = drawn.gaps[row];
      const double tangent_cosine =
          drawn.vectors[row * count + 1] / std::sqrt(gap * (2 - gap));
      sum += tangent_cosine;
      if (m == 3) probabilities.push_back(std::acos(tangent_cosine) / M_PI);
      if (m == 10) {
        probabilities.push_back(
            nine_dimensions.probability(1 - tangent_cosine));
      }
    }
    const double limit =
        5 / std::sqrt(static_cast<double>(drawn.gaps.size() * (count - 1)));
    EXPECT_LT(std::fabs(sum / static_cast<double>(drawn.gaps.size())), limit);
    if (m > 2) expect_uniform(probabilities, "tangent");
  }
}

TEST(VmfSampler, AcceptsAtTheExactRate) {
  const Table table("vmf_acceptance");
  int compared = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const double m = table.number(row, "m");
    const double kappa = table.number(row, "kappa");
    const double rate = table.number(row, "accept_rate");
    const std::int64_t rows =
        static_cast<std::int64_t>(std::clamp(3e6 / m, 20.0, 10000.0));
    const auto length = static_cast<std::int64_t>(m);
    const Sampled<double> drawn(length, rows, some_direction<double>(length),
                                kappa);
    double proposals = 0;
    for (const std::int32_t count : drawn.proposals) proposals += count;
    const double mean = proposals / static_cast<double>(rows);
    if (length == 3) {
      EXPECT_EQ(mean, 1) << "dimension 3 needs no rejection";
      continue;
    }
    // The number of proposals is geometric: mean 1/a, variance (1-a)/a^2.
    const double standard_error =
        std::sqrt((1 - rate) / static_cast<double>(rows)) / rate;
    EXPECT_NEAR(mean, 1 / rate, 5 * standard_error + 1e-12)
        << table.describe(row);
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(VmfSampler, FirstProposalsComeFromTheVectorItself) {
  // At a tiny concentration the first proposal is nearly always taken and
  // nearly equal to that of the uniform distribution, t = loc.g/|g|.
  const auto loc = some_direction<double>(6);
  const Sampled<double> uniform(6, 50, loc, 0), nearly(6, 50, loc, 1e-9);
  for (std::size_t i = 0; i < uniform.gaps.size(); ++i) {
    EXPECT_NEAR(uniform.gaps[i], nearly.gaps[i], 1e-8);
  }
}

// Any cut of the work gives the same bits, and the distributions repeat in
// turn.
TEST(VmfSampler, SlicesEqualTheWhole) {
  const std::int64_t m = 11, rows = 60;
  std::vector<float> loc = some_direction<float>(m);
  const std::vector<float> opposite = [&] {
    std::vector<float> x = loc;
    for (float& v : x) v = -v;
    return x;
  }();
  loc.insert(loc.end(), opposite.begin(), opposite.end());
  const std::vector<float> kappa = {3, 200};
  const VmfLaws<float> laws{m, 2, loc.data(), 2, kappa.data()};
  std::vector<float> whole(static_cast<std::size_t>(m * rows));
  std::vector<double> gaps(static_cast<std::size_t>(rows));
  sample_vmf<float>(kStream, 0, rows, laws,
                    {whole.data(), gaps.data(), nullptr});
  for (const std::int64_t cut : {1, 7, 30, 59}) {
    std::vector<float> parts(whole.size());
    std::vector<double> part_gaps(gaps.size());
    sample_vmf<float>(kStream, 0, cut, laws,
                      {parts.data(), part_gaps.data(), nullptr});
    sample_vmf<float>(
        kStream, cut, rows - cut, laws,
        {parts.data() + cut * m, part_gaps.data() + cut, nullptr});
    EXPECT_EQ(parts, whole) << cut;
    EXPECT_EQ(part_gaps, gaps) << cut;
  }
  double near = 0, far = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) (i % 2 ? near : far) += gaps[i];
  EXPECT_LT(near, far / 5);
}

TEST(VmfSampler, DiffersBetweenStreamsAndSteps) {
  const auto loc = some_direction<double>(5);
  const Sampled<double> a(5, 10, loc, 2, {1, 0, 0}),
      b(5, 10, loc, 2, {1, 0, 1}), c(5, 10, loc, 2, {1, 1, 0}),
      same(5, 10, loc, 2, {1, 0, 0});
  EXPECT_EQ(a.vectors, same.vectors);
  EXPECT_NE(a.vectors, b.vectors);
  EXPECT_NE(a.vectors, c.vectors);
}

TEST(VmfBackward, FollowsTheRotationOfTheMeanDirection) {
  // Rotating the mean direction by a small angle rotates every sample along:
  // f = a.x changes by the rotation, whose derivative is the gradient.
  const std::int64_t m = 4, rows = 30;
  const auto loc = some_direction<double>(m);
  const Sampled<double> drawn(m, rows, loc, 6);
  std::vector<double> tangent = {0.3, -0.2, 0.5, 0.1};
  double along = 0;
  for (std::size_t i = 0; i < 4; ++i) along += tangent[i] * loc[i];
  for (std::size_t i = 0; i < 4; ++i) tangent[i] -= along * loc[i];
  const std::vector<double> a = {0.7, 0.1, -0.4, 0.9};
  std::vector<double> xbar, loc_gradient(4, 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    xbar.insert(xbar.end(), a.begin(), a.end());
  }
  double kappa_gradient = 0;
  sample_vmf_backward<double>(rows, {m, 1, loc.data(), 1, &drawn.kappa},
                              drawn.vectors.data(), drawn.gaps.data(),
                              xbar.data(), math::VmfEstimator::Implicit,
                              {loc_gradient.data(), &kappa_gradient});
  // d/de of R x for the rotation generated by (tangent loc^T - loc tangent^T).
  double want = 0, got = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const double* x = &drawn.vectors[4 * r];
    double x_loc = 0, x_tangent = 0, a_loc = 0, a_tangent = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      x_loc += x[i] * loc[i];
      x_tangent += x[i] * tangent[i];
      a_loc += a[i] * loc[i];
      a_tangent += a[i] * tangent[i];
    }
    want += a_tangent * x_loc - a_loc * x_tangent;
  }
  for (std::size_t i = 0; i < 4; ++i) got += loc_gradient[i] * tangent[i];
  EXPECT_NEAR(got, want, 1e-12);
}

TEST(VmfSampler, RefusesBadArguments) {
  const std::vector<double> loc = {1, 0};
  const double kappa = 1;
  double x[2], gap;
  const VmfLaws<double> good{2, 1, loc.data(), 1, &kappa};
  const VmfSamples<double> out{x, &gap, nullptr};
  const auto sample = [&](VmfLaws<double> laws, std::int64_t offset,
                          std::int64_t rows) {
    sample_vmf<double>(kStream, offset, rows, laws, out);
  };
  VmfLaws<double> bad = good;
  bad.dimension = 1;
  expect_error<ArgumentError>([&] { sample(bad, 0, 1); },
                              "dimension must be >= 2, but is 1");
  bad = good;
  bad.directions = 0;
  expect_error<ArgumentError>([&] { sample(bad, 0, 1); },
                              "directions must be >= 1, but is 0");
  bad = good;
  bad.concentrations = 2;
  expect_error<ArgumentError>([&] { sample(bad, 0, 1); },
                              "concentrations must be 1 or the number of "
                              "directions, 1, but is 2");
  bad = good;
  bad.loc = nullptr;
  expect_error<ArgumentError>([&] { sample(bad, 0, 1); }, "an array is null");
  expect_error<ArgumentError>([&] { sample(good, 0, -1); },
                              "rows must not be negative");
  expect_error<ArgumentError>([&] { sample(good, -1, 1); },
                              "offset must not be negative");
  expect_error<ArgumentError>([&] { sample(good, std::int64_t{1} << 32, 1); },
                              "exceeds");
  expect_error<ArgumentError>(
      [&] {
        sample_vmf<double>(kStream, 0, 1, good, {x, nullptr, nullptr});
      },
      "an array is null");
  const double negative = -0.5;
  bad = good;
  bad.concentration = &negative;
  expect_error<DomainError>([&] { sample(bad, 0, 1); },
                            "concentration must be finite and >= 0, but is "
                            "-0.5");
  expect_error<ArgumentError>(
      [&] {
        sample_vmf_backward<double>(1, good, x, &gap, x,
                                    math::VmfEstimator::Implicit, {});
      },
      "an array is null");
}

}  // namespace
}  // namespace radir::kernels
