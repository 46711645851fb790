#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/block_team.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/network_training.h"
#include "radir/kernels/training_plan.h"

namespace radir::kernels {

constexpr int kMostThreads = 512;

template <typename V>
__device__ inline void copy(const BlockTeam& team, int count, const V* from,
                            V* to) {
  if (from == to) return;
  team.for_each(count, [&](int i) { to[i] = from[i]; });
}

/// The arrays of network n, in the block's shared memory or where they are
/// stored. With kFast those of a step are in shared memory, and the compiler
/// sees it: addresses and their arithmetic take half the instructions.
template <typename T, bool kFast>
__device__ inline NetworkView<T> network_view(const Launch<T>& launch,
                                              std::int64_t n,
                                              unsigned char* shared) {
  const TrainingPlan& plan = launch.plan;
  const Placement& placement = launch.placement;
  unsigned char* const workspace =
      launch.workspace + n * placement.workspace_bytes;
  const auto section = [&](Section which) -> void* {
    const int i = static_cast<int>(which);
    return (placement.shared[i] ? shared : workspace) + placement.offset[i];
  };
  const auto of_step = [&](Section which) -> void* {
    if constexpr (kFast) {
      return shared + placement.offset[static_cast<int>(which)];
    } else {
      return section(which);
    }
  };
  // State that has no place in fast memory is changed where it is stored.
  const auto state = [&](Section which, T* stored) {
    return placement.shared[static_cast<int>(which)]
               ? static_cast<T*>(section(which))
               : stored;
  };
  const std::int64_t at = n * plan.parameters;
  NetworkView<T> network;
  network.numbers = launch.numbers;
  network.inputs = launch.inputs;
  network.targets = launch.targets;
  network.seed = launch.seeds[n];
  network.memory.parameters =
      kFast ? static_cast<T*>(of_step(Section::Parameters))
            : state(Section::Parameters, launch.parameters + at);
  network.memory.gradient = static_cast<T*>(of_step(Section::Gradient));
  network.memory.scratch = static_cast<T*>(of_step(Section::Scratch));
  network.memory.doubles = static_cast<double*>(of_step(Section::Doubles));
  network.first_moment = state(Section::FirstMoment, launch.first_moment + at);
  network.second_moment =
      state(Section::SecondMoment, launch.second_moment + at);
  network.order = {{section(Section::Current), placement.wide},
                   {section(Section::Next), placement.wide},
                   static_cast<std::int32_t*>(of_step(Section::Picks)),
                   plan.rows,
                   plan.batch,
                   network.seed,
                   plan.shuffle_stream,
                   launch.row_order + n * plan.rows};
  network.order_is_kept = launch.order_is_kept;
  network.reports = launch.reports + n * plan.reports();
  network.outcome = launch.outcomes + n;
  return network;
}

/// Each block trains the network that `of_block` names, and leaves the cycles
/// that it took.
template <typename T, bool kFast>
__global__ void __launch_bounds__(kMostThreads, 1)
    train_networks(const Launch<T>* launches, const BlockWork* of_block,
                   std::int64_t* cycles) {
  extern __shared__ __align__(16) unsigned char shared[];
  // The plan is read throughout.
  __shared__ __align__(16) unsigned char storage[sizeof(Launch<T>)];
  const auto& launch = *reinterpret_cast<const Launch<T>*>(storage);
  const std::int64_t start = clock64();
  const BlockTeam team;
  const BlockWork work = of_block[blockIdx.x];
  static_assert(sizeof(Launch<T>) % sizeof(std::uint64_t) == 0);
  copy(team, static_cast<int>(sizeof(Launch<T>) / sizeof(std::uint64_t)),
       reinterpret_cast<const std::uint64_t*>(launches + work.launch),
       reinterpret_cast<std::uint64_t*>(storage));
  team.sync();
  const std::int64_t n = work.network;
  const NetworkView<T> network = network_view<T, kFast>(launch, n, shared);
  const TrainingPlan& plan = launch.plan;
  const std::int64_t at = n * plan.parameters;
  const int count = plan.parameters;
  copy(team, count, launch.parameters + at, network.memory.parameters);
  copy(team, count, launch.first_moment + at, network.first_moment);
  copy(team, count, launch.second_moment + at, network.second_moment);
  team.sync();
  NetworkTraining<T, BlockTeam>(team, plan, network)
      .run(launch.begin, launch.end);
  team.sync();
  copy(team, count, network.memory.parameters, launch.parameters + at);
  copy(team, count, network.first_moment, launch.first_moment + at);
  copy(team, count, network.second_moment, launch.second_moment + at);
  if (launch.gradient != nullptr) {
    copy(team, count, network.memory.gradient, launch.gradient + at);
  }
  team.task(0, [&] { cycles[blockIdx.x] = clock64() - start; });
}

}  // namespace radir::kernels
