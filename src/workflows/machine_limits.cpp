#include "workflows/machine_limits.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "radir/core/control_group.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

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
  for_each_group_limit("cpu.max", [&](std::istream& file) {
    double quota = 0;
    double period = 0;
    if (!(file >> quota >> period) || period <= 0) return;  // "max 100000"
    const double share = quota / period;
    least = least == 0 ? share : std::min(least, share);
  });
  return least;
}

std::int64_t memory_bytes() {
  return std::min(meminfo("MemTotal:"), least_group_limit("memory.max"));
}

std::int64_t available_memory_bytes() {
  const std::int64_t limit = least_group_limit("memory.max");
  const std::int64_t machine = meminfo("MemAvailable:");
  if (limit == kNoLimit) return machine;
  const std::int64_t used = least_group_limit("memory.current");
  return std::min(machine, limit - std::min(limit, used));
}

}  // namespace radir::workflows
