#pragma once

#include <cstdint>
#include <vector>

#include "radir/kernels/training_plan.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

namespace radir::train {

/// The training of a model on so many examples as a device takes it. Throws
/// UnsupportedError that names what no device can do yet.
kernels::TrainingPlan training_plan(const Model& model,
                                    const TrainerOptions& options,
                                    std::int64_t rows);

/// Learning rate, weight of the KL and optimiser's numbers of each step.
std::vector<kernels::StepNumbers> step_numbers(
    const kernels::TrainingPlan& plan, const TrainerOptions& options);

}  // namespace radir::train
