#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace radir::io {

/// Element types of safetensors files that have a C++ type of their own.
enum class Dtype { F64, F32, I64, I32, U8 };

const char* to_string(Dtype dtype);
std::size_t size_of(Dtype dtype);

/// The Dtype of a C++ type.
template <typename T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, double>) {
    return Dtype::F64;
  } else if constexpr (std::is_same_v<T, float>) {
    return Dtype::F32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return Dtype::I64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return Dtype::I32;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>,
                  "use double, float, std::int64_t, std::int32_t or "
                  "std::uint8_t");
    return Dtype::U8;
  }
}

/// A tensor in a file, row by row; valid while the file object lives.
struct TensorView {
  Dtype dtype;
  std::vector<std::int64_t> shape;
  std::string_view bytes;

  std::int64_t count() const;
};

/// "F32 [3, 4]", for messages.
std::string describe(Dtype dtype, const std::vector<std::int64_t>& shape);

/// A safetensors file, memory-mapped. The constructor checks everything that
/// can be checked without the tensors' meaning and throws IoError with what is
/// wrong: a header longer than the file or than 100 MB (the format's limit),
/// text that is not JSON or not UTF-8, a repeated key, an unknown
/// dtype, a shape that does not match its bytes, tensors that overlap, leave
/// holes or end before or after the file does, metadata that is not text, and,
/// when the file carries the checksum that `SafetensorsWriter` adds, any
/// changed bit. Nothing is allocated by a size the file only claims.
///
/// While the object lives the file may be replaced (`AtomicFile`) but must not
/// be shortened in place: the system answers reads beyond the new end with a
/// SIGBUS.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  /// The same from bytes in memory, which must outlive the object.
  SafetensorsFile(std::string name, std::string_view bytes);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& name() const { return name_; }
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }
  /// The metadata under `key`; throws IoError when there is none.
  const std::string& metadata(const std::string& key) const;

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  bool contains(const std::string& name) const;
  /// Throws IoError when there is no such tensor.
  const TensorView& tensor(const std::string& name) const;

  /// A copy of a tensor's values. Throws IoError when it has another type or
  /// shape, or, for float and double, when a value is not finite.
  template <typename T>
  std::vector<T> values(const std::string& name,
                        const std::vector<std::int64_t>& shape) const;

 private:
  void read(std::string_view bytes);
  void unmap();

  std::string name_;
  std::string_view mapped_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

/// Collects tensors and writes them as one safetensors file, atomically. The
/// bytes depend on the content alone: names are sorted, tensors of wider types
/// come first so that each is aligned to its element, and the header is padded
/// to eight bytes. The metadata entry "radir.crc32" holds the CRC-32 of the
/// file with that entry's eight digits as zeros.
class SafetensorsWriter {
 public:
  /// Throws ArgumentError for a key that is taken, reserved or not UTF-8.
  void set_metadata(const std::string& key, std::string value);

  /// Adds a tensor; `data` must stay valid until it is written. Throws
  /// ArgumentError for a name that is taken, reserved or not UTF-8, or a shape
  /// with a negative size.
  template <typename T>
  void add(const std::string& name, std::vector<std::int64_t> shape,
           const T* data);

  /// Throws IoError when the file cannot be written.
  void write(const std::string& path) const;
  /// The complete file as one string.
  std::string bytes() const;

 private:
  void add_bytes(const std::string& name, Dtype dtype,
                 std::vector<std::int64_t> shape, const void* data);
  std::string prefix() const;

  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

template <typename T>
void SafetensorsWriter::add(
    const std::string& name,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from.
    std::vector<std::int64_t> shape, const T* data) {
  add_bytes(name, dtype_of<T>(), std::move(shape), data);
}

}  // namespace radir::io
