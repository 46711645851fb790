// A library to preload (LD_PRELOAD) that makes one call of a program fail.
//
//   RADIR_FAULT=file:12:5     the 12th file operation fails with errno 5
//   RADIR_FAULT=memory:40:0   the 40th allocation
//   RADIR_FAULT=thread:1:11   the first start of a thread
//   RADIR_FAULT_COUNT=FILE    none fails; how many there are goes to FILE: a
//                             line "file N" and so on, then a line "site N" for
//                             the first allocation of each call stack
//
// Calls are counted while main() runs. tools/fault_test uses it.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace {

enum Kind { kFile, kMemory, kThread, kKinds };
constexpr const char* kNames[kKinds] = {"file", "memory", "thread"};

std::atomic<bool> active{false};
std::atomic<long> counts[kKinds];
Kind fault_kind = kFile;
long fault_at = 0;
int fault_errno = 0;
const char* count_file = nullptr;

/// The function behind ours.
template <typename Function>
Function* next(const char* name, Function*) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Whether this call is the one to fail; sets errno then.
bool fails(Kind kind) {
  if (!active.load(std::memory_order_relaxed)) return false;
  if (counts[kind].fetch_add(1) + 1 != fault_at || fault_kind != kind) {
    return false;
  }
  errno = fault_errno;
  return true;
}

// Stacks of allocations seen so far, in a table of hashes.
constexpr std::size_t kSlots = std::size_t{1} << 18;
constexpr int kDepth = 10;
std::size_t stacks[kSlots];
long sites[kSlots];
std::size_t site_count = 0;
thread_local bool inside = false;
std::atomic_flag noting = ATOMIC_FLAG_INIT;

void note_stack(long index) {
  void* frames[kDepth];
  const int depth = ::backtrace(frames, kDepth);
  std::size_t hash = 1469598103934665603U;
  for (int i = 1; i < depth; ++i) {
    hash = (hash ^ reinterpret_cast<std::size_t>(frames[i])) * 1099511628211U;
  }
  while (noting.test_and_set()) {
  }
  std::size_t slot = hash % kSlots;
  while (stacks[slot] != 0 && stacks[slot] != hash) slot = (slot + 1) % kSlots;
  if (stacks[slot] == 0 && site_count < kSlots / 2) {
    stacks[slot] = hash;
    sites[site_count++] = index;
  }
  noting.clear();
}

bool allocation_fails() {
  if (inside) return false;
  if (count_file == nullptr) return fails(kMemory);
  if (!active.load(std::memory_order_relaxed)) return false;
  inside = true;
  note_stack(counts[kMemory].fetch_add(1) + 1);
  inside = false;
  return false;
}

void read_request() {
  count_file = std::getenv("RADIR_FAULT_COUNT");
  const char* text = std::getenv("RADIR_FAULT");
  char name[16] = "";
  if (text == nullptr || std::sscanf(text, "%15[a-z]:%ld:%d", name, &fault_at,
                                     &fault_errno) != 3) {
    return;
  }
  for (int kind = 0; kind < kKinds; ++kind) {
    if (std::strcmp(name, kNames[kind]) == 0) {
      fault_kind = static_cast<Kind>(kind);
    }
  }
}

void write_counts() {
  std::FILE* file = std::fopen(count_file, "w");
  if (file == nullptr) return;
  for (int kind = 0; kind < kKinds; ++kind) {
    std::fprintf(file, "%s %ld\n", kNames[kind], counts[kind].load());
  }
  for (std::size_t i = 0; i < site_count; ++i) {
    std::fprintf(file, "site %ld\n", sites[i]);
  }
  std::fclose(file);
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_request();
  active = true;
  const int code = real_main(argc, argv, environment);
  active = false;
  if (count_file != nullptr) write_counts();
  return code;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocation_fails()) return nullptr;
  if (alignment == 0) return std::malloc(size == 0 ? 1 : size);
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// What is below replaces functions of the system, whose names and arguments
// are not ours to choose.
// NOLINTBEGIN
#define RADIR_REAL(function) \
  static const auto real =   \
      next(#function, static_cast<decltype(&function)>(nullptr))

extern "C" {

int __libc_start_main(Main* program, int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  using Start =
      int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = program;
  const auto real =
      reinterpret_cast<Start*>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  RADIR_REAL(open);
  return fails(kFile) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  RADIR_REAL(openat);
  return fails(kFile) ? -1 : real(folder, path, flags, mode);
}

std::FILE* fopen64(const char* path, const char* mode) {
  RADIR_REAL(fopen64);
  return fails(kFile) ? nullptr : real(path, mode);
}

ssize_t read(int descriptor, void* out, size_t size) {
  RADIR_REAL(read);
  return fails(kFile) ? -1 : real(descriptor, out, size);
}

// Standard error is where failures are told.
ssize_t write(int descriptor, const void* bytes, size_t size) {
  RADIR_REAL(write);
  return descriptor != 2 && fails(kFile) ? -1 : real(descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  RADIR_REAL(writev);
  return descriptor != 2 && fails(kFile) ? -1 : real(descriptor, parts, count);
}

size_t fwrite(const void* bytes, size_t size, size_t count, std::FILE* file) {
  RADIR_REAL(fwrite);
  return file == stdout && fails(kFile) ? 0 : real(bytes, size, count, file);
}

int fsync(int descriptor) {
  RADIR_REAL(fsync);
  return fails(kFile) ? -1 : real(descriptor);
}

int rename(const char* from, const char* to) {
  RADIR_REAL(rename);
  return fails(kFile) ? -1 : real(from, to);
}

// A descriptor is closed even when close() fails.
int close(int descriptor) {
  RADIR_REAL(close);
  if (!fails(kFile)) return real(descriptor);
  real(descriptor);
  errno = fault_errno;
  return -1;
}

void* mmap(void* address, size_t size, int protection, int flags,
           int descriptor, off_t offset) {
  RADIR_REAL(mmap);
  return fails(kFile)
             ? MAP_FAILED
             : real(address, size, protection, flags, descriptor, offset);
}

int mkdir(const char* path, mode_t mode) {
  RADIR_REAL(mkdir);
  return fails(kFile) ? -1 : real(path, mode);
}

int ftruncate(int descriptor, off_t size) {
  RADIR_REAL(ftruncate);
  return fails(kFile) ? -1 : real(descriptor, size);
}

int fchmod(int descriptor, mode_t mode) {
  RADIR_REAL(fchmod);
  return fails(kFile) ? -1 : real(descriptor, mode);
}

int flock(int descriptor, int operation) {
  RADIR_REAL(flock);
  return fails(kFile) ? -1 : real(descriptor, operation);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*start)(void*), void* argument) {
  RADIR_REAL(pthread_create);
  return fails(kThread) ? fault_errno
                        : real(thread, attributes, start, argument);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return allocate(size, alignment);
}

}  // extern "C"

void* operator new(std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
// NOLINTEND
