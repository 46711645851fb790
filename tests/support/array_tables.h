#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/table.h"
#include "support/worst_error.h"

namespace radir::testing {

/// Functions of arrays for one order or dimension per call, to be compared with
/// the reference tables.
template <typename T>
struct ArrayFunctions {
  using Function = void (*)(T order, const T* input, std::int64_t count,
                            T* output);
  Function bessel_ratio;
  Function log_bessel_i;
  Function vmf_cosine_variance;
  Function vmf_log_normalizer;
  void (*vmf_kl)(T m, const T* kappa_q, const T* kappa_p, const T* cosine,
                 std::int64_t count, T* kl);
};

/// Rows of a table that share the number in `column`.
using TableGroups = std::map<double, std::vector<std::size_t>>;

inline TableGroups group_rows(const Table& table, const std::string& column) {
  TableGroups groups;
  for (std::size_t row = 0; row < table.size(); ++row) {
    groups[table.number(row, column)].push_back(row);
  }
  return groups;
}

template <typename T>
std::vector<T> column_of(const Table& table, const std::string& column,
                         const std::vector<std::size_t>& rows) {
  std::vector<T> values;
  for (std::size_t row : rows) {
    values.push_back(static_cast<T>(table.number(row, column)));
  }
  return values;
}

/// One function of (order, argument) against one table; errors are relative to
/// the value or, for logarithms, to max(|value|, hypot(order/scale, argument)).
template <typename T>
void verify_array_table(const std::string& name, const std::string& order,
                        const std::string& argument, const std::string& value,
                        typename ArrayFunctions<T>::Function function,
                        double allowed_eps, double logarithm_scale = 0) {
  const Table table(name);
  WorstError<T> worst(name + " " + value, allowed_eps);
  for (const auto& group : group_rows(table, order)) {
    const double key = group.first;
    const std::vector<std::size_t>& rows = group.second;
    const std::vector<T> input = column_of<T>(table, argument, rows);
    std::vector<T> output(input.size());
    function(static_cast<T>(key), input.data(),
             static_cast<std::int64_t>(input.size()), output.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double want = table.number(rows[i], value);
      double scale = std::fabs(want);
      if (logarithm_scale > 0) {
        const double z = static_cast<double>(input[i]);
        scale = std::max(scale, std::hypot(key / logarithm_scale, z));
      }
      worst.add_scaled(output[i], want, scale,
                       [&] { return table.describe(rows[i]); });
    }
  }
  worst.verify();
}

template <typename T>
void verify_array_kl(const ArrayFunctions<T>& functions, double allowed_eps) {
  const Table table("vmf_kl");
  WorstError<T> worst("vmf_kl of arrays", allowed_eps);
  for (const auto& group : group_rows(table, "m")) {
    const T m = static_cast<T>(group.first);
    const std::vector<std::size_t>& rows = group.second;
    const std::vector<T> kappa_q = column_of<T>(table, "kappa_q", rows);
    const std::vector<T> kappa_p = column_of<T>(table, "kappa_p", rows);
    const std::vector<T> cosine = column_of<T>(table, "cos", rows);
    std::vector<T> kl(rows.size());
    functions.vmf_kl(m, kappa_q.data(), kappa_p.data(), cosine.data(),
                     static_cast<std::int64_t>(kl.size()), kl.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      worst.add(kl[i], table.number(rows[i], "kl"),
                [&] { return table.describe(rows[i]); });
    }
  }
  worst.verify();
}

/// All of them, with the limits that hold for single elements too.
template <typename T>
void verify_array_functions(const ArrayFunctions<T>& functions) {
  verify_array_table<T>("bessel_ratio", "nu", "z", "ratio",
                        functions.bessel_ratio, 4);
  verify_array_table<T>("log_bessel", "nu", "z", "log_i",
                        functions.log_bessel_i, 8, 1);
  verify_array_table<T>("vmf_moments", "m", "kappa", "Var_omega",
                        functions.vmf_cosine_variance, 64);
  verify_array_table<T>("vmf_log_normaliser", "m", "kappa", "log_c",
                        functions.vmf_log_normalizer, 8, 2);
  verify_array_kl(functions, 64);
}

}  // namespace radir::testing
