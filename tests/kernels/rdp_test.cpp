#include "radir/kernels/rdp.h"

#include <gtest/gtest.h>

#include "kernels/rdp_problem.h"
#include "kernels/rdp_twin.h"
#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::kernels {
namespace {

using radir::testing::expect_error;

using testing::LayerTwin;
using testing::layout_cases;
using testing::LayoutCase;
using testing::Problem;
using testing::Storage;

const RandomStream kStream{42, 7, 3};

std::vector<double> normals(std::int64_t count, unsigned seed) {
  std::vector<double> v(static_cast<std::size_t>(count));
  fill_normal(RandomStream{seed, 0, 0}, 0, count, v.data());
  return v;
}

/// Largest difference relative to the largest value.
template <typename T>
double relative_difference(const std::vector<T>& got,
                           const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double d = std::fabs(static_cast<double>(got[i]) - want[i]);
    if (!(d <= difference)) difference = d;  // keeps NaN
    scale = std::max(scale, std::fabs(want[i]));
  }
  return scale > 0 ? difference / scale : difference;
}

/// Compares all gradients. A number that sums over the groups is judged by what
/// it sums: such sums may cancel.
template <typename T>
void expect_close(Storage<T>& got, Storage<double>& want, double tolerance) {
  std::vector<std::vector<T>> values;
  got.for_each(
      [&](const std::string&, std::vector<T>& v) { values.push_back(v); });
  std::size_t i = 0;
  double largest = 0;
  want.for_each([&](const std::string& name, std::vector<double>& v) {
    const std::vector<T>& g = values[i++];
    if (v.size() == 1) {
      EXPECT_NEAR(static_cast<double>(g[0]), v[0],
                  tolerance * std::max(largest, std::fabs(v[0])))
          << name;
    } else {
      EXPECT_LE(relative_difference(g, v), tolerance) << name;
    }
    for (double x : v) largest = std::max(largest, std::fabs(x));
  });
}

template <typename T>
std::vector<T> sample(RdpKernel<T>& kernel, Problem<T>& problem,
                      const RandomStream& stream = kStream,
                      ThreadPool* pool = nullptr) {
  std::vector<T> weight(static_cast<std::size_t>(problem.layout.shape.size()));
  kernel.sample(problem.parameters(), stream, weight.data(), pool);
  return weight;
}

TEST(RdpKernel, SampleEqualsThePlainConstruction) {
  for (const LayoutCase& c : layout_cases()) {
    for (double log_concentration : {-2.0, 1.5, 4.0, 8.0}) {
      SCOPED_TRACE(c.name + ", log concentration " +
                   std::to_string(log_concentration));
      Problem<double> problem(c.layout, log_concentration);
      RdpKernel<double> kernel(c.layout);
      const LayerTwin<double> twin(problem, kStream);
      EXPECT_LE(relative_difference(sample(kernel, problem), twin.weight),
                1e-10);
    }
  }
}

TEST(RdpKernel, BackwardEqualsThePlainConstruction) {
  for (const LayoutCase& c : layout_cases()) {
    for (double log_concentration : {-2.0, 1.5, 4.0, 8.0}) {
      for (math::VmfEstimator estimator :
           {math::VmfEstimator::Implicit, math::VmfEstimator::Rejection,
            math::VmfEstimator::ClosedForm0, math::VmfEstimator::ClosedForm1}) {
        SCOPED_TRACE(c.name + ", log concentration " +
                     std::to_string(log_concentration));
        Problem<double> problem(c.layout, log_concentration);
        RdpKernel<double> kernel(c.layout);
        const RdpBackwardOptions options{estimator, 0.7};
        const std::vector<double> slope = normals(c.layout.shape.size(), 5);
        const std::vector<double> weight = sample(kernel, problem);
        Storage<double> got(c.layout), want(c.layout);
        kernel.backward(problem.parameters(), weight.data(), slope.data(),
                        got.gradients(), options);
        LayerTwin<double>(problem, kStream).backward(slope, options, want);
        expect_close(got, want, 1e-10);
      }
    }
  }
}

TEST(RdpKernel, FloatEqualsThePlainConstruction) {
  for (const LayoutCase& c : layout_cases()) {
    for (double log_concentration : {-2.0, 1.5, 8.0}) {
      SCOPED_TRACE(c.name + ", log concentration " +
                   std::to_string(log_concentration));
      Problem<float> problem(c.layout, log_concentration);
      Problem<double> exact(c.layout);
      std::vector<std::vector<float>> rounded;
      problem.storage.for_each([&](const std::string&, std::vector<float>& v) {
        rounded.push_back(v);
      });
      std::size_t next = 0;
      exact.storage.for_each([&](const std::string&, std::vector<double>& v) {
        v.assign(rounded[next].begin(), rounded[next].end());
        ++next;
      });
      const LayerTwin<float> twin(exact, kStream);
      RdpKernel<float> kernel(c.layout);
      const std::vector<float> weight = sample(kernel, problem);
      EXPECT_LE(relative_difference(weight, twin.weight), 1e-5);

      const std::vector<double> slope = normals(c.layout.shape.size(), 5);
      const std::vector<float> float_slope(slope.begin(), slope.end());
      Storage<float> got(c.layout);
      Storage<double> want(c.layout);
      kernel.backward(problem.parameters(), weight.data(), float_slope.data(),
                      got.gradients());
      twin.backward({float_slope.begin(), float_slope.end()}, {}, want);
      expect_close(got, want, 1e-4);
    }
  }
}

TEST(RdpKernel, RadiusGradientsAreDerivativesOfTheDraw) {
  for (const LayoutCase& c : layout_cases()) {
    SCOPED_TRACE(c.name);
    Problem<double> problem(c.layout);
    RdpKernel<double> kernel(c.layout);
    const std::vector<double> slope = normals(c.layout.shape.size(), 5);
    const auto loss = [&] {
      const std::vector<double> weight = sample(kernel, problem);
      double sum = 0;
      for (std::size_t e = 0; e < weight.size(); ++e) {
        sum += slope[e] * weight[e];
      }
      return sum;
    };
    const std::vector<double> weight = sample(kernel, problem);
    Storage<double> gradients(c.layout);
    kernel.backward(problem.parameters(), weight.data(), slope.data(),
                    gradients.gradients());
    std::vector<std::vector<double>> got;
    gradients.for_each(
        [&](const std::string&, std::vector<double>& v) { got.push_back(v); });
    std::size_t array = 0;
    problem.storage.for_each([&](const std::string& name,
                                 std::vector<double>& v) {
      const std::vector<double>& g = got[array++];
      const bool is_radius = name.find("loc_") != std::string::npos ||
                             name.find("log_var") != std::string::npos;
      if (!is_radius || v.empty()) return;
      for (std::size_t i = 0; i < v.size(); i += 1 + v.size() / 3) {
        const double at = v[i], h = 1e-5;
        v[i] = at + h;
        const double up = loss();
        v[i] = at - h;
        const double down = loss();
        v[i] = at;
        EXPECT_NEAR(g[i], (up - down) / (2 * h), 1e-6 * (1 + std::fabs(g[i])))
            << name << "[" << i << "]";
      }
    });
  }
}

TEST(RdpKernel, GradientsAreAdded) {
  const RdpLayout layout{{1, 6, 4, 9}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  RdpKernel<double> kernel(layout);
  const std::vector<double> slope = normals(layout.shape.size(), 5);
  const std::vector<double> weight = sample(kernel, problem);
  Storage<double> once(layout), twice(layout);
  const auto add_to = [&](Storage<double>& to) {
    kernel.backward(problem.parameters(), weight.data(), slope.data(),
                    to.gradients());
  };
  add_to(once);
  add_to(twice);
  add_to(twice);
  once.for_each([](const std::string&, std::vector<double>& v) {
    for (double& x : v) x *= 2;
  });
  expect_close(twice, once, 1e-14);
}

/// Every bit of a draw and of its gradients.
template <typename T>
std::vector<T> draw_and_gradients(const RdpLayout& layout, ThreadPool* pool) {
  Problem<T> problem(layout, 3.0);
  RdpKernel<T> kernel(layout);
  std::vector<T> all = sample(kernel, problem, kStream, pool);
  const std::vector<double> normal = normals(layout.shape.size(), 5);
  const std::vector<T> slope(normal.begin(), normal.end());
  Storage<T> gradients(layout);
  kernel.backward(problem.parameters(), all.data(), slope.data(),
                  gradients.gradients(), {}, pool);
  gradients.for_each([&](const std::string&, std::vector<T>& v) {
    all.insert(all.end(), v.begin(), v.end());
  });
  return all;
}

TEST(RdpKernel, IsTheSameBitsForAnyNumberOfThreads) {
  const RdpSideLayout side;
  const RdpLayout layouts[] = {{{1, 300, 333, 1}, side, side},
                               {{2, 130, 150, 9}, side, side},
                               {{4000, 1, 3, 9}, side, side},
                               {{3, 700, 40, 1}, side, {}},
                               {{1, 1500, 70, 1}, {}, side}};
  for (const RdpLayout& layout : layouts) {
    SCOPED_TRACE(layout.shape.out);
    const auto alone = draw_and_gradients<float>(layout, nullptr);
    const auto exact = draw_and_gradients<double>(layout, nullptr);
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      EXPECT_EQ(draw_and_gradients<float>(layout, &pool), alone);
      EXPECT_EQ(draw_and_gradients<double>(layout, &pool), exact);
    }
  }
}

TEST(RdpKernel, LargeWeightsEqualThePlainConstruction) {
  const RdpSideLayout side;
  for (const network::WeightShape& shape :
       {network::WeightShape{1, 300, 333, 1},
        network::WeightShape{2, 130, 150, 9},
        network::WeightShape{4000, 1, 3, 9}}) {
    const RdpLayout layout{shape, side, side};
    Problem<double> problem(layout);
    RdpKernel<double> kernel(layout);
    const std::vector<double> weight = sample(kernel, problem);
    const LayerTwin<double> twin(problem, kStream);
    EXPECT_LE(relative_difference(weight, twin.weight), 1e-10);
    const std::vector<double> slope = normals(shape.size(), 5);
    Storage<double> got(layout), want(layout);
    kernel.backward(problem.parameters(), weight.data(), slope.data(),
                    got.gradients());
    twin.backward(slope, {}, want);
    expect_close(got, want, 1e-10);
  }
}

TEST(RdpKernel, StreamsAndStepsDrawDifferentWeights) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  RdpKernel<double> kernel(layout);
  const std::vector<double> first = sample(kernel, problem, {1, 0, 0});
  EXPECT_EQ(sample(kernel, problem, {1, 0, 0}), first);
  const RandomStream others[] = {{2, 0, 0}, {1, kRdpStreams, 0}, {1, 0, 1}};
  for (const RandomStream& other : others) {
    const std::vector<double> weight = sample(kernel, problem, other);
    for (std::size_t e = 0; e < weight.size(); ++e) {
      EXPECT_NE(weight[e], first[e]);
    }
  }
}

TEST(RdpKernel, RefusesImpossibleLayouts) {
  const RdpSideLayout side;
  const auto make = [&](const network::WeightShape& shape, bool row,
                        bool column) {
    return [=] {
      RdpLayout layout{shape, {}, {}};
      if (row) layout.row = side;
      if (column) layout.column = side;
      RdpKernel<float> kernel(layout);
    };
  };
  expect_error<ArgumentError>(make({1, 0, 4, 1}, true, true),
                              "must be positive");
  expect_error<ArgumentError>(make({1, 1 << 16, 1 << 16, 1}, true, true),
                              "2^32");
  expect_error<ArgumentError>(make({1, 3, 4, 1}, false, false), "has none");
  expect_error<ArgumentError>(make({1, 3, 1, 1}, true, false),
                              "each row has a single element");
  expect_error<ArgumentError>(make({1, 1, 4, 1}, true, true),
                              "each column has a single element");
  make({1, 1, 4, 1}, true, false)();
}

TEST(RdpKernel, NamesMissingArrays) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<float> problem(layout);
  RdpKernel<float> kernel(layout);
  Storage<float> gradients(layout);
  std::vector<float> weight(15), slope(15);
  RdpSides<const float> incomplete = problem.parameters();
  incomplete.column.local.log_var_b = nullptr;
  expect_error<ArgumentError>(
      [&] { kernel.sample(incomplete, kStream, weight.data()); },
      "the column side's parameters must all be given, but \"local\"");
  expect_error<ArgumentError>(
      [&] { kernel.sample(problem.parameters(), kStream, nullptr); },
      "weight is null");
  expect_error<ArgumentError>(
      [&] {
        kernel.backward(problem.parameters(), weight.data(), slope.data(),
                        gradients.gradients());
      },
      "nothing was drawn");
  kernel.sample(problem.parameters(), kStream, weight.data());
  expect_error<ArgumentError>(
      [&] {
        kernel.backward(problem.parameters(), weight.data(), nullptr,
                        gradients.gradients());
      },
      "its gradient is null");
  RdpSides<float> missing = gradients.gradients();
  missing.row.global.loc_a = nullptr;
  expect_error<ArgumentError>(
      [&] {
        kernel.backward(problem.parameters(), weight.data(), slope.data(),
                        missing);
      },
      "the row side's gradients must all be given, but \"global\"");
}

TEST(RdpKernel, NamesTheGroupThatCannotBeDrawn) {
  const RdpLayout layout{
      {1, 40, 5, 1}, RdpSideLayout{false, true}, RdpSideLayout{}};
  const auto draw = [&](const auto& spoil) {
    return [&] {
      Problem<float> problem(layout);
      spoil(problem.storage);
      RdpKernel<float> kernel(layout);
      sample(kernel, problem);
    };
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using S = Storage<float>;
  expect_error<NumericalError>(
      draw([](S& s) { std::fill_n(s.row.direction.begin() + 35, 5, 0.F); }),
      "row 7 cannot be drawn: |direction|^2 is 0");
  expect_error<NumericalError>(
      draw([&](S& s) { s.row.log_concentration[39] = nan; }),
      "row 39 cannot be drawn");
  expect_error<NumericalError>(draw([&](S& s) { s.column.local[0][3] = 1000; }),
                               "column 3 cannot be drawn");
}

}  // namespace
}  // namespace radir::kernels
