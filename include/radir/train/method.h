#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "radir/train/hmc_options.h"
#include "radir/train/sharded_sum.h"
#include "radir/train/step.h"

// The algorithms the trainer's loop can drive, by name. A new one is a class
// and a line in the registry; the state, the predictor and all files stay as
// they are, because every method works on the flat parameters of a Model.

namespace radir::train {

/// What a method is made from.
struct MethodSetup {
  const Model& model;
  std::int64_t data_count = 0;  ///< examples of the training set
  std::int64_t batch_size = 0;  ///< wanted by the user
  Optimizer optimizer;
  Execution execution;
  HmcOptions hmc = {};
  /// TrainerOptions::sharded
  ShardedSum* sharded = nullptr;
};

/// An algorithm that fits the parameters of a model, step by step. T is float
/// or double.
template <typename T>
class Method {
 public:
  virtual ~Method() = default;

  /// Examples each step takes, the last of an epoch possibly fewer; a method
  /// that needs all of them says so here. At most MethodSetup::data_count.
  virtual std::int64_t batch_size() const = 0;

  /// The state before the first step.
  virtual TrainingState<T> initial_state(std::uint64_t seed) const = 0;

  /// Advances the state by one step. The result must depend on its arguments
  /// alone, so that training can be resumed from any state.
  virtual StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                        const StepSettings& settings) = 0;

  /// Whether the result is a number of draws, each a set of parameters of a
  /// model of spec_of_draws(), instead of the state's parameters.
  virtual bool is_sampler() const { return false; }
  /// Called after each step of a sampler: appends the draw to keep, if any.
  virtual void keep_draw(const TrainingState<T>& /*state*/,
                         std::vector<T>& /*kept*/) {}
};

template <typename T>
using MethodFactory =
    std::function<std::unique_ptr<Method<T>>(const MethodSetup&)>;

/// An entry of the registry.
struct MethodInfo {
  std::string name;         ///< "elbo"
  std::string description;  ///< a noun phrase
  /// May throw UnsupportedError for a model the method cannot train.
  MethodFactory<float> make_float;
  MethodFactory<double> make_double;

  template <typename T>
  std::unique_ptr<Method<T>> make(const MethodSetup& setup) const {
    if constexpr (std::is_same_v<T, float>) {
      return make_float(setup);
    } else {
      return make_double(setup);
    }
  }
};

/// The entry of a class template whose constructor takes a MethodSetup.
template <template <typename> class Class>
MethodInfo method_info(std::string name, std::string description) {
  return {std::move(name), std::move(description),
          [](const MethodSetup& setup) {
            return std::make_unique<Class<float>>(setup);
          },
          [](const MethodSetup& setup) {
            return std::make_unique<Class<double>>(setup);
          }};
}

/// Adds a method. Throws ArgumentError when the name is empty or taken. Not to
/// be called while another thread looks methods up.
void register_method(MethodInfo method);

/// Throws ArgumentError that lists the names there are.
const MethodInfo& find_method(const std::string& name);

/// All methods: "elbo" (gradient steps on the evidence lower bound),
/// "coordinate-ascent" (see coordinate_ascent.h), "hmc" (see hmc.h), "pbp" (see
/// pbp.h), "sghmc" (see sghmc.h) and those registered since.
std::vector<const MethodInfo*> methods();

}  // namespace radir::train
