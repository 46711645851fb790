#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace radir::data {

/// `path.part`: the downloaded part of a file. It is kept when the program
/// ends, so that a later one can resume it; an empty one is deleted. Used by
/// one process at a time.
class PartFile {
 public:
  /// Throws IoError when another process holds it or it cannot be written.
  explicit PartFile(std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }
  /// Throws IoError when the disk is full; what fitted is kept.
  void append(std::string_view bytes);
  /// Discards the downloaded bytes.
  void clear();
  /// Makes it the file at `path`, so that it survives a power cut.
  void commit();

 private:
  std::string path_;
  std::string name_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace radir::data
