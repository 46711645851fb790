#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/grid_team.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/network_training.h"
#include "kernels/cuda/training_kernel.h"
#include "radir/kernels/training_plan.h"

// Large networks: each is trained by several blocks, in global memory.

namespace radir::kernels {

/// Each team of blocks trains one network after the other. All blocks must run
/// at the same time.
template <typename T>
__global__ void __launch_bounds__(kGridThreads, 1)
    train_large_networks(const Launch<T>* launch_there, GridTeamState* states,
                         int teams, int networks) {
  // The plan is read throughout.
  __shared__ __align__(16) unsigned char storage[sizeof(Launch<T>)];
  const auto& launch = *reinterpret_cast<const Launch<T>*>(storage);
  copy(BlockTeam(), static_cast<int>(sizeof(Launch<T>) / sizeof(std::uint64_t)),
       reinterpret_cast<const std::uint64_t*>(launch_there),
       reinterpret_cast<std::uint64_t*>(storage));
  __syncthreads();
  const int blocks = static_cast<int>(gridDim.x) / teams;
  const int own = static_cast<int>(blockIdx.x) / blocks;
  const GridTeam team(states + own, static_cast<int>(blockIdx.x) - own * blocks,
                      blocks);
#pragma unroll 1
  for (int n = own; n < networks; n += teams) {
    const NetworkView<T> network =
        network_view<T, false>(launch, n, /*shared=*/nullptr);
    NetworkTraining<T, GridTeam>(team, launch.plan, network)
        .run(launch.begin, launch.end);
    team.sync();
    if (launch.gradient == nullptr) continue;
    const int count = launch.plan.parameters;
    T* const to = launch.gradient + std::int64_t{n} * count;
    team.for_each(count, [&](int i) { to[i] = network.memory.gradient[i]; });
  }
}

}  // namespace radir::kernels
