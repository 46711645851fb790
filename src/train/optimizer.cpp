#include "radir/train/optimizer.h"

#include <algorithm>

#include "radir/core/error.h"

namespace radir::train {
namespace {

constexpr const char* kFirstMoment = "first_moment";
constexpr const char* kSecondMoment = "second_moment";

kernels::AdamOptions adam_options(const Optimizer& optimizer) {
  kernels::AdamOptions options;
  options.learning_rate = optimizer.learning_rate;
  options.beta1 = optimizer.beta1;
  options.beta2 = optimizer.beta2;
  options.epsilon = optimizer.epsilon;
  options.weight_decay = optimizer.weight_decay;
  return options;
}

template <typename T>
T* slot(OptimizerState<T>& state, const char* name, std::size_t count) {
  const auto found = state.slots.find(name);
  RADIR_CHECK(found != state.slots.end() && found->second.size() == count,
              ArgumentError, "optimizer: the state has no \"", name, "\" of ",
              count, " parameters; it is that of another optimizer ",
              "or model");
  return found->second.data();
}

}  // namespace

void describe(SettingsVisitor& visit, Optimizer& optimizer) {
  visit.choice(
      {"optimizer", "How gradients become updates of the parameters", {}},
      optimizer.kind, {{Optimizer::Kind::Adam, "adam"}});
  visit.number({"learning_rate", "Learning rate", at_least(0)},
               optimizer.learning_rate);
  const Range decay = {0, 1, true, false};
  visit.number({"beta1", "Decay of Adam's mean of the gradients", decay},
               optimizer.beta1);
  visit.number({"beta2", "Decay of Adam's mean of their squares", decay},
               optimizer.beta2);
  visit.number({"epsilon", "Number added to the root of that mean", above(0)},
               optimizer.epsilon);
  visit.number({"weight_decay", "Share of each parameter added to its gradient",
                at_least(0)},
               optimizer.weight_decay);
}

template <typename T>
OptimizerState<T> fresh_state(const Optimizer& optimizer,
                              std::size_t parameter_count) {
  OptimizerState<T> state;
  switch (optimizer.kind) {
    case Optimizer::Kind::Adam:
      for (const char* name : {kFirstMoment, kSecondMoment}) {
        state.slots[name].assign(parameter_count, T(0));
      }
      break;
  }
  return state;
}

template <typename T>
bool have_same_slots(const OptimizerState<T>& a, const OptimizerState<T>& b) {
  return std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(),
                    b.slots.end(), [](const auto& x, const auto& y) {
                      return x.first == y.first &&
                             x.second.size() == y.second.size();
                    });
}

template <typename T>
OptimizerPass<T>::OptimizerPass(const Optimizer& optimizer, std::int64_t step,
                                OptimizerState<T>& state,
                                const UpdateArrays<T>& arrays,
                                double gradient_scale)
    : options_(adam_options(optimizer)),
      step_(step),
      gradient_scale_(gradient_scale) {
  buffers_.parameter = arrays.parameters;
  buffers_.gradient = arrays.gradient;
  buffers_.first_moment = slot(state, kFirstMoment, arrays.count);
  buffers_.second_moment = slot(state, kSecondMoment, arrays.count);
  buffers_.rate_multiplier = arrays.rate_multiplier;
}

template <typename T>
void OptimizerPass<T>::operator()(std::int64_t begin,
                                  std::int64_t count) const {
  kernels::adam_step(options_, step_, count, buffers_.from(begin),
                     gradient_scale_);
}

template OptimizerState<float> fresh_state(const Optimizer&, std::size_t);
template OptimizerState<double> fresh_state(const Optimizer&, std::size_t);
template bool have_same_slots(const OptimizerState<float>&,
                              const OptimizerState<float>&);
template bool have_same_slots(const OptimizerState<double>&,
                              const OptimizerState<double>&);
template class OptimizerPass<float>;
template class OptimizerPass<double>;

}  // namespace radir::train
