#include <gtest/gtest.h>

#include <cstdio>

#include "radir/core/cpu.h"
#include "radir/core/version.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::printf("radir %s, %s, %s kernels, %d threads\n", radir::version(),
              radir::cpu_name().c_str(), radir::to_string(radir::active_isa()),
              radir::available_threads());
  return RUN_ALL_TESTS();
}
