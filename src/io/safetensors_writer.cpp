#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "io/safetensors_format.h"
#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/files/utf8.h"
#include "radir/io/safetensors.h"

namespace radir::io {
namespace {

using Json = nlohmann::json;

using NamedTensor = std::pair<const std::string, TensorView>;

// Wider elements first, then by name: with a padded header every tensor is
// then aligned to its element.
std::vector<const NamedTensor*> in_file_order(
    const std::map<std::string, TensorView>& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const NamedTensor* a, const NamedTensor* b) {
                     return size_of(a->second.dtype) > size_of(b->second.dtype);
                   });
  return order;
}

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>(value >> 8 * i & 0xFF);
  }
  return bytes;
}

uLong add_to_crc(uLong crc, std::string_view bytes) {
  // zlib takes a null pointer as a request for the starting value.
  if (bytes.empty()) return crc;
  return ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()),
                   bytes.size());
}

}  // namespace

void SafetensorsWriter::set_metadata(const std::string& key,
                                     std::string value) {
  RADIR_CHECK(
      key != kChecksumKey && files::is_utf8(key) && files::is_utf8(value),
      ArgumentError, "SafetensorsWriter: the metadata \"", key,
      "\" is reserved or not UTF-8");
  const bool is_new = metadata_.emplace(key, std::move(value)).second;
  RADIR_CHECK(is_new, ArgumentError, "SafetensorsWriter: the metadata \"", key,
              "\" is set already");
}

void SafetensorsWriter::add_bytes(const std::string& name, Dtype dtype,
                                  std::vector<std::int64_t> shape,
                                  const void* data) {
  RADIR_CHECK(name != kMetadataKey && files::is_utf8(name), ArgumentError,
              "SafetensorsWriter: the tensor name \"", name,
              "\" is reserved or not UTF-8");
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t size : shape) {
    RADIR_CHECK(size >= 0, ArgumentError, "SafetensorsWriter: tensor \"", name,
                "\" has the impossible shape ", describe(dtype, shape));
    bytes *= static_cast<std::size_t>(size);
  }
  TensorView tensor{
      dtype, std::move(shape), {static_cast<const char*>(data), bytes}};
  const bool is_new = tensors_.emplace(name, std::move(tensor)).second;
  RADIR_CHECK(is_new, ArgumentError,
              "SafetensorsWriter: two tensors are named "
              "\"",
              name, "\"");
}

// The file up to its first tensor: length, header, padding.
std::string SafetensorsWriter::prefix() const {
  const auto order = in_file_order(tensors_);
  Json header = Json::object();
  header[kMetadataKey] = metadata_;
  header[kMetadataKey][kChecksumKey] = kNoChecksum;
  std::size_t offset = 0;
  for (const NamedTensor* tensor : order) {
    const TensorView& view = tensor->second;
    header[tensor->first] = {
        {"dtype", to_string(view.dtype)},
        {"shape", view.shape},
        {"data_offsets", {offset, offset + view.bytes.size()}}};
    offset += view.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  RADIR_CHECK(text.size() <= kMostHeaderBytes, ArgumentError,
              "SafetensorsWriter: names and metadata take ", text.size(),
              " bytes, more than the format's limit of ", kMostHeaderBytes);
  std::string bytes = little_endian(text.size()) + text;
  uLong crc = add_to_crc(0, bytes);
  for (const NamedTensor* tensor : order) {
    crc = add_to_crc(crc, tensor->second.bytes);
  }
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx", crc);
  bytes.replace(bytes.find(kChecksumEntry) + kChecksumEntry.size(),
                kNoChecksum.size(), digits);
  return bytes;
}

void SafetensorsWriter::write(const std::string& path) const {
  files::AtomicFile file(path);
  file.write(prefix());
  for (const NamedTensor* tensor : in_file_order(tensors_)) {
    file.write(tensor->second.bytes);
  }
  file.commit();
}

std::string SafetensorsWriter::bytes() const {
  std::string bytes = prefix();
  for (const NamedTensor* tensor : in_file_order(tensors_)) {
    bytes += tensor->second.bytes;
  }
  return bytes;
}

}  // namespace radir::io
