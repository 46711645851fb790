#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "io/safetensors_format.h"
#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/nearest_name.h"
#include "radir/files/json_object.h"
#include "radir/files/system_error.h"
#include "radir/files/utf8.h"
#include "radir/io/safetensors.h"

namespace radir::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDimensions = 32;
// The header holds objects of objects of arrays, nothing deeper, and up to a
// million tensors.
constexpr files::JsonLimits kHeaderLimits = {3, 1000000, 10000000};

/// A larger file is mapped itself. A smaller one is copied: if another process
/// cuts a mapped file, looking at it ends the program (SIGBUS).
constexpr std::size_t kMostCopiedBytes = std::size_t{1} << 30;

void read_into(char* bytes, std::size_t size, int descriptor,
               const std::string& path) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::read(descriptor, bytes + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) files::throw_file_error("read", path, errno);
    RADIR_CHECK(count > 0, IoError, path, ": was cut from ", size, " to ", done,
                " bytes while it was read; read it again when it is ",
                "complete");
    done += static_cast<std::size_t>(count);
  }
}

/// Memory with the first `size` bytes of a file.
void* map(int descriptor, std::size_t size, const std::string& path) {
  const bool copied = size <= kMostCopiedBytes;
  void* const bytes =
      copied ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
             : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  RADIR_CHECK(bytes != MAP_FAILED || errno != ENOMEM, MemoryError, path,
              ": there is no memory for its ", size, " bytes; close other ",
              "programs or raise the limit (ulimit -v)");
  if (bytes == MAP_FAILED) files::throw_file_error("map", path, errno);
  if (!copied) return bytes;
  try {
    read_into(static_cast<char*>(bytes), size, descriptor, path);
  } catch (...) {
    ::munmap(bytes, size);
    throw;
  }
  return bytes;
}

/// The bytes of a file, to be unmapped.
std::string_view map_file(const std::string& path) {
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) files::throw_file_error("open", path, errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    RADIR_CHECK(false, IoError, "cannot open ", path,
                ": it is not a regular file; give the path of a model file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  try {
    // An empty file cannot be mapped; the reader rejects it as too short.
    void* const bytes = size == 0 ? nullptr : map(descriptor, size, path);
    ::close(descriptor);
    return {static_cast<const char*>(bytes), size};
  } catch (...) {
    ::close(descriptor);
    throw;
  }
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// The header's text, found without trusting its length.
std::string_view cut_header(const std::string& file, std::string_view bytes) {
  RADIR_CHECK(bytes.size() > kLengthBytes, IoError, file,
              ": not a safetensors file: ", bytes.size(),
              " bytes are too few for a header; the file is truncated or is "
              "something else");
  const std::uint64_t length = little_endian(bytes.substr(0, kLengthBytes));
  RADIR_CHECK(length <= kMostHeaderBytes, IoError, file,
              ": not a safetensors file: its header claims ", length,
              " bytes, more than the limit of ", kMostHeaderBytes);
  RADIR_CHECK(length <= bytes.size() - kLengthBytes, IoError, file,
              ": the header claims ", length, " bytes, but the file has only ",
              bytes.size() - kLengthBytes,
              " after its length; the file is truncated or is not safetensors");
  const std::string_view header = bytes.substr(kLengthBytes, length);
  RADIR_CHECK(!header.empty() && header.front() == '{', IoError, file,
              ": not a safetensors file: the header does not begin with '{'");
  return header;
}

std::map<std::string, std::string> read_metadata(const std::string& file,
                                                 const Json& entries) {
  RADIR_CHECK(entries.is_object(), IoError, file, ": ", kMetadataKey,
              " must be an object of strings");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : entries.items()) {
    RADIR_CHECK(value.is_string(), IoError, file, ": the metadata ",
                files::excerpt(key), " must be a string");
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Reads the entry of one tensor; its bytes lie in `data`.
class TensorEntry {
 public:
  TensorEntry(const std::string& file, const std::string& name,
              const Json& entry)
      : where_(file + ": tensor " + files::excerpt(name)), entry_(entry) {
    RADIR_CHECK(entry.is_object() && entry.size() == 3 &&
                    entry.contains("dtype") && entry.contains("shape") &&
                    entry.contains("data_offsets"),
                IoError, where_,
                " must have dtype, shape and data_offsets and nothing else");
  }

  TensorView view(std::string_view data) const {
    TensorView tensor{dtype(), shape(), {}};
    const auto [begin, end] = offsets();
    RADIR_CHECK(begin <= end && end <= data.size(), IoError, where_,
                " claims the bytes ", begin, " to ", end, " of ", data.size(),
                "; the file is truncated or damaged");
    const std::uint64_t bytes = bytes_of_shape(tensor);
    RADIR_CHECK(bytes == end - begin, IoError, where_, " is ",
                describe(tensor.dtype, tensor.shape), ", which takes ", bytes,
                " bytes, but has ", end - begin);
    tensor.bytes = data.substr(begin, end - begin);
    return tensor;
  }

 private:
  Dtype dtype() const {
    const Json& text = entry_["dtype"];
    for (const Dtype dtype :
         {Dtype::F64, Dtype::F32, Dtype::I64, Dtype::I32, Dtype::U8}) {
      if (text == to_string(dtype)) return dtype;
    }
    detail::throw_error<IoError>(
        where_, " has the dtype ",
        text.is_string() ? files::excerpt(text.get_ref<const std::string&>())
                         : "(not a string)",
        "; F64, F32, I64, I32 and U8 can be read");
  }

  std::vector<std::int64_t> shape() const {
    const Json& sizes = entry_["shape"];
    RADIR_CHECK(sizes.is_array() && sizes.size() <= kMostDimensions, IoError,
                where_, ": the shape must be a list of at most ",
                kMostDimensions, " sizes");
    std::vector<std::int64_t> shape;
    for (const Json& size : sizes) {
      RADIR_CHECK(
          size.is_number_unsigned() && size.get<std::uint64_t>() <= INT64_MAX,
          IoError, where_, ": the sizes of a shape must be integers >= 0");
      shape.push_back(size.get<std::int64_t>());
    }
    return shape;
  }

  std::pair<std::uint64_t, std::uint64_t> offsets() const {
    const Json& offsets = entry_["data_offsets"];
    RADIR_CHECK(offsets.is_array() && offsets.size() == 2 &&
                    offsets[0].is_number_unsigned() &&
                    offsets[1].is_number_unsigned(),
                IoError, where_, ": data_offsets must be two integers >= 0");
    return {offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  }

  std::uint64_t bytes_of_shape(const TensorView& tensor) const {
    std::uint64_t bytes = size_of(tensor.dtype);
    for (const std::int64_t size : tensor.shape) {
      RADIR_CHECK(!__builtin_mul_overflow(
                      bytes, static_cast<std::uint64_t>(size), &bytes),
                  IoError, where_, ": the shape ",
                  describe(tensor.dtype, tensor.shape),
                  " is larger than any file");
    }
    return bytes;
  }

  std::string where_;
  const Json& entry_;
};

// Tensors must cover the data from its first byte to its last, each byte once.
void check_cover(const std::string& file,
                 const std::map<std::string, TensorView>& tensors,
                 std::string_view data) {
  std::vector<std::string_view> ranges;
  for (const auto& [name, tensor] : tensors) ranges.push_back(tensor.bytes);
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
  });
  std::size_t covered = 0;
  for (const std::string_view range : ranges) {
    const auto begin = static_cast<std::size_t>(range.data() - data.data());
    RADIR_CHECK(begin == covered, IoError, file, ": the tensors ",
                begin < covered ? "overlap" : "leave a hole", " at byte ",
                std::min(begin, covered), " of the data");
    covered += range.size();
  }
  RADIR_CHECK(covered == data.size(), IoError, file, ": the tensors take ",
              covered, " bytes, but the file has ", data.size(),
              " after its header; the file is damaged");
}

// The checksum covers all bytes but its own digits, which count as zeros.
void check_checksum(const std::string& file, std::string_view bytes,
                    std::string_view header, const std::string& stored) {
  const std::size_t entry = header.find(kChecksumEntry);
  const std::size_t begin =
      kLengthBytes + entry + kChecksumEntry.size();  // of the digits
  RADIR_CHECK(entry != header.npos && stored.size() == kNoChecksum.size() &&
                  bytes.substr(begin, stored.size()) == stored,
              IoError, file, ": the checksum in ", kChecksumKey,
              " cannot be read; the file is damaged");
  const auto add = [](uLong crc, std::string_view part) {
    return ::crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()),
                     part.size());
  };
  uLong crc = add(0, bytes.substr(0, begin));
  crc = add(crc, kNoChecksum);
  crc = add(crc, bytes.substr(begin + stored.size()));
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx", crc);
  RADIR_CHECK(stored == digits, IoError, file, ": the checksum is ", digits,
              ", but ", stored,
              " was stored: the file was changed or damaged; take it from a "
              "copy");
}

template <typename T>
void check_finite(const std::string& where, const std::vector<T>& values) {
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](T x) { return !std::isfinite(x); });
  RADIR_CHECK(bad == values.end(), IoError, where, " holds ", *bad,
              " at index ", bad - values.begin(),
              "; all its numbers must be finite");
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : name_(path), mapped_(map_file(path)) {
  try {
    read(mapped_);
  } catch (...) {
    unmap();
    throw;
  }
}

SafetensorsFile::SafetensorsFile(std::string name, std::string_view bytes)
    : name_(std::move(name)) {
  read(bytes);
}

SafetensorsFile::~SafetensorsFile() { unmap(); }

void SafetensorsFile::unmap() {
  if (mapped_.empty()) return;
  ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

void SafetensorsFile::read(std::string_view bytes) {
  const std::string_view header = cut_header(name_, bytes);
  const std::string_view data = bytes.substr(kLengthBytes + header.size());
  const Json entries =
      files::parse_json<Json>(name_ + ": the header", header, kHeaderLimits);
  for (const auto& [key, entry] : entries.items()) {
    if (key == kMetadataKey) {
      metadata_ = read_metadata(name_, entry);
    } else {
      tensors_.emplace(key, TensorEntry(name_, key, entry).view(data));
    }
  }
  check_cover(name_, tensors_, data);
  const auto checksum = metadata_.find(kChecksumKey);
  if (checksum != metadata_.end()) {
    check_checksum(name_, bytes, header, checksum->second);
  }
}

const std::string& SafetensorsFile::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  RADIR_CHECK(found != metadata_.end(), IoError, name_,
              " has no metadata named \"", key,
              "\"; it was not written by this program");
  return found->second;
}

bool SafetensorsFile::contains(const std::string& name) const {
  return tensors_.count(name) > 0;
}

const TensorView& SafetensorsFile::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [other, tensor] : tensors_) names.push_back(other);
  detail::throw_error<IoError>(name_, " has no tensor named \"", name, "\"",
                               did_you_mean(name, names));
}

template <typename T>
std::vector<T> SafetensorsFile::values(
    const std::string& name, const std::vector<std::int64_t>& shape) const {
  const TensorView& found = tensor(name);
  const std::string where = name_ + ": tensor \"" + name + "\"";
  RADIR_CHECK(found.dtype == dtype_of<T>() && found.shape == shape, IoError,
              where, " is ", describe(found.dtype, found.shape), ", but ",
              describe(dtype_of<T>(), shape), " is needed");
  std::vector<T> values(static_cast<std::size_t>(found.count()));
  if (!values.empty()) {
    std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
  }
  if constexpr (std::is_floating_point_v<T>) check_finite(where, values);
  return values;
}

template std::vector<double> SafetensorsFile::values(
    const std::string&, const std::vector<std::int64_t>&) const;
template std::vector<float> SafetensorsFile::values(
    const std::string&, const std::vector<std::int64_t>&) const;
template std::vector<std::int64_t> SafetensorsFile::values(
    const std::string&, const std::vector<std::int64_t>&) const;
template std::vector<std::int32_t> SafetensorsFile::values(
    const std::string&, const std::vector<std::int64_t>&) const;
template std::vector<std::uint8_t> SafetensorsFile::values(
    const std::string&, const std::vector<std::int64_t>&) const;

}  // namespace radir::io
