#include "support/largest_allocation.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};

}  // namespace

// These replace the global operators in this test program.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (size > largest) largest = size;
  return std::malloc(size == 0 ? 1 : size);
}

void* operator new(std::size_t size) {
  if (void* block = operator new(size, std::nothrow)) return block;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace radir::testing {

std::size_t take_largest_allocation() { return largest.exchange(0); }

}  // namespace radir::testing
