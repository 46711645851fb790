#include "radir/data/idx.h"

#include "fuzz/targets.h"

namespace radir::fuzz {
namespace {

void labels(std::string_view bytes) {
  const auto labels =
      data::read_idx_labels(*files::memory_byte_source("labels", bytes));
  for (const std::uint8_t label : labels) {
    require(label < 10, "labels are below the number of classes");
  }
}

}  // namespace

void idx(std::string_view bytes) {
  feed(labels, bytes);
  const data::ImageSet set =
      data::read_idx_images(*files::memory_byte_source("images", bytes));
  const std::int64_t pixels = set.count * set.rows * set.columns;
  require(static_cast<std::int64_t>(set.pixels.size()) == pixels,
          "there are as many pixels as the sizes say");
}

}  // namespace radir::fuzz
