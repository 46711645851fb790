#include "radir/io/safetensors.h"

#include "fuzz/targets.h"
#include "radir/io/checkpoint.h"
#include "radir/io/model_file.h"

namespace radir::fuzz {
namespace {

constexpr const char* kChecksum = "radir.crc32";

void add(io::SafetensorsWriter& writer, const std::string& name,
         const io::TensorView& tensor) {
  const void* const data = tensor.bytes.data();
  switch (tensor.dtype) {
    case io::Dtype::F64:
      return writer.add(name, tensor.shape, static_cast<const double*>(data));
    case io::Dtype::F32:
      return writer.add(name, tensor.shape, static_cast<const float*>(data));
    case io::Dtype::I64:
      return writer.add(name, tensor.shape,
                        static_cast<const std::int64_t*>(data));
    case io::Dtype::I32:
      return writer.add(name, tensor.shape,
                        static_cast<const std::int32_t*>(data));
    case io::Dtype::U8:
      return writer.add(name, tensor.shape,
                        static_cast<const std::uint8_t*>(data));
  }
}

std::string written_again(const io::SafetensorsFile& file) {
  io::SafetensorsWriter writer;
  for (const auto& [key, value] : file.metadata()) {
    if (key != kChecksum) writer.set_metadata(key, value);
  }
  for (const auto& [name, tensor] : file.tensors()) add(writer, name, tensor);
  return writer.bytes();
}

void require_equal(const io::SafetensorsFile& a, const io::SafetensorsFile& b) {
  auto metadata = a.metadata();
  metadata[kChecksum] = b.metadata(kChecksum);
  require(metadata == b.metadata(), "metadata survive a round trip");
  require(a.tensors().size() == b.tensors().size(),
          "tensors survive a round trip");
  for (const auto& [name, tensor] : a.tensors()) {
    const io::TensorView& other = b.tensor(name);
    require(tensor.dtype == other.dtype && tensor.shape == other.shape &&
                tensor.bytes == other.bytes,
            "a tensor survives a round trip");
  }
}

void container(std::string_view bytes) {
  const io::SafetensorsFile file("file", bytes);
  const std::string again = written_again(file);
  require_equal(file, io::SafetensorsFile("again", again));
}

void as_model(std::string_view bytes) { io::read_model("model", bytes); }

void as_checkpoint(std::string_view bytes) {
  io::read_checkpoint<float>("checkpoint", bytes, "{}");
}

}  // namespace

void safetensors(std::string_view bytes) {
  feed(container, bytes);
  feed(as_model, bytes);
  feed(as_checkpoint, bytes);
}

}  // namespace radir::fuzz
