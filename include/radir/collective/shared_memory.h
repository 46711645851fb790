#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace radir::collective {

/// Memory of one machine in which the workers of a job give each other large
/// values; the store then carries references alone. Each worker has an area
/// that it writes and all read, a ring in which new values replace the oldest.
/// The memory has no name: it ends with the last process that has it open.
class SharedMemory {
 public:
  /// The most values that an area keeps.
  static constexpr std::int64_t kMostKept = 64;
  /// Smaller values are not worth it.
  static constexpr std::size_t kLeastBytes = std::size_t{1} << 16;

  /// A value in memory, as long as its area keeps it.
  struct Value {
    const char* bytes = nullptr;
    std::size_t size = 0;
    int area = 0;
    std::uint64_t number = 0;
  };

  /// New memory with an area for each worker; null where the system has none.
  static std::unique_ptr<SharedMemory> create(int workers);
  /// That of another process, by its path(). `area` is what this worker writes,
  /// unless another one has it. Throws IoError.
  static std::unique_ptr<SharedMemory> open(const std::string& path, int area);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// For open(), in this process and in others of the same user.
  const std::string& path() const { return path_; }

  /// Copies a value into the area and returns a reference to it; nothing where
  /// the value is too small or too large, or this worker has no area. It stays
  /// there while fewer than `kept` others follow, none of them larger.
  std::optional<std::string> put(std::string_view bytes, std::int64_t kept);
  /// What a reference leads to. Throws IoError for what is no reference.
  Value find(const std::string& reference) const;
  /// Whether the value was there up to now. Ask after its bytes were read.
  bool is_kept(const Value& value) const;

 private:
  struct Header;

  SharedMemory(int descriptor, std::string path);
  std::size_t byte_count() const;
  Header& header(int area) const;
  char* area_begin(int area) const;
  bool take_area(int area);

  int descriptor_;
  std::string path_;
  char* memory_ = nullptr;
  int areas_ = 0;
  int own_ = -1;  // the area that this worker writes
};

}  // namespace radir::collective
