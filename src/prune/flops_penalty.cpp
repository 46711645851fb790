#include "radir/prune/flops_penalty.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/math/hard_concrete.h"
#include "radir/network/spec.h"
#include "radir/network/wiring.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/grouping.h"

namespace radir::prune {
namespace {

/// Draws of all gates behind one estimate.
constexpr int kDraws = 8;

/// A layer with weights, and where its gates are among all.
struct GatedLayer {
  bool row_gates = false;
  std::size_t first_gate = 0;
  double pixels = 1;  // of an output
  double kernel = 1;  // weights per input and output
  double bias = 0;    // 1: there is one
};

/// Numbers of units that cost something.
struct LiveUnits {
  std::vector<double> inputs;
  std::vector<double> outputs;
};

class FlopsPenalty final : public train::Penalty {
 public:
  FlopsPenalty(const train::Model& model, double price, std::int64_t target)
      : wiring_(model.spec().network),
        price_(price),
        target_(static_cast<double>(target)) {
    const auto& network = model.spec().network;
    const auto shapes = network::layer_shapes(network.input, network.layers);
    for (const train::WeightedLayer& layer : model.layers()) {
      const auto* options =
          layer.weight.get_if<posterior::HardConcreteOptions>();
      RADIR_CHECK(options != nullptr && layer.shape.groups == 1,
                  UnsupportedError, "flops_penalty: ", layer.name,
                  " has no hard concrete gates, or is a grouped convolution");
      const network::Shape& out = shapes[layer.index + 1];
      layers_.push_back({options->weights.grouping == posterior::Grouping::Row,
                         parameters_.size(),
                         static_cast<double>(out.height * out.width),
                         static_cast<double>(layer.shape.kernel),
                         layer.bias_size > 0 ? 1.0 : 0.0});
      // The gates follow the weights.
      const train::ParameterInfo& gates =
          model.parameters()[layer.first_weight_parameter + 1];
      for (std::int64_t i = 0; i < gates.size(); ++i) {
        parameters_.push_back(gates.offset + i);
      }
    }
  }

  const std::vector<std::int64_t>& parameters() const override {
    return parameters_;
  }

  double evaluate(const std::vector<double>& values,
                  const kernels::RandomStream& stream,
                  std::vector<double>& gradient) const override {
    gradient.assign(values.size(), 0.0);
    std::vector<double> noise(values.size());
    std::vector<bool> open(values.size());
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto count = static_cast<std::int64_t>(noise.size());
      kernels::fill_uniform(stream, draw * count, count, noise.data());
      for (std::size_t i = 0; i < open.size(); ++i) {
        open[i] = noise[i] < math::hard_concrete_open(values[i]).value;
      }
      LiveUnits live = live_units(open);
      sum += excess(live);
      add_differences(open, live, gradient);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      gradient[i] *=
          price_ / kDraws * math::hard_concrete_open(values[i]).slope;
    }
    return price_ * sum / kDraws;
  }

 private:
  /// Whether the maker of an input has a gate of its own, and it is closed.
  bool maker_is_closed(const std::vector<bool>& open, std::size_t layer,
                       std::size_t input) const {
    if (layer == 0 || !layers_[layer - 1].row_gates) return false;
    const auto maker = static_cast<std::size_t>(wiring_.makers(layer)[input]);
    return !open[layers_[layer - 1].first_gate + maker];
  }
  bool own_gate_is_closed(const std::vector<bool>& open, std::size_t layer,
                          std::size_t input) const {
    return !layers_[layer].row_gates &&
           !open[layers_[layer].first_gate + input];
  }
  /// Whether each output of a layer is one input of the next, whose gate
  /// decides for it.
  bool follows_next(std::size_t layer) const {
    return layer + 1 < layers_.size() && !layers_[layer].row_gates &&
           wiring_.features_per_maker(layer + 1) == 1;
  }

  LiveUnits live_units(const std::vector<bool>& open) const {
    LiveUnits live;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      double inputs = 0;
      for (std::size_t i = 0; i < wiring_.makers(l).size(); ++i) {
        inputs +=
            !maker_is_closed(open, l, i) && !own_gate_is_closed(open, l, i);
      }
      live.inputs.push_back(inputs);
      double outputs = 0;
      for (std::int64_t o = 0; o < wiring_.outputs(l); ++o) {
        const std::size_t gate =
            layers_[l].first_gate + static_cast<std::size_t>(o);
        outputs += !layers_[l].row_gates || open[gate];
      }
      live.outputs.push_back(outputs);
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (follows_next(l)) live.outputs[l] = live.inputs[l + 1];
    }
    return live;
  }

  double excess(const LiveUnits& live) const {
    double flops = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const GatedLayer& layer = layers_[l];
      flops += layer.pixels * live.outputs[l] *
               (layer.kernel * live.inputs[l] + layer.bias);
    }
    return std::max(0.0, flops - target_);
  }

  /// Adds to each gate's entry what its being open adds to the excess.
  void add_differences(const std::vector<bool>& open, LiveUnits& live,
                       std::vector<double>& sums) const {
    // With so many more units of both; `closed` undoes what is there.
    const auto difference = [&](std::size_t gate, double& a, double by_a,
                                double& b, double by_b) {
      const double old_a = a, old_b = b;
      if (!open[gate]) {
        a += by_a;
        b += by_b;
      }
      const double with = excess(live);
      a -= by_a;
      b -= by_b;
      sums[gate] += with - excess(live);
      a = old_a;
      b = old_b;
    };
    double none = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::size_t first = layers_[l].first_gate;
      if (layers_[l].row_gates) {
        const bool last = l + 1 == layers_.size();
        const std::vector<double> read = open_features(open, l);
        for (std::size_t o = 0; o < read.size(); ++o) {
          difference(first + o, live.outputs[l], 1,
                     last ? none : live.inputs[l + 1], read[o]);
        }
        continue;
      }
      const bool makes = l > 0 && follows_next(l - 1);
      for (std::size_t i = 0; i < wiring_.makers(l).size(); ++i) {
        if (maker_is_closed(open, l, i)) continue;
        difference(first + i, live.inputs[l], 1,
                   makes ? live.outputs[l - 1] : none, makes ? 1 : 0);
      }
    }
  }

  /// For each output, the inputs of the next layer that it makes and whose own
  /// gates are open.
  std::vector<double> open_features(const std::vector<bool>& open,
                                    std::size_t layer) const {
    std::vector<double> result(
        static_cast<std::size_t>(wiring_.outputs(layer)));
    if (layer + 1 == layers_.size()) return result;
    const auto& makers = wiring_.makers(layer + 1);
    for (std::size_t i = 0; i < makers.size(); ++i) {
      if (own_gate_is_closed(open, layer + 1, i)) continue;
      result[static_cast<std::size_t>(makers[i])] += 1;
    }
    return result;
  }

  network::Wiring wiring_;
  double price_;
  double target_;
  std::vector<GatedLayer> layers_;
  std::vector<std::int64_t> parameters_;
};

}  // namespace

std::shared_ptr<const train::Penalty> flops_penalty(const train::Model& model,
                                                    double price,
                                                    std::int64_t target) {
  return std::make_shared<FlopsPenalty>(model, price, target);
}

}  // namespace radir::prune
