#include "support/table.h"

#include <cstdlib>
#include <fstream>

#include "radir/core/error.h"

namespace radir::testing {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = line.find(',', begin);
    cells.push_back(line.substr(begin, comma - begin));
    if (comma == std::string::npos) return cells;
    begin = comma + 1;
  }
}

}  // namespace

Table::Table(const std::string& name) : name_(name) {
  const std::string path = RADIR_TEST_DATA "/reference/" + name + ".csv";
  std::ifstream file(path);
  RADIR_CHECK(file, IoError, "cannot open the reference table ", path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (columns_.empty()) {
      columns_ = split(line);
      for (std::size_t i = 0; i < columns_.size(); ++i) index_[columns_[i]] = i;
      continue;
    }
    rows_.push_back(split(line));
    RADIR_CHECK(rows_.back().size() == columns_.size(), IoError, path, ": row ",
                rows_.size(), " has ", rows_.back().size(),
                " cells, the header has ", columns_.size());
  }
}

const std::string& Table::text(std::size_t row,
                               const std::string& column) const {
  const auto found = index_.find(column);
  RADIR_CHECK(found != index_.end(), ArgumentError, name_,
              " has no column named ", column);
  return rows_.at(row)[found->second];
}

double Table::number(std::size_t row, const std::string& column) const {
  const std::string& cell = text(row, column);
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  RADIR_CHECK(end == cell.c_str() + cell.size() && !cell.empty(), IoError,
              name_, " row ", row, ": \"", cell, "\" is not a number");
  return value;
}

std::string Table::describe(std::size_t row) const {
  std::string text = name_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    text += " " + columns_[i] + "=" + rows_.at(row)[i];
  }
  return text;
}

}  // namespace radir::testing
