#include "radir/kernels/pseudo_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "support/expect_error.h"

namespace radir::kernels {
namespace {

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 6;
constexpr std::int64_t kCount = 2;

std::vector<double> normals(std::uint32_t stream, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  fill_normal({4, stream, 0}, 0, count, values.data());
  return values;
}

template <typename T>
std::vector<T> as(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

struct Problem {
  std::vector<double> variances = normals(0, kColumns);
  std::vector<double> inputs = normals(1, kCount* kColumns);
  std::vector<double> outputs = normals(2, kCount* kRows);
  std::vector<double> draw = normals(3, kRows* kColumns);

  Problem() {
    for (double& v : variances) v = std::exp(v);
  }

  double input(std::int64_t p, std::int64_t j) const {
    return inputs[static_cast<std::size_t>(p * kColumns + j)];
  }
  double variance(std::int64_t j) const {
    return variances[static_cast<std::size_t>(j)];
  }

  /// The definition, two pseudo-data and no jitter.
  std::vector<double> conditioned() const {
    double s[2][2] = {};
    for (std::int64_t p = 0; p < 2; ++p) {
      for (std::int64_t q = 0; q < 2; ++q) {
        for (std::int64_t j = 0; j < kColumns; ++j) {
          s[p][q] += input(p, j) * variance(j) * input(q, j);
        }
      }
    }
    const double determinant = s[0][0] * s[1][1] - s[0][1] * s[1][0];
    std::vector<double> result = draw;
    for (std::int64_t i = 0; i < kRows; ++i) {
      double r[2];
      for (std::int64_t p = 0; p < 2; ++p) {
        r[p] = outputs[static_cast<std::size_t>(p * kRows + i)];
        for (std::int64_t j = 0; j < kColumns; ++j) {
          r[p] -=
              input(p, j) * draw[static_cast<std::size_t>(i * kColumns + j)];
        }
      }
      const double z[2] = {(s[1][1] * r[0] - s[0][1] * r[1]) / determinant,
                           (s[0][0] * r[1] - s[1][0] * r[0]) / determinant};
      for (std::int64_t j = 0; j < kColumns; ++j) {
        result[static_cast<std::size_t>(i * kColumns + j)] +=
            variance(j) * (z[0] * input(0, j) + z[1] * input(1, j));
      }
    }
    return result;
  }
};

template <typename T>
class PseudoDataOf : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(PseudoDataOf, Types);

TYPED_TEST(PseudoDataOf, ConditionsByTheDefinition) {
  const Problem problem;
  PseudoData<TypeParam> pseudo(kRows, kColumns, kCount);
  pseudo.factor(as<TypeParam>(problem.variances).data(),
                as<TypeParam>(problem.inputs).data());
  auto draw = as<TypeParam>(problem.draw);
  pseudo.condition(as<TypeParam>(problem.outputs).data(), draw.data());
  const std::vector<double> wanted = problem.conditioned();
  for (std::size_t i = 0; i < draw.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(draw[i]), wanted[i], 1e-5);  // the jitter
  }
}

TEST(PseudoData, HasTheGradientOfItsSteps) {
  Problem problem;
  const std::vector<double> by_weight = normals(4, kRows * kColumns);
  PseudoData<double> pseudo(kRows, kColumns, kCount);
  const auto loss = [&] {
    pseudo.factor(problem.variances.data(), problem.inputs.data());
    std::vector<double> draw = problem.draw;
    pseudo.condition(problem.outputs.data(), draw.data());
    double sum = 0;
    for (std::size_t i = 0; i < draw.size(); ++i) sum += by_weight[i] * draw[i];
    return sum;
  };
  loss();
  std::vector<double> by_draw(problem.draw.size());
  std::vector<double> by_variances(problem.variances.size());
  std::vector<double> by_inputs(problem.inputs.size());
  std::vector<double> by_outputs(problem.outputs.size());
  pseudo.backward(by_weight.data(), {by_draw.data(), by_variances.data(),
                                     by_inputs.data(), by_outputs.data()});
  for (auto& [values, gradient] : {std::pair(&problem.draw, &by_draw),
                                   std::pair(&problem.variances, &by_variances),
                                   std::pair(&problem.inputs, &by_inputs),
                                   std::pair(&problem.outputs, &by_outputs)}) {
    for (std::size_t i = 0; i < values->size(); ++i) {
      const double x = (*values)[i];
      (*values)[i] = x + 1e-6;
      const double above = loss();
      (*values)[i] = x - 1e-6;
      EXPECT_NEAR((*gradient)[i], (above - loss()) / 2e-6, 1e-7);
      (*values)[i] = x;
    }
  }
}

TEST(PseudoData, RejectsDependentOnes) {
  Problem problem;
  PseudoData<double> pseudo(kRows, kColumns, kCount);
  problem.inputs[7] = NAN;
  ::radir::testing::expect_error<NumericalError>(
      [&] { pseudo.factor(problem.variances.data(), problem.inputs.data()); },
      "pseudo-data: number");
}

}  // namespace
}  // namespace radir::kernels
