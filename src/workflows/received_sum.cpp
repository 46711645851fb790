#include "workflows/received_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "radir/core/error.h"
#include "radir/train/sharded_sum.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

ReceivedSum::ReceivedSum(const collective::SharedMemory* memory,
                         collective::SharedText text, std::size_t before,
                         std::int64_t count)
    : memory_(memory),
      text_(std::move(text)),
      byte_count_(static_cast<std::size_t>(count) * sizeof(float)) {
  before = std::min(before, text_->size());
  size_ = text_->size() - before;
  bytes_ = text_->data() + before;
  // Smaller sums are in the text; what is smaller than they may be is none.
  constexpr std::size_t kLeast = collective::SharedMemory::kLeastBytes;
  const bool is_reference =
      size_ < kLeast && byte_count_ >= kLeast &&
      collective::SharedMemory::is_reference({bytes_, size_});
  if (!is_reference) return;
  RADIR_CHECK(memory != nullptr, collective::ConnectionError,
              "the other workers share memory of their machine; give this one ",
              "their RADIR_JOB_MEMORY");
  in_memory_ = memory->find(text_->substr(before));
  size_ = in_memory_->size;
  bytes_ = in_memory_->bytes;
}

void ReceivedSum::check_kept() const {
  if (in_memory_ && !memory_->is_kept(*in_memory_)) throw Rejoin(kWentOn);
}

void ReceivedSum::copy_to(float* sum) const {
  std::memcpy(sum, bytes_, byte_count_);
  check_kept();
}

void ReceivedSum::add_to(float* sum) const {
  train::add_to(reinterpret_cast<const float*>(bytes_),
                static_cast<std::int64_t>(byte_count_ / sizeof(float)), sum);
  check_kept();
}

bool ReceivedSum::equals(const float* sum) const {
  const bool result = std::memcmp(bytes_, sum, byte_count_) == 0;
  check_kept();
  return result;
}

}  // namespace radir::workflows
