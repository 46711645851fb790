#include "radir/train/step.h"

#include <algorithm>
#include <utility>

#include "radir/core/error.h"
#include "train/posterior_set.h"

namespace radir::train {

template <typename T>
TrainingState<T> state_from(std::vector<T> parameters, std::uint64_t seed,
                            const Optimizer& optimizer) {
  TrainingState<T> state;
  state.optimizer = fresh_state<T>(optimizer, parameters.size());
  state.parameters = std::move(parameters);
  state.seed = seed;
  return state;
}

template <typename T>
TrainingState<T> initial_state(const Model& model, std::uint64_t seed,
                               std::int64_t data_count,
                               const Optimizer& optimizer) {
  RADIR_CHECK(data_count > 0, ArgumentError, "initial_state: the number of ",
              "training examples must be positive, but is ", data_count);
  std::vector<T> parameters(static_cast<std::size_t>(model.parameter_count()));
  PosteriorSet<T>(model).initialize(seed, parameters.data());

  std::vector<double> own(
      static_cast<std::size_t>(model.likelihood_parameter_count()));
  model.likelihood().initialize(data_count * model.target_size(), own.data());
  std::transform(own.begin(), own.end(),
                 parameters.begin() + model.likelihood_offset(),
                 [](double value) { return T(value); });
  return state_from(std::move(parameters), seed, optimizer);
}

template TrainingState<float> state_from(std::vector<float>, std::uint64_t,
                                         const Optimizer&);
template TrainingState<double> state_from(std::vector<double>, std::uint64_t,
                                          const Optimizer&);
template TrainingState<float> initial_state(const Model&, std::uint64_t,
                                            std::int64_t, const Optimizer&);
template TrainingState<double> initial_state(const Model&, std::uint64_t,
                                             std::int64_t, const Optimizer&);

}  // namespace radir::train
