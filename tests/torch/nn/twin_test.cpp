#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>

#include "kernels/rdp_twin.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/torch/nn/composed.h"
#include "radir/torch/nn/elbo.h"
#include "radir/torch/nn/likelihood.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/step.h"
#include "torch/nn/layer_cases.h"

// The fused layers against their composition from tensor operations, and
// against the compiled step.

namespace radir::nn {
namespace {

using kernels::RandomStream;
using kernels::testing::Law;
using kernels::testing::random_numbers;
using testing::expect_close;
using testing::expect_same_gradients;
using testing::for_each_layer;
using testing::scalar_of;

constexpr double kTolerance = 1e-10;

torch::Tensor tensor_of(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble);
}

std::vector<double> values_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

kernels::testing::SideStorage<double> storage_of(const NamedTensors& parameters,
                                                 const std::string& side) {
  kernels::testing::SideStorage<double> storage;
  storage.direction = values_of(parameters.at(side + "_direction"));
  storage.log_concentration =
      values_of(parameters.at(side + "_log_concentration"));
  const char* const names[] = {"loc_a", "log_var_a", "loc_b", "log_var_b"};
  for (int i = 0; i < 4; ++i) {
    storage.local[i] = values_of(parameters.at(side + "_local_" + names[i]));
    const auto global = parameters.find(side + "_global_" + names[i]);
    if (global != parameters.end()) {
      storage.global[i] = values_of(global->second);
    }
  }
  return storage;
}

/// The noise that the kernels draw from a stream, as the streams of
/// kernels::kRdpStreams document it.
ComposedSideNoise kernel_side_noise(const kernels::RdpLayout& layout, bool rows,
                                    const NamedTensors& parameters,
                                    const RandomStream& stream) {
  auto storage = storage_of(parameters, rows ? "row" : "column");
  const kernels::testing::SideTwin<double> twin(layout, rows, storage, stream);
  std::vector<double> gaps;
  for (const auto& group : twin.groups) gaps.push_back(group.one_minus_w);
  const std::int64_t row_count = layout.row ? layout.shape.rows() : 0;
  const std::int64_t column_count = layout.column ? layout.shape.columns() : 0;
  const auto normals = [&](std::uint32_t substream, std::int64_t offset,
                           std::int64_t count) {
    return tensor_of(
        random_numbers<double>(Law::Normal, stream, substream, offset, count));
  };
  return {normals(rows ? 0 : 1, 0, layout.shape.size()), tensor_of(gaps),
          normals(2, rows ? 0 : row_count, rows ? row_count : column_count),
          normals(2, row_count + column_count + (rows ? 0 : 1), 1)};
}

ComposedNoise kernel_noise(const network::WeightShape& shape,
                           const posterior::Options& all_options,
                           const NamedTensors& parameters,
                           const RandomStream& stream) {
  ComposedNoise noise;
  if (all_options.get_if<posterior::GaussianOptions>() != nullptr) {
    noise.normals = tensor_of(random_numbers<double>(Law::Normal, stream, 0, 0,
                                                     shape.size()))
                        .reshape_as(parameters.at("loc"));
    return noise;
  }
  const auto& options = all_options.get<posterior::RadialDirectionalOptions>();
  const kernels::RdpSideLayout side{!options.concentration_per_group,
                                    options.global_scale.has_value()};
  kernels::RdpLayout layout{shape, {}, {}};
  if (options.grouping != Grouping::Column) layout.row = side;
  if (options.grouping != Grouping::Row) layout.column = side;
  if (layout.row) {
    noise.row = kernel_side_noise(layout, true, parameters, stream);
  }
  if (layout.column) {
    noise.column = kernel_side_noise(layout, false, parameters, stream);
  }
  return noise;
}

/// Weight and bias of draw `step`, from tensor operations.
template <typename Layer>
LayerWeights composed_draw(const Layer& layer, std::uint64_t step) {
  const auto weight = with_prefix(*layer, "weight_");
  const auto bias = with_prefix(*layer, "bias_");
  LayerWeights result;
  result.weight = composed_weight(*layer).sample(kernel_noise(
      layer->weight_shape(), layer->weight_options(), weight, {3, 0, step}));
  if (bias.empty()) return result;
  result.bias = composed_bias(*layer).sample(kernel_noise(
      {1, layer->weight_shape().rows(), 1, 1}, layer->bias_options(), bias,
      {3, posterior::kStreamsPerPosterior, step}));
  return result;
}

torch::Tensor apply(const BayesLinear& layer, const torch::Tensor& input,
                    const LayerWeights& draw) {
  const auto& options = layer->options();
  return torch::linear(
      input, draw.weight.view({options.out_features(), options.in_features()}),
      draw.bias);
}

torch::Tensor apply(const BayesConv2d& layer, const torch::Tensor& input,
                    const LayerWeights& draw) {
  const auto& options = layer->options();
  const auto& kernel = *options.kernel_size();
  return torch::conv2d(
      input,
      draw.weight.view({options.out_channels(),
                        options.in_channels() / options.groups(), kernel[0],
                        kernel[1]}),
      draw.bias, options.stride(), options.padding(), options.dilation(),
      options.groups());
}

TEST(Twin, ADrawAndItsGradientsAreTheTensorCompositions) {
  for_each_layer(
      [](auto& layer, const torch::Tensor& input, const std::string& name) {
        for (std::uint64_t step = 0; step < 3; ++step) {
          const torch::Tensor got = layer(input);
          const torch::Tensor want =
              apply(layer, input, composed_draw(layer, step));
          expect_close(got, want, kTolerance, name);
          expect_same_gradients(*layer, scalar_of(got), scalar_of(want),
                                kTolerance, name);
        }
      });
}

TEST(Twin, TheKlAndItsGradientsAreTheTensorCompositions) {
  for_each_layer(
      [](auto& layer, const torch::Tensor&, const std::string& name) {
        torch::Tensor want = composed_weight(*layer).kl();
        if (!with_prefix(*layer, "bias_").empty()) {
          want = want + composed_bias(*layer).kl();
        }
        const torch::Tensor got = layer->kl();
        expect_close(got, want, kTolerance, name);
        expect_same_gradients(*layer, 0.7 * got, 0.7 * want, kTolerance, name);
      });
}

TEST(Twin, TheCompositionDrawsFromThePosterior) {
  torch::manual_seed(2);
  BayesLinear layer(
      BayesLinearOptions(4, 3).direction_gap(0.3).initial_noise(0.4).seed(1));
  layer->to(torch::kDouble);
  const ComposedPosterior composed = composed_weight(*layer);
  constexpr int kDraws = 3000;
  const torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({12}, torch::kDouble);
  torch::Tensor squares = torch::zeros({12}, torch::kDouble);
  for (int i = 0; i < kDraws; ++i) {
    const torch::Tensor weight = composed.sample(composed.draw_noise());
    sum += weight / kDraws;
    squares += weight.square() / kDraws;
  }
  const WeightMoments moments = layer->weight_moments();
  const torch::Tensor variance = moments.variance.view(-1);
  const torch::Tensor error = (sum - moments.mean.view(-1)).abs();
  EXPECT_TRUE(
      (error <= 5 * (variance / kDraws).sqrt()).all().template item<bool>());
  expect_close((squares - sum.square()) / variance,
               torch::ones({12}, torch::kDouble), 0.25, "variance");
}

/// A network of one layer, described to the compiled step and written as a
/// module, with the same parameters and the same place in the random numbers.
class Faces {
 public:
  using Kind = likelihood::Kind;

  Faces(Kind kind, bool convolution)
      : model_(spec(kind, convolution)),
        state_(train::initial_state<double>(model_, kSeed, kExamples)) {
    for (std::size_t i = 0; i < state_.parameters.size(); ++i) {
      state_.parameters[i] += 0.1 * std::sin(static_cast<double>(i));
    }
    state_.step = 4;
    const posterior::Options& weight = model_.layers()[0].weight;
    if (convolution) {
      layer_ = torch::nn::AnyModule(
          BayesConv2d(BayesConv2dOptions(2, 3, 2).weight(weight)));
    } else {
      layer_ = torch::nn::AnyModule(
          BayesLinear(BayesLinearOptions(24, 6).weight(weight)));
    }
    layer_.ptr()->to(torch::kDouble);
    gaussian_->to(torch::kDouble);
    for (const char* name : model_.likelihood().parameter_names()) {
      own_[name] = torch::zeros({1}, torch::kDouble).requires_grad_();
    }
    layer_.ptr()->named_buffers()["seed"].fill_(static_cast<double>(kSeed));
    layer_.ptr()->named_buffers()["draws"].fill_(4);
    const torch::NoGradGuard no_grad;
    for_each_parameter(state_.parameters,
                       [](const std::string&, torch::Tensor parameter,
                          const torch::Tensor& values) {
                         parameter.copy_(values.view_as(parameter));
                       });
  }

  void compare() {
    torch::manual_seed(8);
    const torch::Tensor inputs =
        torch::randn({kBatch, model_.input_size()}, torch::kDouble);
    const torch::Tensor targets =
        torch::randn({kBatch, model_.target_size()}, torch::kDouble);
    const torch::Tensor labels =
        torch::randint(model_.output_size(), {kBatch}, torch::kLong);

    train::Batch<double> batch;
    batch.inputs = inputs.data_ptr<double>();
    if (model_.spec().likelihood.kind == Kind::Categorical) {
      batch.labels = labels.data_ptr<std::int64_t>();
    } else {
      batch.targets = targets.data_ptr<double>();
    }
    batch.count = kBatch;
    train::StepSettings settings;
    settings.data_count = kExamples;
    settings.kl_weight = 0.6;
    train::CompiledStep<double> step(model_, kBatch);
    const train::StepLoss want = step.gradient(state_, batch, settings);

    const ElboTerms got = elbo(inputs, targets, labels, settings.kl_weight);
    got.loss.backward();
    EXPECT_NEAR(got.nll.item<double>(), want.nll, 1e-12 * std::fabs(want.nll));
    EXPECT_NEAR(got.kl.item<double>(), want.kl, 1e-12 * std::fabs(want.kl));
    for_each_parameter(step.last_gradient(), [](const std::string& name,
                                                const torch::Tensor& parameter,
                                                const torch::Tensor& gradient) {
      expect_close(parameter.grad().view(-1), gradient, kTolerance, name);
    });
  }

 private:
  static constexpr std::uint64_t kSeed = 3;
  static constexpr std::int64_t kExamples = 50, kBatch = 5;

  static train::ModelSpec spec(Kind kind, bool convolution) {
    train::ModelSpec spec;
    spec.weights[0].get<posterior::RadialDirectionalOptions>().direction_gap =
        0.1;
    spec.likelihood.kind = kind;
    spec.likelihood.parts = 2;
    spec.network.input = {2, 3, 4};
    if (convolution) {
      spec.network.layers = {network::Conv2d{3, {2, 2}}, network::Flatten{}};
    } else {
      spec.network.layers = {network::Flatten{}, network::Dense{6}};
    }
    return spec;
  }

  /// Calls body(name, tensor, part of the flat array) for each parameter.
  template <typename Body>
  void for_each_parameter(const std::vector<double>& flat, const Body& body) {
    for (const train::ParameterInfo& info : model_.parameters()) {
      const auto begin = flat.begin() + info.offset;
      const torch::Tensor part =
          tensor_of(std::vector<double>(begin, begin + info.size()));
      // "layer2.weight.row_direction" or "likelihood.log_shape".
      const std::size_t dot = info.name.find('.');
      std::string name = info.name.substr(dot + 1);
      if (info.name.substr(0, dot) == "likelihood") {
        const bool is_gaussian =
            model_.spec().likelihood.kind == Kind::Gaussian;
        body(info.name,
             is_gaussian ? gaussian_->named_parameters()[name] : own_.at(name),
             part);
        continue;
      }
      name.replace(name.find('.'), 1, "_");
      body(info.name, layer_.ptr()->named_parameters()[name], part);
    }
  }

  /// Outputs are means of the parts, log variances and logits of the shares.
  torch::Tensor mixture_nll(const torch::Tensor& outputs,
                            const torch::Tensor& targets) const {
    const auto parts = outputs.view(
        {kBatch, 3, model_.spec().likelihood.parts, targets.size(1)});
    const torch::Tensor log_variance = parts.select(1, 1);
    const torch::Tensor residual = targets.unsqueeze(1) - parts.select(1, 0);
    const torch::Tensor joint =
        parts.select(1, 2).log_softmax(1) -
        (log_variance + residual.square() * (-log_variance).exp() +
         std::log(2 * std::acos(-1.0))) /
            2;
    return -joint.logsumexp(1).sum() / kBatch;
  }

  torch::Tensor two_normals_nll(const torch::Tensor& outputs,
                                const torch::Tensor& targets) const {
    const torch::Tensor scale = own_.at("log_scale").exp();
    const torch::Tensor ratio = 1 + own_.at("log_excess_ratio").exp();
    const torch::Tensor share = own_.at("logit_share").sigmoid();
    const torch::Tensor residual = targets - outputs;
    const auto density = [&](const torch::Tensor& deviation) {
      return (-(residual / deviation).square() / 2).exp() /
             (deviation * std::sqrt(2 * std::acos(-1.0)));
    };
    return -((1 - share) * density(scale) + share * density(ratio * scale))
                .log()
                .sum() /
           kBatch;
  }

  /// Of normal priors, without their constants.
  torch::Tensor own_kl() const {
    torch::Tensor sum = torch::zeros({1}, torch::kDouble);
    const auto names = model_.likelihood().parameter_names();
    const auto priors = model_.likelihood().own_priors();
    for (std::size_t i = 0; i < names.size(); ++i) {
      sum = sum + ((own_.at(names[i]) - priors[i].mean) / priors[i].deviation)
                          .square() /
                      2;
    }
    return sum.sum();
  }

  ElboTerms elbo(const torch::Tensor& inputs, const torch::Tensor& targets,
                 const torch::Tensor& labels, double kl_weight) {
    const bool convolution = model_.layers()[0].tensor_shape.size() == 4;
    const torch::Tensor outputs =
        layer_.forward(convolution ? inputs.view({kBatch, 2, 3, 4}) : inputs)
            .reshape({kBatch, -1});
    const Elbo elbo(kExamples, KlSchedule::constant(kl_weight));
    const torch::Tensor kl = nn::kl(*layer_.ptr());
    switch (model_.spec().likelihood.kind) {
      case Kind::PredictedNoise:
        return elbo(PredictedNoise().nll(outputs, targets), kl);
      case Kind::TwoNormals:
        return elbo(two_normals_nll(outputs, targets), kl + own_kl());
      case Kind::Mixture:
        return elbo(mixture_nll(outputs, targets), kl);
      case Kind::Categorical:
        return elbo(Categorical().nll(outputs, labels), kl);
      case Kind::Gaussian:
        break;
    }
    return elbo(gaussian_->nll(outputs, targets), kl + gaussian_->kl());
  }

  train::Model model_;
  train::TrainingState<double> state_;
  torch::nn::AnyModule layer_;
  GaussianLikelihood gaussian_;
  std::map<std::string, torch::Tensor> own_;  // of other likelihoods
};

TEST(Twin, TheCompiledStepHasTheSameLossAndGradient) {
  for (const bool convolution : {false, true}) {
    for (const auto kind : {Faces::Kind::Gaussian, Faces::Kind::TwoNormals,
                            Faces::Kind::PredictedNoise, Faces::Kind::Mixture,
                            Faces::Kind::Categorical}) {
      SCOPED_TRACE(std::string(likelihood::to_string(kind)) +
                   (convolution ? ", convolution" : ", dense"));
      Faces(kind, convolution).compare();
    }
  }
}

}  // namespace
}  // namespace radir::nn
