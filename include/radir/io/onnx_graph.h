#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace radir::io {

/// Types of the elements of a tensor.
enum class OnnxElement { Float, Double, Int64, Bool, String };

/// An attribute of a node, by its name.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, std::vector<std::int64_t>,
               std::vector<std::string>>
      value;
};

/// Builds an ONNX file node by node, for computations that are no chain of
/// layers (write_onnx). Values are named by the strings that the functions
/// return. Operators are those of set 13, and of set 2 of ai.onnx.ml.
class OnnxGraph {
 public:
  using Dims = std::vector<std::int64_t>;
  using Values = std::vector<std::string>;
  using Attributes = std::vector<OnnxAttribute>;

  /// Throws UnsupportedError where the library was built without ONNX.
  OnnxGraph();
  ~OnnxGraph();
  OnnxGraph(OnnxGraph&&) noexcept;
  OnnxGraph& operator=(OnnxGraph&&) noexcept;

  /// An input or output [batch, columns] of the file; `note` documents it.
  void add_input(const std::string& name, OnnxElement type,
                 std::int64_t columns, const std::string& note);
  void add_output(const std::string& value, const std::string& name,
                  OnnxElement type, std::int64_t columns,
                  const std::string& note);

  std::string constant(const std::vector<float>& values, const Dims& dims);
  std::string constant(const std::vector<double>& values, const Dims& dims);
  std::string constant(const std::vector<std::int64_t>& values,
                       const Dims& dims);
  std::string constant(const std::vector<std::string>& values,
                       const Dims& dims);
  std::string constant(double value) {
    return constant(std::vector<double>{value}, {});
  }

  /// A node with one output.
  std::string node(const char* op, const Values& inputs,
                   const Attributes& attributes = {}, const char* domain = "");
  std::string cast(const std::string& value, OnnxElement type);

  /// What the body of a loop computes: whether to go on (a bool of no
  /// dimension), and the next values.
  using LoopStep = std::pair<std::string, Values>;
  /// The values, doubles, after so many steps at most.
  Values loop(std::int64_t most, const Values& start,
              const std::function<LoopStep(const Values&)>& body);

  /// Writes the file atomically. Throws UnsupportedError where it would pass
  /// the format's limit of 2 GiB, IoError when it cannot be written.
  void write(const std::string& path, const std::string& documentation,
             const std::map<std::string, std::string>& metadata) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::io
