#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace radir::files {

/// A stream of bytes read once from front to back, with a name for messages.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return name_; }

  /// Puts up to `size` bytes at `out` and returns how many; 0 only at the end.
  /// Throws IoError when the file cannot be read or is damaged.
  virtual std::size_t read(char* out, std::size_t size) = 0;

 private:
  std::string name_;
};

/// Opens a file, plain or gzip (told by its first bytes, not its name). A gzip
/// file that is cut, fails its checksum or is followed by other bytes throws
/// IoError when the reader gets there.
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

/// The same over the standard input of the program, which can be read once.
std::unique_ptr<ByteSource> standard_input_source();

/// The same over bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> memory_byte_source(std::string name,
                                               std::string_view bytes);

/// The rest of a source as one string. Throws IoError once it is longer than
/// `limit` bytes.
std::string read_all(ByteSource& source, std::size_t limit);

}  // namespace radir::files
