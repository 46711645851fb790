#include "radir/core/cpu.h"

#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "radir/core/error.h"

namespace radir {
namespace {

Isa detected_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return Isa::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return Isa::Avx2;
  }
#endif
  return Isa::Generic;
}

Isa chosen_isa() {
  const Isa best = detected_isa();
  const char* wish = std::getenv("RADIR_ISA");
  if (wish == nullptr || *wish == '\0') return best;
  const std::string name = wish;
  for (Isa isa : {Isa::Generic, Isa::Avx2, Isa::Avx512}) {
    if (name != to_string(isa)) continue;
    RADIR_CHECK(isa <= best, ArgumentError, "RADIR_ISA=", name,
                ": this processor supports no more than ", to_string(best),
                "; unset it or choose a lower one");
    return isa;
  }
  detail::throw_error<ArgumentError>("RADIR_ISA must be generic, avx2 or ",
                                     "avx512, but is \"", name, "\"");
}

}  // namespace

Isa active_isa() {
  static const Isa isa = chosen_isa();
  return isa;
}

const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return "avx512";
    case Isa::Avx2:
      return "avx2";
    case Isa::Generic:
      break;
  }
  return "generic";
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace radir
