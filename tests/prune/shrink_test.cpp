#include "radir/prune/shrink.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "radir/kernels/random.h"
#include "radir/network/wiring.h"
#include "radir/train/compiled_step.h"
#include "radir/train/point_network.h"
#include "radir/train/predictor.h"
#include "radir/train/step.h"
#include "support/expect_error.h"

namespace radir::prune {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;
using network::Select;

struct Case {
  const char* name;
  network::NetworkSpec network;
};

std::vector<Case> cases() {
  const MaxPool2d halve{{2, 2}, {2, 2}};
  Conv2d padded{6, {3, 3}};
  padded.padding = {1, 1};
  Conv2d grouped{6, {3, 3}};
  grouped.groups = 2;
  return {
      {"dense", {{9}, {Dense{12}, Relu{}, Dense{7}, Relu{}, Dense{3}}}},
      {"no biases", {{9}, {Dense{12, false}, Dense{7, false}, Dense{3}}}},
      {"LeNet-5 of half size",
       {{1, 16, 16},
        {Conv2d{6, {5, 5}}, halve, Conv2d{8, {3, 3}}, halve, Flatten{},
         Dense{20}, Relu{}, Dense{4}}}},
      {"ReLU after convolutions, padding",
       {{2, 8, 8},
        {Conv2d{5, {3, 3}}, Relu{}, padded, Relu{}, halve, Flatten{}, Dense{9},
         Relu{}, Dense{3}}}},
      {"grouped",
       {{2, 9, 9},
        {Conv2d{4, {2, 2}}, grouped, Conv2d{5, {2, 2}}, Flatten{}, Dense{6},
         Dense{3}}}},
      {"pruned before",
       {{3, 4, 4},
        {Conv2d{4, {2, 2}}, Flatten{}, Select{{0, 3, 4, 11, 20, 21, 35}},
         Relu{}, Dense{6}, Select{{1, 2, 3, 5}}, Dense{3}}}},
  };
}

/// A model with all parameters away from their starting values.
template <typename T>
struct Fixture {
  explicit Fixture(const network::NetworkSpec& network) : model(spec(network)) {
    const auto state = train::initial_state<T>(model, 5, 100);
    parameters = state.parameters;
    std::vector<T> noise(parameters.size());
    kernels::fill_normal({9, 0, 0}, 0, static_cast<std::int64_t>(noise.size()),
                         noise.data());
    for (std::size_t i = 0; i < noise.size(); ++i) {
      parameters[i] += T(0.2) * noise[i];
    }
    rows.resize(static_cast<std::size_t>(kRows * model.input_size()));
    kernels::fill_normal({9, 1, 0}, 0, static_cast<std::int64_t>(rows.size()),
                         rows.data());
  }

  static train::ModelSpec spec(const network::NetworkSpec& network) {
    train::ModelSpec result;
    result.network = network;
    result.likelihood.kind = likelihood::Kind::Categorical;
    return result;
  }

  /// Keeps about half of what can be removed.
  Selection half() const {
    const network::Wiring wiring(model.spec().network);
    Selection selection = all_units(wiring);
    for (std::size_t l = 0; l < wiring.size(); ++l) {
      if (!wiring.removable(l)) continue;
      auto& kept = selection.inputs[l];
      std::vector<std::int64_t> some;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        // Whole makers go, and single features of others.
        const auto maker = wiring.makers(l)[i];
        if (maker % 3 != 1 && (i * 7 + 3) % 5 != 0) some.push_back(kept[i]);
      }
      kept = some;
    }
    return selection;
  }

  static constexpr std::int64_t kRows = 40;
  train::Model model;
  std::vector<T> parameters;
  std::vector<T> rows;
};

template <typename T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i] - b[i])));
    size = std::max(size, std::abs(static_cast<double>(a[i])));
  }
  return largest / size;
}

template <typename T>
class Shrink : public ::testing::Test {
 public:
  /// Of masked against shrunk outputs, relative to the largest output.
  static constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Shrink, Precisions);

TYPED_TEST(Shrink, EqualsTheMaskedNetwork) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Fixture<TypeParam> fixture(c.network);
    const Selection selection = fixture.half();
    const auto plain = train::point_network(fixture.model, fixture.parameters);
    const auto masked = mask(plain, selection);
    const auto shrunk = shrink(plain, selection);
    const auto outputs = [&](const network::PlainNetwork<TypeParam>& network) {
      return kernels::run_network(network, fixture.rows.data(), fixture.kRows);
    };
    EXPECT_LT(largest_difference(outputs(masked), outputs(shrunk)),
              TestFixture::kTolerance);
    // Something was removed, and it mattered.
    EXPECT_GT(largest_difference(outputs(plain), outputs(shrunk)), 1e-3);
    EXPECT_LT(shrunk.layers.back().weight.size(),
              plain.layers.back().weight.size());
  }
}

TYPED_TEST(Shrink, BayesianNetworkHasTheSameMeans) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Fixture<TypeParam> fixture(c.network);
    const Selection selection = fixture.half();
    const auto shrunk = shrink(fixture.model, fixture.parameters, selection);
    const train::Model model(shrunk.spec);
    const auto means = train::point_network(model, shrunk.parameters);
    const auto expected = shrink(
        train::point_network(fixture.model, fixture.parameters), selection);
    ASSERT_EQ(means.layers.size(), expected.layers.size());
    for (std::size_t l = 0; l < means.layers.size(); ++l) {
      EXPECT_LT(
          largest_difference(means.layers[l].weight, expected.layers[l].weight),
          TestFixture::kTolerance);
      if (expected.layers[l].bias.empty()) continue;
      EXPECT_LT(
          largest_difference(means.layers[l].bias, expected.layers[l].bias),
          TestFixture::kTolerance);
    }
    // And it still draws weights.
    train::Predictor<TypeParam> predictor(model, shrunk.parameters, 2, 1);
    std::vector<TypeParam> outputs(
        static_cast<std::size_t>(2 * fixture.kRows * model.output_size()));
    predictor.run(fixture.rows.data(), fixture.kRows, outputs.data());
    EXPECT_NE(
        outputs.front(),
        outputs[static_cast<std::size_t>(fixture.kRows * model.output_size())]);
  }
}

TYPED_TEST(Shrink, ChangesNothingWhenAllStay) {
  const Fixture<TypeParam> fixture(cases()[2].network);
  const Selection selection =
      all_units(network::Wiring(fixture.model.spec().network));
  const auto shrunk = shrink(fixture.model, fixture.parameters, selection);
  EXPECT_EQ(shrunk.parameters, fixture.parameters);
  EXPECT_EQ(shrunk.spec.network.layers.size(),
            fixture.model.spec().network.layers.size());
}

TEST(ShrinkErrors, RefusesImpossibleSelections) {
  const Fixture<float> fixture(cases()[4].network);
  const auto plain = train::point_network(fixture.model, fixture.parameters);
  Selection selection = all_units(network::Wiring(plain.spec));
  selection.inputs[1].pop_back();
  testing::expect_error<UnsupportedError>(
      [&] { shrink(plain, selection); },
      "inputs of layer 2 with weights cannot be removed");
  selection = all_units(network::Wiring(plain.spec));
  selection.inputs[4].push_back(6);
  testing::expect_error<ArgumentError>([&] { shrink(plain, selection); },
                                       "keeps input 6 of layer 5");
  selection.inputs.pop_back();
  testing::expect_error<ArgumentError>([&] { shrink(plain, selection); },
                                       "but the selection is for 4");
}

TEST(PlainNetwork, BalanceKeepsTheOutputs) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Fixture<double> fixture(c.network);
    auto plain = train::point_network(fixture.model, fixture.parameters);
    // A network whose scale has wandered to the second layer.
    for (double& x : plain.layers[0].weight) x *= 1e-4;
    for (double& x : plain.layers[0].bias) x *= 1e-4;
    for (double& x : plain.layers[1].weight) x *= 1e4;
    auto balanced = plain;
    network::balance(balanced);
    const auto outputs = [&](const network::PlainNetwork<double>& network) {
      return kernels::run_network(network, fixture.rows.data(), fixture.kRows);
    };
    EXPECT_LT(largest_difference(outputs(plain), outputs(balanced)), 1e-12);
    double squares = 0;
    for (double x : balanced.layers[0].weight) squares += x * x;
    const auto& shape = fixture.model.layers()[0].shape;
    EXPECT_NEAR(squares / static_cast<double>(shape.rows()), 2, 1e-10);
  }
}

TEST(PlainNetwork, RefusesArraysOfAnotherSize) {
  const Fixture<float> fixture(cases()[0].network);
  auto plain = train::point_network(fixture.model, fixture.parameters);
  plain.layers[1].bias.pop_back();
  testing::expect_error<ArgumentError>(
      [&] { kernels::run_network(plain, fixture.rows.data(), 1); },
      "layer 2 with weights needs 84 weights and 7 biases, but has 84 and 6");
  plain.layers.pop_back();
  testing::expect_error<ArgumentError>(
      [&] { kernels::run_network(plain, fixture.rows.data(), 1); },
      "but there are numbers for 2");
  testing::expect_error<ArgumentError>(
      [&] { train::point_network(fixture.model, std::vector<float>(3)); },
      "but got 3");
}

}  // namespace
}  // namespace radir::prune
