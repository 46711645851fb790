#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/network_training.h"
#include "kernels/cuda/team.h"
#include "radir/kernels/training_plan.h"

namespace radir::kernels {

/// What train_on_cuda does, by one thread of the CPU: the oracle of its tests.
template <typename T>
void train_serially(TrainingRequest<T>& request) {
  const TrainingPlan& plan = request.plan;
  const auto rows = static_cast<std::size_t>(plan.rows);
  std::vector<T> scratch(static_cast<std::size_t>(plan.scratch_count));
  std::vector<T> gradient(static_cast<std::size_t>(plan.parameters));
  std::vector<double> doubles(static_cast<std::size_t>(plan.double_count));
  std::vector<std::uint32_t> current(rows), next(rows);
  std::vector<std::int32_t> picks(static_cast<std::size_t>(plan.batch));
  for (std::int64_t n = 0; n < request.networks; ++n) {
    const std::int64_t at = n * plan.parameters;
    NetworkView<T> network;
    network.numbers = request.numbers;
    network.inputs = request.inputs;
    network.targets = request.targets;
    network.seed = request.seeds[n];
    network.memory = {request.parameters + at, gradient.data(), scratch.data(),
                      doubles.data()};
    network.first_moment = request.first_moment + at;
    network.second_moment = request.second_moment + at;
    network.order = {{current.data(), true},
                     {next.data(), true},
                     picks.data(),
                     plan.rows,
                     plan.batch,
                     request.seeds[n],
                     plan.shuffle_stream,
                     request.row_order + n * plan.rows};
    network.order_is_kept = false;
    network.reports = request.reports + n * plan.reports();
    network.outcome = request.outcomes + n;
    NetworkTraining<T, SerialTeam>(SerialTeam(), plan, network)
        .run(request.begin, request.end);
    if (request.gradient != nullptr) {
      std::copy(gradient.begin(), gradient.end(), request.gradient + at);
    }
  }
  request.done = request.end;
}

}  // namespace radir::kernels
