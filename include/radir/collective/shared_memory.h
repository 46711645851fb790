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
/// The memory has no name in the file system: it ends with the last process
/// that has it open.
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

  /// New memory with an area for each worker; null where the system has none,
  /// or where workers could not open or map it.
  static std::unique_ptr<SharedMemory> create(int workers);
  /// That of another process, by its place(). `area` is what this worker
  /// writes, unless another one has it. Throws IoError.
  static std::unique_ptr<SharedMemory> open(const std::string& place, int area);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// For open(), in this process and in others of the same user: a path and
  /// what this memory is called.
  std::string place() const { return path_ + " " + name_; }
  const std::string& name() const { return name_; }

  /// Copies a value into the area and returns a reference to it; nothing where
  /// the value is too small or too large, memory is short or this worker has no
  /// area. It stays there while fewer than `kept` others follow.
  std::optional<std::string> put(std::string_view bytes, std::int64_t kept);
  /// Whether a text begins like a reference.
  static bool is_reference(std::string_view text);
  /// What a reference leads to. Throws IoError for what is no reference into
  /// this memory.
  Value find(const std::string& reference) const;
  /// Whether the value was there up to now. Ask after its bytes were read.
  bool is_kept(const Value& value) const;

 private:
  struct Header;

  SharedMemory(int descriptor, std::string path, std::string name);
  std::size_t byte_count() const;
  void map(int areas);
  Header& header(int area) const;
  char* area_begin(int area) const;
  bool take_area(int area);

  int descriptor_;
  std::string path_;
  std::string name_;  // random
  char* memory_ = nullptr;
  int areas_ = 0;
  int own_ = -1;  // the area that this worker writes
};

}  // namespace radir::collective
