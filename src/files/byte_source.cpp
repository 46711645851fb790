#include "radir/files/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"

namespace radir::files {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

std::size_t read_descriptor(const std::string& name, int descriptor, char* out,
                            std::size_t size) {
  for (;;) {
    const ssize_t count = ::read(descriptor, out, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw_file_error("read", name, errno);
  }
}

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : ByteSource(path) {
    descriptor_ = repeat_interrupted(
        [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (descriptor_ < 0) throw_file_error("open", path, errno);
  }
  ~FileSource() override { ::close(descriptor_); }

  std::size_t read(char* out, std::size_t size) override {
    return read_descriptor(name(), descriptor_, out, size);
  }

 private:
  int descriptor_;
};

class StandardInput : public ByteSource {
 public:
  StandardInput() : ByteSource("standard input") {}

  std::size_t read(char* out, std::size_t size) override {
    return read_descriptor(name(), STDIN_FILENO, out, size);
  }
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes)
      : ByteSource(std::move(name)), rest_(bytes) {}

  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = rest_.copy(out, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

// Hands bytes on as they are, or inflates them when they begin with the gzip
// mark. Several gzip members in a row count as one file (RFC 1952, 2.2).
class InflatingSource : public ByteSource {
 public:
  explicit InflatingSource(std::unique_ptr<ByteSource> raw)
      : ByteSource(raw->name()), raw_(std::move(raw)), block_(kReadBytes) {
    fill();
    if (available_ == 1) fill_more();
    compressed_ = begins_with_mark();
    if (compressed_) start_inflate();
  }
  ~InflatingSource() override {
    if (compressed_) ::inflateEnd(&stream_);
  }

  std::size_t read(char* out, std::size_t size) override {
    if (size == 0) return 0;
    return compressed_ ? inflate_into(out, size) : copy_into(out, size);
  }

 private:
  void fill() {
    position_ = 0;
    available_ = raw_->read(block_.data(), block_.size());
    consumed_ += available_;
  }

  // A pipe may hand over a single byte first, one short of the mark.
  void fill_more() {
    const std::size_t more =
        raw_->read(block_.data() + available_, block_.size() - available_);
    available_ += more;
    consumed_ += more;
  }

  bool begins_with_mark() const {
    return available_ >= 2 && block_[0] == '\x1f' && block_[1] == '\x8b';
  }

  void start_inflate() {
    constexpr int kGzipOnly = 16;
    const int status = ::inflateInit2(&stream_, MAX_WBITS + kGzipOnly);
    RADIR_CHECK(status == Z_OK, IoError, "cannot read ", name(),
                ": zlib cannot be initialised (", status, ")");
  }

  std::size_t copy_into(char* out, std::size_t size) {
    if (available_ == 0) return raw_->read(out, size);
    const std::size_t count = std::min(size, available_);
    std::memcpy(out, block_.data() + position_, count);
    position_ += count;
    available_ -= count;
    return count;
  }

  std::size_t inflate_into(char* out, std::size_t size) {
    // zlib counts in unsigned int.
    size = std::min<std::size_t>(size, 1U << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (available_ == 0) fill();
      if (member_ended_) {
        if (available_ == 0) return 0;
        start_next_member();
      }
      check_not_cut();
      inflate_block();
    }
    return size - stream_.avail_out;
  }

  void inflate_block() {
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data() + position_);
    stream_.avail_in = static_cast<uInt>(available_);
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    position_ += available_ - stream_.avail_in;
    available_ = stream_.avail_in;
    member_ended_ = status == Z_STREAM_END;
    RADIR_CHECK(status == Z_OK || member_ended_, IoError, name(),
                ": the gzip data is damaged near byte ", consumed_ - available_,
                " of the file (", stream_.msg ? stream_.msg : "unknown", ")",
                "; copy or download it again");
  }

  void start_next_member() {
    if (available_ == 1) {
      block_[0] = block_[position_];
      position_ = 0;
      fill_more();
    }
    const char* next = block_.data() + position_;
    RADIR_CHECK(available_ >= 2 && next[0] == '\x1f' && next[1] == '\x8b',
                IoError, name(), ": after the gzip data, at byte ",
                consumed_ - available_,
                ", come bytes that are not gzip; copy or download it again");
    ::inflateReset(&stream_);
    member_ended_ = false;
  }

  void check_not_cut() const {
    RADIR_CHECK(available_ > 0, IoError, name(), ": the gzip data ends after ",
                consumed_,
                " bytes, before its end mark: the file is truncated; copy or "
                "download it again");
  }

  std::unique_ptr<ByteSource> raw_;
  std::vector<char> block_;
  std::size_t position_ = 0;   // of the next byte in block_
  std::size_t available_ = 0;  // bytes from there on
  std::size_t consumed_ = 0;   // bytes taken from raw_ so far
  bool compressed_ = false;
  bool member_ended_ = false;
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  return std::make_unique<InflatingSource>(std::make_unique<FileSource>(path));
}

std::unique_ptr<ByteSource> standard_input_source() {
  return std::make_unique<InflatingSource>(std::make_unique<StandardInput>());
}

std::unique_ptr<ByteSource> memory_byte_source(std::string name,
                                               std::string_view bytes) {
  return std::make_unique<InflatingSource>(
      std::make_unique<MemorySource>(std::move(name), bytes));
}

std::string read_all(ByteSource& source, std::size_t limit) {
  std::string text;
  std::vector<char> block(kReadBytes);
  while (const std::size_t count = source.read(block.data(), block.size())) {
    RADIR_CHECK(count <= limit - text.size(), IoError, source.name(),
                ": longer than the limit of ", limit, " bytes");
    text.append(block.data(), count);
  }
  return text;
}

}  // namespace radir::files
