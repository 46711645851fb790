#include "radir/core/control_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

namespace radir {
namespace {

namespace fs = std::filesystem;

/// The control group of this process below /sys/fs/cgroup.
fs::path control_group() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::/", 0) == 0) return line.substr(4);
  }
  return {};
}

}  // namespace

void for_each_group_limit(const std::string& name,
                          const std::function<void(std::istream&)>& read) {
  const fs::path root = "/sys/fs/cgroup";
  for (fs::path group = control_group();; group = group.parent_path()) {
    std::ifstream file(root / group / name);
    if (file) read(file);
    if (group.empty()) return;
  }
}

std::int64_t least_group_limit(const std::string& name) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for_each_group_limit(name, [&](std::istream& file) {
    std::int64_t limit = 0;
    if (file >> limit) least = std::min(least, limit);
  });
  return least;
}

}  // namespace radir
