#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"

namespace radir::kernels::testing {

/// The arrays of a layer, each in memory of its own, so that sanitizers see a
/// step outside any of them.
template <typename T>
struct SideStorage {
  std::vector<T> direction, log_concentration;
  std::vector<T> local[4], global[4];

  SideStorage() = default;
  SideStorage(const RdpSideLayout& layout, std::int64_t size,
              std::int64_t groups)
      : direction(static_cast<std::size_t>(size)),
        log_concentration(static_cast<std::size_t>(
            layout.shared_concentration ? 1 : groups)) {
    for (auto& v : local) v.resize(static_cast<std::size_t>(groups));
    if (!layout.global_radius) return;
    for (auto& v : global) v.resize(1);
  }

  template <typename P>
  static RadiusFactors<P> factors(std::vector<T> (&v)[4]) {
    if (v[0].empty()) return {};
    return {v[0].data(), v[1].data(), v[2].data(), v[3].data()};
  }

  template <typename P>
  RdpSide<P> view() {
    if (direction.empty()) return {};
    return {direction.data(), log_concentration.data(), factors<P>(local),
            factors<P>(global)};
  }

  /// Calls body(name, array) for every array.
  template <typename Body>
  void for_each(const Body& body) {
    static const char* const kNames[] = {"loc_a", "log_var_a", "loc_b",
                                         "log_var_b"};
    body("direction", direction);
    body("log_concentration", log_concentration);
    for (int i = 0; i < 4; ++i)
      body(std::string("local ") + kNames[i], local[i]);
    for (int i = 0; i < 4; ++i) {
      body(std::string("global ") + kNames[i], global[i]);
    }
  }
};

template <typename T>
struct Storage {
  SideStorage<T> row, column;

  Storage() = default;
  explicit Storage(const RdpLayout& layout) {
    const network::WeightShape& s = layout.shape;
    if (layout.row) row = {*layout.row, s.size(), s.rows()};
    if (layout.column) column = {*layout.column, s.size(), s.columns()};
  }

  RdpSides<const T> parameters() {
    return {row.template view<const T>(), column.template view<const T>()};
  }
  RdpSides<T> gradients() {
    return {row.template view<T>(), column.template view<T>()};
  }

  template <typename Body>
  void for_each(const Body& body) {
    row.for_each([&](const std::string& name, std::vector<T>& v) {
      body("row " + name, v);
    });
    column.for_each([&](const std::string& name, std::vector<T>& v) {
      body("column " + name, v);
    });
  }
};

/// A layer with its parameters at random.
template <typename T>
struct Problem {
  RdpLayout layout;
  Storage<T> storage;

  explicit Problem(const RdpLayout& rdp_layout, double log_concentration = 1.5,
                   unsigned seed = 1)
      : layout(rdp_layout), storage(rdp_layout) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    storage.for_each([&](const std::string& name, std::vector<T>& v) {
      const bool is_log_var = name.find("log_var") != std::string::npos;
      const bool is_concentration =
          name.find("concentration") != std::string::npos;
      const bool is_direction = name.find("direction") != std::string::npos;
      const double center = is_log_var         ? -1.5
                            : is_concentration ? log_concentration
                                               : 0;
      const double spread = is_direction ? 1 : 0.3;
      for (T& x : v) x = static_cast<T>(center + spread * normal(engine));
    });
  }

  RdpSides<const T> parameters() { return storage.parameters(); }
};

/// A layout, named for messages.
struct LayoutCase {
  std::string name;
  RdpLayout layout;
};

/// Row, column and double grouping of dense and convolution weights, short and
/// long, with shared and own concentrations, with and without global radii.
inline std::vector<LayoutCase> layout_cases() {
  const std::vector<std::pair<std::string, network::WeightShape>> shapes = {
      {"dense 2x2", {1, 2, 2, 1}},
      {"dense 3x5", {1, 3, 5, 1}},
      {"dense 50x13", {1, 50, 13, 1}},
      {"dense 40x33", {1, 40, 33, 1}},
      {"convolution 6x4x9", {1, 6, 4, 9}},
      {"grouped convolution 3 x 4x2x9", {3, 4, 2, 9}},
      {"depthwise convolution 21 x 1x1x9", {21, 1, 1, 9}},
  };
  const RdpSideLayout shared{true, true};
  const RdpSideLayout own{false, true};
  const RdpSideLayout local{true, false};
  std::vector<LayoutCase> cases;
  for (const auto& [name, shape] : shapes) {
    cases.push_back({name + ", rows", {shape, shared, {}}});
    cases.push_back({name + ", columns", {shape, {}, own}});
    cases.push_back({name + ", rows and columns", {shape, own, local}});
    cases.push_back({name + ", columns and rows", {shape, local, shared}});
  }
  return cases;
}

/// The elements of the weight that each group of a side owns, in order.
inline std::vector<std::vector<std::size_t>> elements_of_groups(
    const network::WeightShape& shape, bool rows) {
  std::vector<std::vector<std::size_t>> groups(
      static_cast<std::size_t>(rows ? shape.rows() : shape.columns()));
  std::size_t element = 0;
  for (std::int64_t g = 0; g < shape.groups; ++g) {
    for (std::int64_t o = 0; o < shape.out; ++o) {
      for (std::int64_t i = 0; i < shape.in; ++i) {
        for (std::int64_t k = 0; k < shape.kernel; ++k, ++element) {
          const std::int64_t group =
              rows ? g * shape.out + o : g * shape.in + i;
          groups[static_cast<std::size_t>(group)].push_back(element);
        }
      }
    }
  }
  return groups;
}

}  // namespace radir::kernels::testing
