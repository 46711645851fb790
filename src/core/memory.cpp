#include "radir/core/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>

#include "radir/core/control_group.h"
#include "radir/core/error.h"

namespace radir {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// MemAvailable of the kernel.
std::int64_t available_in_machine() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  std::int64_t kilobytes = 0;
  for (std::string unit; info >> name >> kilobytes; std::getline(info, unit)) {
    if (name == "MemAvailable:") return 1024 * kilobytes;
  }
  return kUnlimited;
}

std::int64_t left_of_address_space() {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  std::ifstream pages("/proc/self/statm");
  std::int64_t used = 0;
  pages >> used;
  return static_cast<std::int64_t>(limit.rlim_cur) -
         used * ::sysconf(_SC_PAGESIZE);
}

std::string gibibytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB",
                static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

std::int64_t free_memory() {
  return std::max<std::int64_t>(
      0, std::min({available_in_machine(), left_of_address_space(),
                   // What is used of it is not subtracted: that counts cached
                   // files, which the kernel gives back.
                   least_group_limit("memory.max")}));
}

std::int64_t bounded_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  bool too_large = false;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    too_large |= __builtin_mul_overflow(product, factor, &product);
  }
  return too_large ? std::numeric_limits<std::int64_t>::max() : product;
}

void check_memory(std::initializer_list<std::int64_t> factors, const char* what,
                  const char* remedy) {
  const std::int64_t bytes = bounded_product(factors);
  // The question itself takes longer than a small allocation.
  constexpr std::int64_t kSmall = 1 << 26;
  if (bytes < kSmall) return;
  const std::int64_t most = free_memory();
  RADIR_CHECK(bytes <= most, MemoryError, what, " would take ",
              gibibytes(bytes), " of memory, but only ", gibibytes(most),
              " are free here; ", remedy);
}

}  // namespace radir
