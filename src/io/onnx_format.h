#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <type_traits>
#include <vector>

// What the writer and the reader of ONNX files agree on.

namespace radir::io {

/// The operators that are used have their present form since this set.
inline constexpr std::int64_t kOnnxOpset = 13;
/// The version of the file format that came with it.
inline constexpr std::int64_t kOnnxIrVersion = 7;

inline constexpr const char* kOnnxInput = "input";
inline constexpr const char* kOnnxOutput = "output";
inline constexpr const char* kOnnxInputNote = "radir.input";
inline constexpr const char* kOnnxOutputNote = "radir.output";

using OnnxDims = std::vector<std::int64_t>;

/// The element type of constants: weights are float, indices std::int64_t.
template <typename T>
constexpr onnx::TensorProto::DataType onnx_type_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int64_t>);
  return std::is_same_v<T, float> ? onnx::TensorProto::FLOAT
                                  : onnx::TensorProto::INT64;
}

}  // namespace radir::io
