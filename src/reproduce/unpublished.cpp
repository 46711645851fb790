#include "radir/reproduce/unpublished.h"

#include <algorithm>
#include <filesystem>

#include "radir/data/dataset.h"

namespace radir::reproduce {
namespace {

constexpr const char* kNote = "not the published data";

}  // namespace

std::vector<UnpublishedSet> unpublished_sets(
    const std::string& data_dir, const std::vector<std::string>& names) {
  std::vector<UnpublishedSet> result;
  for (const data::DataSet& set : data::data_sets()) {
    if (std::find(names.begin(), names.end(), set.name) == names.end()) {
      continue;
    }
    data::DataSetCheck check = data::check_data_set(data_dir, set);
    if (check.state == data::DataSetState::Complete) continue;
    // The same wherever the folder is.
    const std::string place = (std::filesystem::path(data_dir) / "").string();
    for (std::size_t at = 0;
         (at = check.problem.find(place)) != std::string::npos;) {
      check.problem.erase(at, place.size());
    }
    result.push_back({set.name, check.problem});
  }
  return result;
}

void mark_unpublished(report::Table& table,
                      const std::vector<UnpublishedSet>& sets) {
  for (std::vector<report::Cell>& row : table.rows) {
    for (const UnpublishedSet& set : sets) {
      if (row.front() != report::Cell(set.name)) continue;
      row.front() = set.name + " (" + kNote + ")";
      break;
    }
  }
}

std::string note_on_unpublished(const std::vector<UnpublishedSet>& sets) {
  std::string text;
  for (const UnpublishedSet& set : sets) {
    text += (text.empty() ? std::string(kNote) + ": " : "; ") + set.name;
    if (!set.problem.empty()) text += " (" + set.problem + ")";
  }
  return text;
}

}  // namespace radir::reproduce
