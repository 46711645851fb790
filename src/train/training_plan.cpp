#include "train/training_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "radir/core/error.h"
#include "radir/kernels/adam.h"
#include "radir/likelihood/options.h"
#include "radir/math/vmf_sampling.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "train/step_constants.h"

namespace radir::train {
namespace {

/// Throws unless `supported`.
template <typename... Parts>
void require(bool supported, const Parts&... parts) {
  if (supported) return;
  detail::throw_error<UnsupportedError>("training on cuda: ", parts...,
                                        " not supported yet; use --device cpu");
}

/// Where a parameter of one posterior stands in the flat array.
class Offsets {
 public:
  Offsets(const Model& model, std::string prefix)
      : model_(model), prefix_(std::move(prefix)) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }

  std::int32_t at(const std::string& name) const {
    const ParameterInfo* info = find(name);
    RADIR_ASSERT(info != nullptr);
    return static_cast<std::int32_t>(info->offset);
  }

  kernels::FactorOffsets factors(const std::string& name) const {
    return {at(name + "_loc_a"), at(name + "_log_var_a"), at(name + "_loc_b"),
            at(name + "_log_var_b")};
  }

 private:
  const ParameterInfo* find(const std::string& name) const {
    for (const ParameterInfo& info : model_.parameters()) {
      if (info.name == prefix_ + name) return &info;
    }
    return nullptr;
  }

  const Model& model_;
  std::string prefix_;
};

kernels::SidePlan side_plan(
    const Offsets& offsets, bool is_row, std::int32_t groups,
    std::int32_t length, const posterior::RadialDirectionalOptions& options) {
  kernels::SidePlan side;
  const std::string name = is_row ? "row" : "column";
  if (!offsets.has(name + "_direction")) return side;
  side.groups = groups;
  side.length = length;
  side.is_row = is_row;
  side.shared_concentration = !options.concentration_per_group;
  side.global_radius = options.global_scale.has_value();
  side.direction = offsets.at(name + "_direction");
  side.log_concentration = offsets.at(name + "_log_concentration");
  side.local = offsets.factors(name + "_local");
  if (side.global_radius) side.global = offsets.factors(name + "_global");
  side.prior_concentration =
      std::exp(posterior::prior_log_concentration(options, length));
  side.log_local_scale = std::log(options.local_scale);
  side.log_global_scale = std::log(options.global_scale.value_or(1));
  side.degrees_of_freedom = posterior::degrees_of_freedom(options, is_row);
  return side;
}

void check_radial(const posterior::RadialDirectionalOptions& options) {
  require(options.direction_prior != posterior::DirectionPrior::MeanDirection,
          "a prior around the mean direction is");
  require(!options.learn_prior, "a learnt prior is");
  require(options.estimator == math::VmfEstimator::Implicit,
          "an estimator other than implicit is");
}

kernels::WeightPlan weight_plan(const Model& model, const std::string& name,
                                const network::WeightShape& shape,
                                const posterior::Options& options,
                                std::uint32_t entry) {
  kernels::WeightPlan weight;
  weight.rows = static_cast<std::int32_t>(shape.rows());
  weight.columns = static_cast<std::int32_t>(shape.row_length());
  weight.column_width = static_cast<std::int32_t>(shape.kernel);
  weight.stream = entry * posterior::kStreamsPerPosterior;
  const Offsets offsets(model, name + ".");
  const auto* radial = options.get_if<posterior::RadialDirectionalOptions>();
  if (radial != nullptr) {
    check_radial(*radial);
    weight.row = side_plan(offsets, true, weight.rows, weight.columns, *radial);
    weight.column =
        side_plan(offsets, false, static_cast<std::int32_t>(shape.columns()),
                  static_cast<std::int32_t>(shape.column_length()), *radial);
  }
  if (weight.groups() > 0) return weight;
  const auto* normal = options.get_if<posterior::GaussianOptions>();
  require(radial != nullptr || normal != nullptr, "the family of ", name,
          " is");
  require(normal == nullptr ||
              (!normal->learn_prior &&
               normal->noise == posterior::GaussianOptions::Noise::Weights),
          "a learnt prior, or noise in the activations, is");
  weight.loc = offsets.at("loc");
  weight.log_scale = offsets.at("log_scale");
  weight.log_prior_scale = std::log(
      radial != nullptr ? radial->gaussian_prior_scale : normal->prior_scale);
  return weight;
}

kernels::Extent extent(std::int64_t height, std::int64_t width) {
  return {static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
}

kernels::Extent extent(const network::Shape& shape) {
  return extent(shape.height, shape.width);
}

kernels::Extent extent(const network::Pair& pair) {
  return extent(pair.h, pair.w);
}

bool is_one(const network::Pair& pair) { return pair.h == 1 && pair.w == 1; }

/// Adds the layers of a network to a plan, one after the other.
class LayerAdder {
 public:
  LayerAdder(const Model& model, kernels::TrainingPlan& plan)
      : model_(model), plan_(plan) {}

  void add(const network::LayerSpec& spec, const network::Shape& input,
           const network::Shape& output) {
    where_ = to_string(spec);
    input_ = input;
    output_ = output;
    std::visit(*this, spec);
  }

  void operator()(const network::Dense&) { add_weight(); }

  void operator()(const network::Conv2d& spec) {
    require(is_one(spec.stride) && is_one(spec.dilation) && spec.groups == 1 &&
                spec.padding.h == 0 && spec.padding.w == 0,
            "the stride, padding, dilation or groups of ", where_, " are");
    require(spec.kernel.h * spec.kernel.w <= kernels::kMostTrainedTaps,
            "a kernel of more than ", kernels::kMostTrainedTaps,
            " weights a channel is");
    add_weight().kernel = extent(spec.kernel);
  }

  void operator()(const network::MaxPool2d& spec) {
    require(plan_.layers > 0 && !last().has_pool,
            "a max-pool that follows no convolution is");
    require(spec.kernel.h * spec.kernel.w > 1, "a max-pool of one number is");
    require(spec.kernel.h <= spec.stride.h && spec.kernel.w <= spec.stride.w &&
                spec.padding.h == 0 && spec.padding.w == 0,
            "windows of ", where_, " that overlap or are padded are");
    last().has_pool = true;
    last().window = extent(spec.kernel);
    last().window_step = extent(spec.stride);
    last().pooled = extent(output_);
  }

  /// Before or after a max-pool: the maxima are the same.
  void operator()(network::Relu) {
    require(plan_.layers > 0 && !last().relu,
            "a ReLU that follows no layer with weights is");
    last().relu = true;
  }

  void operator()(network::Flatten) {}

  void operator()(const network::Select&) {
    require(false, "the layer \"", where_, "\" is");
  }

 private:
  kernels::LayerPlan& last() { return plan_.layer[plan_.layers - 1]; }

  kernels::LayerPlan& add_weight() {
    const WeightedLayer& from =
        model_.layers()[static_cast<std::size_t>(plan_.layers)];
    kernels::LayerPlan& layer = plan_.layer[plan_.layers++];
    layer.outputs = static_cast<std::int32_t>(output_.channels);
    layer.inputs = static_cast<std::int32_t>(input_.channels);
    layer.image = extent(input_);
    layer.output = extent(output_);
    layer.pooled = layer.output;
    layer.has_bias = from.bias_size > 0;
    layer.weight = weight_plan(model_, from.name + ".weight", from.shape,
                               from.weight, entry_++);
    if (layer.has_bias) {
      layer.bias = weight_plan(model_, from.name + ".bias",
                               {1, from.bias_size, 1, 1}, from.bias, entry_++);
    }
    return layer;
  }

  const Model& model_;
  kernels::TrainingPlan& plan_;
  std::uint32_t entry_ = 0;
  std::string where_;
  network::Shape input_;
  network::Shape output_;
};

void add_layers(const Model& model, kernels::TrainingPlan& plan) {
  const network::NetworkSpec& network = model.spec().network;
  require(model.layers().size() <= kernels::kMostTrainedLayers,
          "a network of more than ", kernels::kMostTrainedLayers,
          " layers with weights is");
  const auto shapes = network::layer_shapes(network.input, network.layers);
  LayerAdder adder(model, plan);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    adder.add(network.layers[i], shapes[i], shapes[i + 1]);
  }
  const kernels::LayerPlan& last = plan.layer[plan.layers - 1];
  require(!last.relu && !last.has_pool && last.output.size() == 1,
          "a ReLU or a max-pool at the end, or outputs of several pixels are");
}

kernels::TrainedLikelihood likelihood_of(likelihood::Kind kind) {
  switch (kind) {
    case likelihood::Kind::Gaussian:
      return kernels::TrainedLikelihood::Gaussian;
    case likelihood::Kind::PredictedNoise:
      return kernels::TrainedLikelihood::PredictedNoise;
    case likelihood::Kind::Categorical:
      return kernels::TrainedLikelihood::Categorical;
    default:
      break;
  }
  require(false, "the ", likelihood::to_string(kind), " likelihood is");
  return {};
}

void check_options(const TrainerOptions& options) {
  require(options.method == "elbo", "the method ", options.method, " is");
  require(options.samples == 1, "more than one sample a step is");
  require(options.scale_rate == 1, "a learning rate of its own for scales is");
  require(options.penalty == nullptr, "a penalty of several layers is");
  require(options.validation_share == 0 && options.patience == 0 &&
              options.kept_parameters == KeptParameters::Last,
          "choosing or stopping by validation or training loss is");
}

}  // namespace

kernels::TrainingPlan training_plan(const Model& model,
                                    const TrainerOptions& options,
                                    std::int64_t rows) {
  check_options(options);
  kernels::TrainingPlan plan;
  require(model.parameter_count() < (1 << 24) && rows < (1 << 30),
          "a network or a table of that size is");
  add_layers(model, plan);
  plan.parameters = static_cast<std::int32_t>(model.parameter_count());
  plan.inputs = static_cast<std::int32_t>(model.input_size());
  plan.targets = static_cast<std::int32_t>(model.target_size());
  const likelihood::Options& likelihood = model.spec().likelihood;
  plan.likelihood = likelihood_of(likelihood.kind);
  plan.likelihood_offset = static_cast<std::int32_t>(model.likelihood_offset());
  plan.prior_shape = likelihood.prior_shape;
  plan.prior_rate = likelihood.prior_rate;

  plan.rows = static_cast<std::int32_t>(rows);
  plan.batch = static_cast<std::int32_t>(std::min(options.batch_size, rows));
  plan.batches = (plan.rows + plan.batch - 1) / plan.batch;
  plan.epochs = options.epochs;
  plan.report_every =
      std::max<std::int64_t>(1, options.epochs / kHistoryPoints);
  plan.beta1 = options.optimizer.beta1;
  plan.beta2 = options.optimizer.beta2;
  plan.epsilon = options.optimizer.epsilon;
  plan.weight_decay = options.optimizer.weight_decay;
  plan.max_gradient_norm = options.max_gradient_norm;
  plan.own_step_rate = kOwnStepRate;
  plan.shuffle_stream = kShuffleStream;
  kernels::lay_out(plan);
  return plan;
}

std::vector<kernels::StepNumbers> step_numbers(
    const kernels::TrainingPlan& plan, const TrainerOptions& options) {
  std::vector<kernels::StepNumbers> numbers(
      static_cast<std::size_t>(plan.steps()));
  kernels::AdamOptions adam;
  adam.beta1 = plan.beta1;
  adam.beta2 = plan.beta2;
  for (std::int64_t step = 0; step < plan.steps(); ++step) {
    kernels::StepNumbers& at = numbers[static_cast<std::size_t>(step)];
    const double progress =
        static_cast<double>(step) / static_cast<double>(plan.steps());
    at.kl_weight = options.kl(progress);
    at.learning_rate =
        options.optimizer.learning_rate * options.learning_rate(progress);
    adam.learning_rate = at.learning_rate;
    const kernels::AdamRates rates = kernels::adam_rates(adam, step + 1);
    at.adam_rate = rates.rate;
    at.moment_factor = rates.moment_factor;
  }
  return numbers;
}

}  // namespace radir::train
