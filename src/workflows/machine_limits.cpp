#include "workflows/machine_limits.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

namespace radir::workflows {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// The control group of this process (version 2) below /sys/fs/cgroup.
fs::path control_group() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::/", 0) == 0) return line.substr(4);
  }
  return {};
}

/// Calls `read` with each file of this name from the process's control group up
/// to the root; every one of them is a limit.
void for_each_limit(const std::string& name,
                    const std::function<void(std::istream&)>& read) {
  const fs::path root = "/sys/fs/cgroup";
  for (fs::path group = control_group();; group = group.parent_path()) {
    std::ifstream file(root / group / name);
    if (file) read(file);
    if (group.empty()) return;
  }
}

/// The least of the limits, which are numbers or "max".
std::int64_t least_limit(const std::string& name) {
  std::int64_t least = kNoLimit;
  for_each_limit(name, [&](std::istream& file) {
    std::int64_t limit = 0;
    if (file >> limit) least = std::min(least, limit);
  });
  return least;
}

/// A line of /proc/meminfo, such as "MemTotal:", in bytes.
std::int64_t meminfo(const std::string& key) {
  std::ifstream info("/proc/meminfo");
  std::string name;
  std::int64_t kilobytes = 0;
  for (std::string rest; info >> name >> kilobytes; std::getline(info, rest)) {
    if (name == key) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

double granted_processors() {
  double least = 0;
  for_each_limit("cpu.max", [&](std::istream& file) {
    double quota = 0;
    double period = 0;
    if (!(file >> quota >> period) || period <= 0) return;  // "max 100000"
    const double share = quota / period;
    least = least == 0 ? share : std::min(least, share);
  });
  return least;
}

std::int64_t memory_bytes() {
  return std::min(meminfo("MemTotal:"), least_limit("memory.max"));
}

std::int64_t available_memory_bytes() {
  const std::int64_t limit = least_limit("memory.max");
  const std::int64_t machine = meminfo("MemAvailable:");
  if (limit == kNoLimit) return machine;
  const std::int64_t used = least_limit("memory.current");
  return std::min(machine, limit - std::min(limit, used));
}

}  // namespace radir::workflows
