#pragma once

#include <string>

namespace radir {

/// Instruction sets the kernels are compiled for.
enum class Isa { Generic, Avx2, Avx512 };

/// The best set this processor runs. The environment variable RADIR_ISA
/// (generic, avx2 or avx512) chooses a lower one; asking for more than the
/// processor has throws ArgumentError. Decided once per process.
Isa active_isa();

const char* to_string(Isa isa);

/// The processor's name as the system gives it.
std::string cpu_name();

/// Hardware threads this process may use (its affinity mask, not the machine).
int available_threads();

/// The entry of (generic, avx2, avx512) that `active_isa()` selects.
template <typename Table>
const Table& select_isa(const Table& generic, const Table& avx2,
                        const Table& avx512) {
  switch (active_isa()) {
    case Isa::Avx512:
      return avx512;
    case Isa::Avx2:
      return avx2;
    case Isa::Generic:
      break;
  }
  return generic;
}

}  // namespace radir
