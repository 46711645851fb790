#include "radir/kernels/training_plan.h"

#include "radir/core/error.h"

namespace radir::kernels {
namespace {

/// Hands out consecutive places of a buffer, each a whole number of quads.
class Places {
 public:
  std::int32_t take(std::int64_t count) {
    const std::int64_t at = used_;
    used_ += (count + kQuad - 1) / kQuad * kQuad;
    RADIR_CHECK(used_ < (std::int64_t{1} << 31), UnsupportedError,
                "training on a device: a network with its batch takes more ",
                "than 2^31 numbers; use the CPU");
    return static_cast<std::int32_t>(at);
  }
  std::int32_t used() const { return static_cast<std::int32_t>(used_); }

 private:
  std::int64_t used_ = 0;
};

void lay_out(SidePlan& side, std::int32_t part, Places& scratch,
             Places& doubles) {
  side.part = part;
  side.of_groups = scratch.take(std::int64_t{kGroupArrays} * side.groups);
  side.numbers = doubles.take(kSideNumbers);
}

void lay_out(WeightPlan& weight, Places& scratch, Places& doubles) {
  weight.draw = scratch.take(weight.size());
  if (weight.has_orders) {
    const std::int64_t taps = weight.column_width;
    weight.draw_by_output =
        scratch.take(weight.inputs() * taps * whole_quads(weight.rows));
    weight.draw_by_input =
        scratch.take(weight.rows * taps * whole_quads(weight.inputs()));
  }
  weight.gradient = scratch.take(weight.size());
  if (weight.groups() == 0) {
    weight.deviation = scratch.take(weight.size());
    return;
  }
  weight.radius_noise = scratch.take(weight.groups() + 2);
  weight.exponential = scratch.take(weight.groups());
  weight.column.first_group = weight.row.groups;
  // A single factor is the weight.
  const bool both = weight.row.groups > 0 && weight.column.groups > 0;
  for (SidePlan* side : {&weight.row, &weight.column}) {
    if (side->groups == 0) continue;
    lay_out(*side, both ? scratch.take(weight.size()) : weight.draw, scratch,
            doubles);
  }
}

/// Of all arrays of the network.
void place_arrays(TrainingPlan& plan) {
  Places scratch, doubles;
  doubles.take(kStepDoubles);
  plan.input = scratch.take(std::int64_t{plan.inputs} * plan.stride);
  plan.target = scratch.take(std::int64_t{plan.targets} * plan.stride);
  for (int i = 0; i < plan.layers; ++i) {
    LayerPlan& layer = plan.layer[i];
    layer.weight.has_orders = plan.is_large;
    lay_out(layer.weight, scratch, doubles);
    if (layer.has_bias) lay_out(layer.bias, scratch, doubles);
    const std::int64_t row = std::int64_t{layer.outputs} * plan.stride;
    layer.activations = scratch.take(row * layer.output.size());
    layer.pooled_activations = layer.has_pool
                                   ? scratch.take(row * layer.pooled.size())
                                   : layer.activations;
  }
  plan.scratch_count = scratch.used();
  plan.double_count = doubles.used();
}

}  // namespace

void lay_out(TrainingPlan& plan) {
  // An odd number of quads: the same quad of neighbouring features is then in
  // different banks of a device's memory.
  plan.stride = ((plan.batch + kQuad - 1) / kQuad | 1) * kQuad;
  plan.is_large = false;
  for (int i = 0; i < plan.layers; ++i) {
    plan.is_large = plan.is_large || !plan.layer[i].is_dense();
  }
  place_arrays(plan);
  const std::int64_t numbers =
      std::int64_t{plan.scratch_count} + 2 * std::int64_t{plan.parameters};
  if (plan.is_large || numbers <= kMostSmallNumbers) return;
  plan.is_large = true;
  place_arrays(plan);
}

}  // namespace radir::kernels
