#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

namespace radir::train {

/// Called now and then with the steps that each network has done; returning
/// false stops all of them.
using StepsCallback = std::function<bool(std::int64_t steps)>;

/// Fits a model to data once for each seed, by the steps of
/// TrainerOptions::method; the seed of the options is not read. On the CPU
/// these are the results of fit(), several at a time where there is a pool. On
/// a CUDA device small ones train at once, each in a block of threads, and
/// large ones share the multiprocessors; both from the CPU's random numbers;
/// the results differ from the CPU's by rounding, and are the same bits each
/// time on one kind of device. The history of a device has some 200 epochs at
/// most.
///
/// Throws as fit() does, UnsupportedError for a model or options that the
/// device cannot train (docs/gpu.md lists what it can) and where there is no
/// such device, MemoryError where it has too little memory.
template <typename T>
std::vector<TrainingResult<T>> fit_many(
    const Model& model, const DataView<T>& data, const TrainerOptions& options,
    const std::vector<std::uint64_t>& seeds, Execution execution = {},
    const StepsCallback& callback = nullptr);

}  // namespace radir::train
