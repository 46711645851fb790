#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "radir/files/json_object.h"

// Lists of numbers in JSON that others may have written.

namespace radir::workflows {

/// Throws IoError unless the value under the key is a list of numbers.
inline std::vector<double> numbers_from_json(files::JsonObject& json,
                                             const char* key) {
  std::vector<double> values;
  for (const auto& value : json.array(key)) {
    json.check_type(value.is_number(), key, "a list of numbers");
    values.push_back(value);
  }
  return values;
}

/// Throws IoError unless the value under the key is a list of `rows` lists of
/// `columns` numbers each (integers, if T is one).
template <typename T>
std::vector<std::vector<T>> matrix_from_json(files::JsonObject& json,
                                             const char* key, std::size_t rows,
                                             std::size_t columns) {
  constexpr const char* kWanted = "a matrix of numbers";
  std::vector<std::vector<T>> matrix;
  for (const auto& line : json.array(key)) {
    json.check_type(line.is_array() && line.size() == columns, key, kWanted);
    for (const auto& value : line) {
      json.check_type(
          std::is_integral_v<T> ? value.is_number_integer() : value.is_number(),
          key, kWanted);
    }
    matrix.push_back(line.template get<std::vector<T>>());
  }
  json.check_type(matrix.size() == rows, key, kWanted);
  return matrix;
}

}  // namespace radir::workflows
