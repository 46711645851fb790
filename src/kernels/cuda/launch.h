#pragma once

#include <cstddef>
#include <cstdint>

#include "radir/kernels/training_plan.h"

// What a launch of the training kernel is given, and which arrays of a network
// stand in the fast memory of its block.

namespace radir::kernels {

/// The arrays of a network, in the order in which they get fast memory.
enum class Section : int {
  Doubles,
  Picks,
  Scratch,
  Parameters,
  Gradient,
  Next,
  FirstMoment,
  SecondMoment,
  Current,
  Count,
};

constexpr int kSections = static_cast<int>(Section::Count);

/// Where the sections are: in the block's shared memory, or in the network's
/// part of the workspace.
struct Placement {
  bool shared[kSections];
  std::int64_t offset[kSections];  // bytes
  std::int64_t shared_bytes;       // of a block
  std::int64_t workspace_bytes;    // of a network
  bool wide;                       // row numbers of 32 bits

  /// Whether all that a step works on, but the moments, is in shared memory.
  bool is_fast() const {
    for (Section which : {Section::Doubles, Section::Picks, Section::Scratch,
                          Section::Parameters, Section::Gradient}) {
      if (!shared[static_cast<int>(which)]) return false;
    }
    return true;
  }

  template <typename T>
  static Placement make(const TrainingPlan& plan, std::int64_t most_shared) {
    Placement placement = {};
    placement.wide = plan.rows > 65536;
    const std::int64_t row_bytes = placement.wide ? 4 : 2;
    const std::int64_t number = sizeof(T);
    const std::int64_t all = number * plan.parameters;
    const std::int64_t bytes[kSections] = {8 * std::int64_t{plan.double_count},
                                           4 * std::int64_t{plan.batch},
                                           number * plan.scratch_count,
                                           all,
                                           all,
                                           row_bytes * plan.rows,
                                           all,
                                           all,
                                           row_bytes * plan.rows};
    for (int i = 0; i < kSections; ++i) {
      const std::int64_t size = (bytes[i] + 15) / 16 * 16;
      const bool fits = placement.shared_bytes + size <= most_shared;
      placement.shared[i] = fits;
      std::int64_t& used =
          fits ? placement.shared_bytes : placement.workspace_bytes;
      placement.offset[i] = used;
      used += size;
    }
    return placement;
  }
};

/// What a launch does for one request. All pointers are to memory of the
/// device.
template <typename T>
struct alignas(8) Launch {
  TrainingPlan plan;
  Placement placement;
  std::int64_t begin;
  std::int64_t end;
  bool order_is_kept;  // NetworkView::order_is_kept
  const StepNumbers* numbers;
  const T* inputs;
  const T* targets;
  const std::uint64_t* seeds;
  const std::int32_t* row_order;
  T* parameters;
  T* first_moment;
  T* second_moment;
  T* gradient;
  EpochLoss* reports;
  TrainingOutcome* outcomes;
  unsigned char* workspace;
};

/// What one block does: a network of one of the launch's requests.
struct BlockWork {
  std::int32_t launch;
  std::int32_t network;
};

}  // namespace radir::kernels
