#include "radir/data/data_dir.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/core/shell_text.h"
#include "radir/data/dataset.h"

namespace radir::data {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> folders_in(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (is_folder(entry.path())) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  if (names.empty()) return "no folder";
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// "; fetch it with: ..." for a set the program can fetch, else nothing.
std::string how_to_fetch(const std::string& dir, const std::string& folder) {
  for (const DataSet& set : data_sets()) {
    if (set.folder == folder) {
      return "; fetch it with: radir data fetch " + set.name + " --data-dir " +
             shell_word(dir);
    }
  }
  return "";
}

}  // namespace

std::string data_dir_name(const std::string& given) {
  const char* const variable = std::getenv("RADIR_DATA_DIR");
  return !given.empty() ? given : variable ? variable : "";
}

std::string data_dir(const std::string& given) {
  const std::string dir = data_dir_name(given);
  RADIR_CHECK(!dir.empty(), IoError,
              "no data folder given; add --data-dir FOLDER or set "
              "RADIR_DATA_DIR, or fetch a data set with `radir data fetch`");
  RADIR_CHECK(is_folder(dir), IoError, "the data folder ", dir, " (from ",
              given.empty() ? "RADIR_DATA_DIR" : "--data-dir",
              ") does not exist or is not a folder; check the spelling");
  return dir;
}

std::string data_set_dir(const std::string& dir, const std::string& name) {
  const fs::path path = fs::path(dir) / name;
  if (is_folder(path)) return path.string();
  const std::vector<std::string> there = folders_in(path.parent_path());
  detail::throw_error<IoError>(
      "the data set ", name, " is not in ", dir, "; ",
      path.parent_path().string(), " holds ", joined(there),
      did_you_mean(path.filename().string(), there),
      there.empty() ? "; check --data-dir or RADIR_DATA_DIR" : "",
      how_to_fetch(dir, name));
}

}  // namespace radir::data
