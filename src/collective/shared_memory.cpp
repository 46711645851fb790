#include "radir/collective/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "collective/connection.h"
#include "radir/core/error.h"

namespace radir::collective {
namespace {

/// Of an area. Only what is written takes memory.
constexpr std::int64_t kAreaBytes = std::int64_t{1} << 29;
constexpr std::int64_t kHeaderBytes = 4096;
constexpr std::int64_t kAlignment = 64;
constexpr std::size_t kNameBytes = 16;  // hexadecimal digits
/// Nobody may change its size below those who read it.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr const char* kReference = "memory ";

std::int64_t area_offset(int area) { return area * kAreaBytes; }

/// Limits of the address space are meant for the work, and workers of a program
/// whose memory may not be dumped cannot open each other's files.
bool workers_could_map() {
  rlimit limit{};
  return sizeof(std::size_t) >= 8 && ::getrlimit(RLIMIT_AS, &limit) == 0 &&
         limit.rlim_cur == RLIM_INFINITY && ::prctl(PR_GET_DUMPABLE) == 1;
}

}  // namespace

/// What a worker that is started again finds in its area.
struct SharedMemory::Header {
  struct Place {
    std::uint64_t number;
    std::int64_t begin;
    std::int64_t end;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  char name[kNameBytes];              ///< of all the memory, in the first area
  std::uint64_t last;                 ///< number of the newest value, from 1
  std::atomic<std::uint64_t> oldest;  ///< of those that are still there
  std::int64_t end;                   ///< of the newest value
  std::int64_t ring;                  ///< where the ring ends; never shrinks
  Place places[kMostKept];            ///< of value n at n % kMostKept
};

std::unique_ptr<SharedMemory> SharedMemory::create(int workers) {
  if (!workers_could_map()) return nullptr;
  const int descriptor =
      ::memfd_create("radir-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" +
                           std::to_string(descriptor);
  std::unique_ptr<SharedMemory> memory(
      new SharedMemory(descriptor, path, random_hex(kNameBytes / 2)));
  const bool is_made = ::ftruncate(descriptor, area_offset(workers)) == 0 &&
                       ::fcntl(descriptor, F_ADD_SEALS, kSeals) == 0 &&
                       ::pwrite(descriptor, memory->name_.data(), kNameBytes,
                                0) == static_cast<ssize_t>(kNameBytes);
  // Where there is no /proc, workers could not open it.
  if (!is_made || ::access(path.c_str(), R_OK | W_OK) != 0) return nullptr;
  return memory;
}

std::unique_ptr<SharedMemory> SharedMemory::open(const std::string& place,
                                                 int area) {
  const std::size_t space = place.rfind(' ');
  const std::string path = place.substr(0, space);
  const std::string name =
      space == std::string::npos ? "" : place.substr(space + 1);
  const char* const advice =
      "; start all workers on the machine of radir launch, as the same user "
      "and with its RADIR_JOB_MEMORY, or unset that for a job of another kind";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  RADIR_CHECK(descriptor >= 0, IoError, "cannot open the memory of the job, ",
              path, ": ", std::strerror(errno), advice);
  std::unique_ptr<SharedMemory> memory(
      new SharedMemory(descriptor, path, name));
  struct stat status {};
  char found[kNameBytes];
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  const bool is_it =
      name.size() == kNameBytes && seals >= 0 && (seals & kSeals) == kSeals &&
      ::fstat(descriptor, &status) == 0 && status.st_size % kAreaBytes == 0 &&
      area < status.st_size / kAreaBytes &&
      ::pread(descriptor, found, kNameBytes, 0) ==
          static_cast<ssize_t>(kNameBytes) &&
      name.compare(0, kNameBytes, found, kNameBytes) == 0;
  RADIR_CHECK(is_it, IoError, path, " is not the memory of this job", advice);
  memory->map(static_cast<int>(status.st_size / kAreaBytes));
  if (memory->take_area(area)) memory->own_ = area;
  return memory;
}

SharedMemory::SharedMemory(int descriptor, std::string path, std::string name)
    : descriptor_(descriptor), path_(std::move(path)), name_(std::move(name)) {}

void SharedMemory::map(int areas) {
  areas_ = areas;
  void* const mapped = ::mmap(nullptr, byte_count(), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  RADIR_CHECK(mapped != MAP_FAILED, IoError, "cannot map the memory of the ",
              "job: ", std::strerror(errno), "; start fewer workers");
  memory_ = static_cast<char*>(mapped);
  ::madvise(mapped, byte_count(), MADV_DONTDUMP);
}

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
  std::int64_t begin = std::max(area.end, kHeaderBytes);
  // One more for what is left over at the end of the ring.
  const std::int64_t wanted = (kept + 1) * step;
  if (kHeaderBytes + wanted > area.ring) {
    // Behind all that may still be needed. Memory that is short is found here,
    // not by a signal while it is written.
    begin = std::max(area.ring, kHeaderBytes);
    if (begin + wanted > kAreaBytes ||
        ::fallocate(descriptor_, 0, area_offset(own_) + begin, wanted) != 0) {
      return std::nullopt;
    }
    area.ring = begin + wanted;
  }
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
      text, sizeof text, "%s%s %d %llu %lld %lld", kReference, name_.c_str(),
      own_, static_cast<unsigned long long>(number),
      static_cast<long long>(begin), static_cast<long long>(size));
  return std::string(text, static_cast<std::size_t>(length));
}

bool SharedMemory::is_reference(std::string_view text) {
  const std::string_view start = kReference;
  return text.substr(0, start.size()) == start;
}

SharedMemory::Value SharedMemory::find(const std::string& reference) const {
  int area = -1;
  unsigned long long number = 0;
  long long begin = 0;
  long long size = 0;
  int length = 0;
  const std::string start = kReference + name_;
  const std::string rest =
      reference.substr(std::min(start.size(), reference.size()));
  const int read = std::sscanf(rest.c_str(), " %d %llu %lld %lld%n", &area,
                               &number, &begin, &size, &length);
  RADIR_CHECK(reference.compare(0, start.size(), start) == 0 && read == 4 &&
                  static_cast<std::size_t>(length) == rest.size() &&
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
