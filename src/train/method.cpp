#include "radir/train/method.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "radir/core/error.h"
#include "radir/train/compiled_step.h"
#include "radir/train/coordinate_ascent.h"
#include "radir/train/hmc.h"
#include "radir/train/pbp.h"
#include "radir/train/sghmc.h"

namespace radir::train {
namespace {

/// Stochastic gradient steps on the evidence lower bound.
template <typename T>
class Elbo final : public Method<T> {
 public:
  explicit Elbo(const MethodSetup& setup)
      : model_(setup.model),
        data_count_(setup.data_count),
        optimizer_(setup.optimizer),
        device_(setup.execution.device),
        batch_size_(std::min(setup.batch_size, setup.data_count)),
        step_(setup.model, batch_size_, setup.execution, nullptr,
              setup.sharded) {}

  std::int64_t batch_size() const override { return batch_size_; }

  TrainingState<T> initial_state(std::uint64_t seed) const override {
    auto state = train::initial_state<T>(model_, seed, data_count_, optimizer_);
    state.device = device_;
    return state;
  }

  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) override {
    return step_.step(state, batch, settings);
  }

 private:
  Model model_;
  std::int64_t data_count_;
  Optimizer optimizer_;
  Device device_;
  std::int64_t batch_size_;
  CompiledStep<T> step_;
};

/// A deque, so that entries stay where they are.
std::deque<MethodInfo>& registry() {
  static std::deque<MethodInfo> entries = {
      method_info<Elbo>(
          "elbo", "Stochastic gradient steps on the evidence lower bound"),
      method_info<CoordinateAscent>(
          "coordinate-ascent",
          "Exact coordinate ascent for a linear model with normal weights"),
      method_info<Hmc>("hmc", "Hamiltonian Monte Carlo on the exact posterior"),
      method_info<Pbp>("pbp",
                       "Probabilistic backpropagation: passes of moment "
                       "matching, for regression"),
      method_info<Sghmc>("sghmc",
                         "Hamiltonian Monte Carlo on gradients of batches, "
                         "with a bias")};
  return entries;
}

const MethodInfo* find(const std::string& name) {
  for (const MethodInfo& method : registry()) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace

void register_method(MethodInfo method) {
  RADIR_CHECK(!method.name.empty(), ArgumentError,
              "register_method: the method has no name");
  RADIR_CHECK(find(method.name) == nullptr, ArgumentError,
              "register_method: there is a method \"", method.name,
              "\" already; choose another name");
  registry().push_back(std::move(method));
}

const MethodInfo& find_method(const std::string& name) {
  if (const MethodInfo* found = find(name)) return *found;
  std::string names;
  for (const MethodInfo* method : methods()) {
    names += (names.empty() ? "" : ", ") + method->name;
  }
  detail::throw_error<ArgumentError>("training: there is no method \"", name,
                                     "\"; there are ", names);
}

std::vector<const MethodInfo*> methods() {
  std::vector<const MethodInfo*> result;
  for (const MethodInfo& method : registry()) result.push_back(&method);
  return result;
}

}  // namespace radir::train
