#include "radir/io/safetensors.h"

#include <array>

namespace radir::io {
namespace {

struct DtypeInfo {
  const char* name;
  std::size_t bytes;
};

constexpr std::array<DtypeInfo, 5> kDtypes = {
    {{"F64", 8}, {"F32", 4}, {"I64", 8}, {"I32", 4}, {"U8", 1}}};

}  // namespace

const char* to_string(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)].name;
}

std::size_t size_of(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)].bytes;
}

std::int64_t TensorView::count() const {
  return static_cast<std::int64_t>(bytes.size() / size_of(dtype));
}

std::string describe(Dtype dtype, const std::vector<std::int64_t>& shape) {
  std::string text = std::string(to_string(dtype)) + " [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace radir::io
