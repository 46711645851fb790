#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

// The entry of libFuzzer for the target RADIR_FUZZ_TARGET.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  radir::fuzz::feed(radir::fuzz::RADIR_FUZZ_TARGET,
                    {reinterpret_cast<const char*>(data), size});
  return 0;
}
