#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace radir::testing {

/// A reference table of tests/data/reference: comma separated, comment lines
/// starting with '#', then one header line. Every input in it is exact in
/// float, so one table serves float and double.
class Table {
 public:
  /// Reads tests/data/reference/<name>.csv; throws IoError if it is not there.
  explicit Table(const std::string& name);

  std::size_t size() const { return rows_.size(); }
  const std::string& text(std::size_t row, const std::string& column) const;
  double number(std::size_t row, const std::string& column) const;
  /// The row as "name=value name=value", for messages.
  std::string describe(std::size_t row) const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace radir::testing
