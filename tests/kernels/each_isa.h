#pragma once

#include <gtest/gtest.h>

#include "radir/core/cpu.h"

namespace radir::testing {

/// Calls `check(isa)` for every instruction set this processor has.
template <typename Check>
void for_each_isa(Check check) {
  for (Isa isa : {Isa::Generic, Isa::Avx2, Isa::Avx512}) {
    if (isa > active_isa()) continue;
    SCOPED_TRACE(to_string(isa));
    check(isa);
  }
}

}  // namespace radir::testing
