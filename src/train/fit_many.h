#pragma once

#include <functional>

#include "radir/kernels/training_plan.h"
#include "radir/train/fit_many.h"

namespace radir::train {

/// Something that runs training requests, such as kernels::train_on_cuda.
template <typename T>
using RequestRunner = std::function<void(kernels::TrainingRequest<T>&)>;

/// fit_many by whatever runs its request.
template <typename T>
std::vector<TrainingResult<T>> fit_many_by(
    const RequestRunner<T>& runner, const Model& model, const DataView<T>& data,
    const TrainerOptions& options, const std::vector<std::uint64_t>& seeds,
    const StepsCallback& callback);

}  // namespace radir::train
