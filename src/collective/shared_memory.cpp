#include "radir/collective/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "radir/core/error.h"

namespace radir::collective {
namespace {

/// Of an area. Only what is written takes memory.
constexpr std::int64_t kAreaBytes = std::int64_t{1} << 30;
constexpr std::int64_t kHeaderBytes = 4096;
constexpr std::int64_t kAlignment = 64;

std::int64_t area_offset(int area) { return area * kAreaBytes; }

}  // namespace

/// What a worker that is started again finds in its area.
struct SharedMemory::Header {
  struct Place {
    std::uint64_t number;
    std::int64_t begin;
    std::int64_t end;
  };
  std::uint64_t last;                 ///< number of the newest value, from 1
  std::atomic<std::uint64_t> oldest;  ///< of those that are still there
  std::int64_t end;                   ///< of the newest value
  std::int64_t ring;                  ///< where the ring ends; never shrinks
  Place places[kMostKept];            ///< of value n at n % kMostKept
};

std::unique_ptr<SharedMemory> SharedMemory::create(int workers) {
  const int descriptor = ::memfd_create("radir-job", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" +
                           std::to_string(descriptor);
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, path));
  if (::ftruncate(descriptor, area_offset(workers)) != 0) return nullptr;
  // Where there is no /proc, workers could not open it.
  return ::access(path.c_str(), R_OK | W_OK) == 0 ? std::move(memory) : nullptr;
}

std::unique_ptr<SharedMemory> SharedMemory::open(const std::string& path,
                                                 int area) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  RADIR_CHECK(descriptor >= 0, IoError, "cannot open the memory of the job, ",
              path, ": ", std::strerror(errno), "; start all workers on the ",
              "machine of radir launch, as the same user");
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, path));
  struct stat status {};
  const bool fits = ::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
                    status.st_size % kAreaBytes == 0 &&
                    area < status.st_size / kAreaBytes;
  RADIR_CHECK(fits, IoError, path, " is not the memory of this job");
  memory->areas_ = static_cast<int>(status.st_size / kAreaBytes);
  void* const mapped =
      ::mmap(nullptr, memory->byte_count(), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  RADIR_CHECK(mapped != MAP_FAILED, IoError, "cannot map the memory of the ",
              "job: ", std::strerror(errno));
  memory->memory_ = static_cast<char*>(mapped);
  if (memory->take_area(area)) memory->own_ = area;
  return memory;
}

SharedMemory::SharedMemory(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {}

SharedMemory::~SharedMemory() {
  if (memory_ != nullptr) ::munmap(memory_, byte_count());
  ::close(descriptor_);
}

std::size_t SharedMemory::byte_count() const {
  return static_cast<std::size_t>(area_offset(areas_));
}

char* SharedMemory::area_begin(int area) const {
  return memory_ + area_offset(area);
}

SharedMemory::Header& SharedMemory::header(int area) const {
  static_assert(sizeof(Header) <= kHeaderBytes);
  return *reinterpret_cast<Header*>(area_begin(area));
}

/// A lock on its first byte, which ends with this process: of two workers of
/// one rank, the second gives its values to the store.
bool SharedMemory::take_area(int area) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = area_offset(area);
  lock.l_len = 1;
  return ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
}

std::optional<std::string> SharedMemory::put(std::string_view bytes,
                                             std::int64_t kept) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::int64_t step = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (own_ < 0 || bytes.size() < kLeastBytes || kept > kMostKept ||
      step > (kAreaBytes - kHeaderBytes) / (kept + 1)) {
    return std::nullopt;
  }
  Header& area = header(own_);
  // One more for what is left over at the end of the ring.
  area.ring = std::max(area.ring, kHeaderBytes + (kept + 1) * step);
  std::int64_t begin = std::max(area.end, kHeaderBytes);
  if (begin + step > area.ring) begin = kHeaderBytes;
  const std::uint64_t number = area.last + 1;

  // Readers learn what is gone before it is written over.
  std::uint64_t oldest = area.oldest.load(std::memory_order_relaxed);
  if (number > kMostKept) oldest = std::max(oldest, number - kMostKept + 1);
  for (const Header::Place& place : area.places) {
    if (place.begin < begin + step && begin < place.end) {
      oldest = std::max(oldest, place.number + 1);
    }
  }
  area.oldest.store(oldest, std::memory_order_relaxed);
  area.last = number;
  area.end = begin + step;
  area.places[number % kMostKept] = {number, begin, begin + step};
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memcpy(area_begin(own_) + begin, bytes.data(), bytes.size());

  char text[100];
  const int length = std::snprintf(
      text, sizeof text, "memory %d %llu %lld %lld", own_,
      static_cast<unsigned long long>(number), static_cast<long long>(begin),
      static_cast<long long>(size));
  return std::string(text, static_cast<std::size_t>(length));
}

SharedMemory::Value SharedMemory::find(const std::string& reference) const {
  int area = -1;
  unsigned long long number = 0;
  long long begin = 0;
  long long size = 0;
  int length = 0;
  const int read = std::sscanf(reference.c_str(), "memory %d %llu %lld %lld%n",
                               &area, &number, &begin, &size, &length);
  RADIR_CHECK(read == 4 &&
                  static_cast<std::size_t>(length) == reference.size() &&
                  area >= 0 && area < areas_ && size >= 0 &&
                  begin >= kHeaderBytes && begin <= kAreaBytes - size,
              IoError, "\"", reference.substr(0, 60),
              "\" is not a value in the memory of the job");
  return {area_begin(area) + begin, static_cast<std::size_t>(size), area,
          number};
}

bool SharedMemory::is_kept(const Value& value) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return header(value.area).oldest.load(std::memory_order_relaxed) <=
         value.number;
}

}  // namespace radir::collective
