#pragma once

#include <cstdint>
#include <vector>

namespace radir::workflows {

/// The copies of a row, which stand beside each other in a list of rows, are
/// one group: they are fitted or held out together.
class RowGroups {
 public:
  explicit RowGroups(const std::vector<std::int64_t>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || rows[i] != rows[i - 1]) {
        begins_.push_back(static_cast<std::int64_t>(i));
      }
    }
    begins_.push_back(static_cast<std::int64_t>(rows.size()));
  }

  std::int64_t count() const {
    return static_cast<std::int64_t>(begins_.size()) - 1;
  }
  /// Places in the list of the copies of a group.
  void append(std::int64_t group, std::vector<std::int64_t>& places) const {
    const auto g = static_cast<std::size_t>(group);
    for (std::int64_t i = begins_[g]; i < begins_[g + 1]; ++i) {
      places.push_back(i);
    }
  }

 private:
  std::vector<std::int64_t> begins_;
};

}  // namespace radir::workflows
