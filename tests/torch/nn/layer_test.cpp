#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "radir/core/error.h"
#include "radir/posterior/radial_directional.h"
#include "support/expect_error.h"
#include "torch/nn/layer_cases.h"

namespace radir::nn {
namespace {

using testing::expect_close;
using testing::expect_same;
using testing::expect_same_gradients;
using testing::for_each_layer;
using testing::gradients_of;
using testing::scalar_of;

template <typename Layer>
void rewind(const Layer& layer) {
  layer->named_buffers()["draws"].zero_();
}

std::string printed(const torch::nn::Module& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}

TEST(BayesLayer, HasTheShapesOfThePlainLayers) {
  EXPECT_EQ(BayesLinear(5, 3)(torch::ones({4, 5})).sizes(),
            torch::IntArrayRef({4, 3}));
  EXPECT_EQ(BayesLinear(5, 3)(torch::ones({5})).sizes(),
            torch::IntArrayRef({3}));
  const auto options = BayesConv2dOptions(4, 6, {3, 2})
                           .stride({2, 1})
                           .padding({1, 0})
                           .dilation({1, 2})
                           .groups(2);
  torch::nn::Conv2d plain(torch::nn::Conv2dOptions(4, 6, {3, 2})
                              .stride({2, 1})
                              .padding({1, 0})
                              .dilation({1, 2})
                              .groups(2));
  const torch::Tensor images = torch::ones({2, 4, 9, 8});
  EXPECT_EQ(BayesConv2d(options)(images).sizes(), plain(images).sizes());
  EXPECT_EQ(BayesConv2d(options)(images[0]).sizes(), plain(images[0]).sizes());
}

TEST(BayesLayer, NamesItsParametersAndBuffers) {
  const auto names_of = [](const auto& named) {
    std::set<std::string> names;
    for (const auto& item : named) names.insert(item.key());
    return names;
  };
  BayesLinear layer(BayesLinearOptions(5, 3)
                        .grouping(Grouping::Row)
                        .direction_prior(DirectionPrior::MeanDirection));
  EXPECT_EQ(names_of(layer->named_parameters()),
            (std::set<std::string>{
                "weight_row_direction", "weight_row_log_concentration",
                "weight_row_local_loc_a", "weight_row_local_log_var_a",
                "weight_row_local_loc_b", "weight_row_local_log_var_b",
                "weight_row_global_loc_a", "weight_row_global_log_var_a",
                "weight_row_global_loc_b", "weight_row_global_log_var_b",
                "bias_loc", "bias_log_scale"}));
  EXPECT_EQ(
      names_of(layer->named_buffers()),
      (std::set<std::string>{"weight_row_prior_direction", "seed", "draws"}));
  EXPECT_EQ(layer->named_parameters()["weight_row_direction"].sizes(),
            torch::IntArrayRef({3, 5}));
}

TEST(BayesLayer, PrintsItsPosteriorAndAnyFallback) {
  BayesLinear output(BayesLinearOptions(50, 1).seed(1));
  EXPECT_NE(printed(*output).find("radir::nn::BayesLinear(50, 1)[mode=auto, "
                                  "radial-directional, row grouping"),
            std::string::npos)
      << printed(*output);
  EXPECT_NE(
      printed(*output).find("asked for double, but columns have length 1"),
      std::string::npos)
      << printed(*output);
  EXPECT_EQ(output->weight_options()
                .get<posterior::RadialDirectionalOptions>()
                .grouping,
            Grouping::Row);
  BayesConv2d convolution(BayesConv2dOptions(3, 8, 5).bias(false));
  convolution->set_mode(Mode::Frozen);
  EXPECT_NE(printed(*convolution).find("BayesConv2d(3, 8, kernel_size=[5, 5]"),
            std::string::npos)
      << printed(*convolution);
  EXPECT_NE(printed(*convolution).find("bias=false)[mode=frozen"),
            std::string::npos)
      << printed(*convolution);
}

TEST(BayesLayer, ASeedGivesTheSameBits) {
  const torch::Tensor input = torch::ones({2, 5});
  const auto outputs = [&](std::uint64_t seed) {
    BayesLinear layer(BayesLinearOptions(5, 3).seed(seed));
    return torch::stack({layer(input), layer(input)});
  };
  expect_same(outputs(7), outputs(7), "one seed");
  EXPECT_FALSE(torch::equal(outputs(7), outputs(8)));
  EXPECT_FALSE(torch::equal(outputs(7)[0], outputs(7)[1])) << "two calls";
}

TEST(BayesLayer, WithoutASeedTorchsGeneratorDecides) {
  const auto weights = [](std::uint64_t seed) {
    torch::manual_seed(seed);
    BayesLinear layer(5, 3);
    return layer(torch::ones({1, 5}));
  };
  expect_same(weights(1), weights(1), "manual_seed");
  EXPECT_FALSE(torch::equal(weights(1), weights(2)));

  // A layer with a seed, its calls and its copies leave that generator alone.
  BayesLinear other(5, 3);
  torch::manual_seed(1);
  const torch::Tensor undisturbed = torch::rand({1});
  torch::manual_seed(1);
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  layer(torch::ones({1, 5}));
  other->clone();
  expect_same(torch::rand({1}), undisturbed, "generator");
}

TEST(BayesLayer, EachModeUsesTheWeightsItNames) {
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1).initial_noise(0.5));
  const torch::Tensor input = torch::randn({2, 5});
  const torch::Tensor mean = layer->mean_forward(input);
  EXPECT_FALSE(torch::equal(layer(input), mean));

  layer->set_mode(Mode::Mean);
  expect_same(layer(input), mean, "mean");
  const torch::Tensor bias = layer->named_parameters()["bias_loc"];
  expect_close(mean, torch::linear(input, layer->weight_moments().mean, bias),
               1e-6, "mean from the moments");
  EXPECT_FALSE(layer(input).requires_grad());

  layer->set_mode(Mode::Median);
  const torch::Tensor median = layer(input);
  layer->set_mode(Mode::Mode);
  const torch::Tensor mode = layer(input);
  // The mode of a log-normal radius lies below its median, that below its mean.
  EXPECT_LT(mode.abs().sum().item<double>(), median.abs().sum().item<double>());

  layer->set_mode(Mode::Frozen);
  const torch::Tensor frozen = layer(input);
  expect_same(layer(input), frozen, "frozen");
  EXPECT_TRUE(frozen.requires_grad());
  layer->set_mode(Mode::Frozen);
  EXPECT_FALSE(torch::equal(layer(input), frozen)) << "frozen anew";
  layer->set_mode(Mode::Sample);
  EXPECT_FALSE(torch::equal(layer(input), frozen));
}

TEST(BayesLayer, EvaluatesWithTheMeanUnlessToldOtherwise) {
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  const torch::Tensor input = torch::randn({2, 5});
  const torch::Tensor mean = layer->mean_forward(input);
  EXPECT_EQ(layer->mode(), Mode::Auto);
  EXPECT_FALSE(torch::equal(layer(input), mean)) << "training";
  layer->eval();
  expect_same(layer(input), mean, "evaluation");
  EXPECT_FALSE(torch::equal(layer->sample_forward(input, 1)[0], mean));
  layer->train();
  EXPECT_FALSE(torch::equal(layer(input), mean)) << "training again";

  // A mode that was set holds in both states.
  layer->set_mode(Mode::Sample);
  layer->eval();
  EXPECT_FALSE(torch::equal(layer(input), mean)) << "sample";
  layer->set_mode(Mode::Mean);
  layer->train();
  expect_same(layer(input), mean, "mean");
  layer->set_mode(Mode::Auto);
  EXPECT_FALSE(torch::equal(layer(input), mean)) << "auto";
}

TEST(BayesLayer, OptionsReadAndSetAsLibtorchsDo) {
  auto options = BayesConv2dOptions(2, 3, 5)
                     .bias(false)
                     .seed(7)
                     .grouping(Grouping::Row)
                     .global_scale(std::nullopt)
                     .local_scale(0.5);
  EXPECT_FALSE(options.bias());
  EXPECT_EQ(options.seed(), 7u);
  EXPECT_EQ(options.grouping(), Grouping::Row);
  EXPECT_FALSE(options.global_scale().has_value());
  EXPECT_EQ(options.local_scale(), 0.5);
  EXPECT_EQ(
      options.weight().get<posterior::RadialDirectionalOptions>().local_scale,
      0.5);
  const BayesLinear layer(BayesLinearOptions(4, 2).validate(false));
  EXPECT_FALSE(layer->options().validate());
  EXPECT_TRUE(layer->options().bias());
  EXPECT_EQ(layer->options().bias_prior_scale(), 1);
}

TEST(BayesLayer, DrawsHaveTheMomentsItClaims) {
  BayesLinear layer(BayesLinearOptions(4, 3)
                        .bias(false)
                        .direction_gap(0.3)
                        .initial_noise(0.4)
                        .seed(1));
  layer->to(torch::kDouble);
  constexpr std::int64_t kDraws = 40000;
  const torch::NoGradGuard no_grad;
  const torch::Tensor weights =
      layer->sample_forward(torch::eye(4, torch::kDouble), kDraws)
          .transpose(1, 2);
  const WeightMoments moments = layer->weight_moments();
  const torch::Tensor error = (weights.mean(0) - moments.mean).abs();
  EXPECT_TRUE(
      (error <= 5 * (moments.variance / kDraws).sqrt()).all().item<bool>());
  expect_close(weights.var(0) / moments.variance,
               torch::ones({3, 4}, torch::kDouble), 0.15, "variance");
}

TEST(BayesLayer, SeveralSamplesInOneCallAreThoseOfSeveralCalls) {
  for_each_layer(
      [](auto& layer, const torch::Tensor& input, const std::string& name) {
        const torch::Tensor batched = layer->sample_forward(input, 3);
        rewind(layer);
        const torch::Tensor one_by_one =
            torch::stack({layer(input), layer(input), layer(input)});
        expect_close(batched, one_by_one, 1e-14, name);
        expect_same_gradients(*layer, scalar_of(batched), scalar_of(one_by_one),
                              1e-13, name);
      });
}

TEST(BayesLayer, GradientsOfSeveralDrawsAddUp) {
  for_each_layer([](auto& layer, const torch::Tensor& input,
                    const std::string& name) {
    const auto parameters = layer->parameters();
    const auto first = gradients_of(scalar_of(layer(input)), parameters);
    const auto second = gradients_of(scalar_of(layer(2 * input)), parameters);
    const auto kl = gradients_of(layer->kl(), parameters);

    rewind(layer);
    const torch::Tensor a = layer(input);
    const torch::Tensor b = layer(2 * input);
    const torch::Tensor both = scalar_of(a) + layer->kl() + scalar_of(b);
    layer->mean_forward(input);
    const auto got = gradients_of(both, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      expect_close(got[i], first[i] + second[i] + kl[i], 1e-13, name);
    }
  });
}

TEST(BayesLayer, LossAndKlHaveBackwardPassesOfTheirOwn) {
  // Both gradients come from one node, which must not show.
  const auto gradient = [](bool kl_first) {
    BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
    const torch::Tensor loss = scalar_of(layer(torch::ones({2, 5})));
    const torch::Tensor kl = layer->kl();
    (kl_first ? kl : loss).backward();
    (kl_first ? loss : kl).backward();
    EXPECT_THROW(loss.backward(), c10::Error) << "a second time";
    return layer->named_parameters()["weight_row_local_loc_a"].grad();
  };
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  const torch::Tensor both =
      scalar_of(layer(torch::ones({2, 5}))) + layer->kl();
  both.backward();
  const torch::Tensor want =
      layer->named_parameters()["weight_row_local_loc_a"].grad();
  expect_close(gradient(true), want, 1e-6, "KL first");
  expect_close(gradient(false), want, 1e-6, "loss first");
}

TEST(BayesLayer, TheKlFollowsParametersThatChangedSinceTheDraw) {
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  BayesLinear twin(BayesLinearOptions(5, 3).seed(1));
  const torch::Tensor output = layer(torch::ones({2, 5}));
  testing::perturb(*layer);
  testing::perturb(*twin);
  expect_same(layer->kl(), twin->kl(), "value");
  layer->kl().backward();
  twin->kl().backward();
  for (const char* name : {"weight_row_local_loc_a", "bias_loc"}) {
    expect_same(layer->named_parameters()[name].grad(),
                twin->named_parameters()[name].grad(), name);
  }
  EXPECT_THROW(output.sum().backward(), c10::Error) << "its values are gone";
}

TEST(BayesLayer, PassesTheGradientOnToItsInput) {
  for (const Mode mode : {Mode::Sample, Mode::Mean, Mode::Frozen}) {
    BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
    layer->set_mode(mode);
    torch::Tensor input = torch::randn({2, 5}).requires_grad_();
    layer(input).sum().backward();
    EXPECT_GT(input.grad().abs().sum().item<double>(), 0) << to_string(mode);
  }
}

TEST(BayesLayer, DoesNotMindHowItsParametersLieInMemory) {
  const auto run = [](bool transposed) {
    BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
    torch::Tensor direction = layer->named_parameters()["weight_row_direction"];
    if (transposed) direction.set_data(direction.t().contiguous().t());
    const torch::Tensor output = layer(torch::ones({2, 5}));
    (output.square().sum() + layer->kl()).backward();
    return std::pair{output, direction.grad()};
  };
  const auto [output, gradient] = run(true);
  const auto [plain_output, plain_gradient] = run(false);
  expect_same(output, plain_output, "output");
  expect_same(gradient, plain_gradient, "gradient");
}

TEST(BayesLayer, LeavesOutGradientsNobodyWants) {
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  auto parameters = layer->named_parameters();
  parameters["weight_row_direction"].set_requires_grad(false);
  (scalar_of(layer(torch::ones({2, 5}))) + layer->kl()).backward();
  EXPECT_FALSE(parameters["weight_row_direction"].grad().defined());
  EXPECT_TRUE(parameters["weight_column_direction"].grad().defined());

  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(layer(torch::ones({2, 5})).requires_grad());
}

/// d loss / d element by central differences with one step of Richardson's
/// extrapolation.
template <typename Loss>
double difference(const Loss& loss, torch::Tensor parameter, std::int64_t i) {
  const torch::NoGradGuard no_grad;
  double& x = parameter.data_ptr<double>()[i];
  const double at = x;
  const auto slope = [&](double h) {
    x = at + h;
    const double above = loss().template item<double>();
    x = at - h;
    const double below = loss().template item<double>();
    x = at;
    return (above - below) / (2 * h);
  };
  return (4 * slope(5e-4) - slope(1e-3)) / 3;
}

/// Compares the gradient by each parameter, but for those whose names hold one
/// of `except`.
template <typename Loss>
void expect_differences(const torch::nn::Module& module, const Loss& loss,
                        const std::vector<std::string>& except,
                        const std::string& what) {
  const auto named = module.named_parameters();
  const std::vector<torch::Tensor> gradients =
      gradients_of(loss(), module.parameters());
  for (std::size_t p = 0; p < named.size(); ++p) {
    const std::string& name = named[p].key();
    const torch::Tensor& parameter = named[p].value();
    if (std::any_of(except.begin(), except.end(), [&](const auto& part) {
          return name.find(part) != std::string::npos;
        })) {
      continue;
    }
    for (std::int64_t i = 0; i < parameter.numel();
         i += 1 + parameter.numel() / 3) {
      const double want = difference(loss, parameter, i);
      EXPECT_NEAR(gradients[p].data_ptr<double>()[i], want,
                  1e-6 * std::max(1.0, std::fabs(want)))
          << what << ", " << name << "[" << i << "]";
    }
  }
}

TEST(BayesLayer, TheGradientOfTheKlIsItsFiniteDifference) {
  for_each_layer(
      [](auto& layer, const torch::Tensor&, const std::string& name) {
        expect_differences(
            *layer, [&] { return layer->kl(); }, {}, name);
      });
}

TEST(BayesLayer, TheGradientOfAFrozenDrawIsItsFiniteDifference) {
  // But for directions and concentrations, whose rules hold in the mean and
  // not for each draw at fixed noise.
  for_each_layer(
      [](auto& layer, const torch::Tensor& input, const std::string& name) {
        layer->set_mode(Mode::Frozen);
        expect_differences(
            *layer, [&] { return scalar_of(layer(input)); },
            {"direction", "concentration"}, name);
      });
}

TEST(BayesLayer, ASecondDerivativeThrows) {
  BayesLinear layer(BayesLinearOptions(5, 3).seed(1));
  const torch::Tensor input = torch::ones({2, 5});
  const std::vector<torch::Tensor> by = {
      layer->named_parameters()["weight_row_local_loc_a"]};
  for (const bool of_kl : {false, true}) {
    const torch::Tensor loss =
        of_kl ? layer->kl() : layer(input).square().sum();
    const torch::Tensor gradient = torch::autograd::grad(
        {loss}, by, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    radir::testing::expect_error<UnsupportedError>(
        [&] { gradient.sum().backward(); }, "second derivative");
  }
}

TEST(BayesLayer, ACopyGoesOnAsTheOriginalAndAlone) {
  for_each_layer([](auto& layer, const torch::Tensor& input,
                    const std::string& name) {
    layer(input);
    auto copy =
        std::dynamic_pointer_cast<typename std::decay_t<decltype(layer)>::Impl>(
            layer->clone());
    ASSERT_NE(copy, nullptr);
    expect_same(copy->forward(input), layer(input), name);
    expect_same(copy->forward(input), layer(input), name + ", next");
    expect_same(copy->kl(), layer->kl(), name);
    const torch::Tensor before = layer->kl().detach();
    {
      const torch::NoGradGuard no_grad;
      for (torch::Tensor& p : copy->parameters()) p.add_(0.1);
    }
    expect_same(layer->kl(), before, name + ": the copy is its own");
    EXPECT_FALSE(torch::equal(copy->kl(), before)) << name;
  });
}

TEST(BayesLayer, SavedAndLoadedItGoesOn) {
  for_each_layer(
      [](auto& layer, const torch::Tensor& input, const std::string& name) {
        layer(input);
        std::stringstream file;
        torch::save(layer, file);
        std::decay_t<decltype(layer)> other(layer->options());
        other->to(torch::kDouble);
        testing::perturb(*other);
        torch::load(other, file);
        expect_same(other(input), layer(input), name);
        other->set_mode(Mode::Mean);
        expect_same(other(input), layer->mean_forward(input), name);
      });
}

TEST(BayesLayer, ChangesItsDtypeButNotItsRandomNumbers) {
  // A seed that float cannot hold.
  BayesLinear layer(BayesLinearOptions(5, 3).seed(0x123456789abcdef));
  BayesLinear twin(BayesLinearOptions(5, 3).seed(0x123456789abcdef));
  torch::nn::Sequential parent(layer);
  const torch::Tensor input = torch::ones({2, 5});
  layer(input);
  twin(input);
  parent->to(torch::kDouble);
  EXPECT_EQ(layer(input.to(torch::kDouble)).scalar_type(), torch::kDouble);
  EXPECT_EQ(layer->kl().scalar_type(), torch::kDouble);
  EXPECT_EQ(layer->named_buffers()["seed"].item<std::int64_t>(),
            0x123456789abcdef);
  twin(input);
  parent->to(torch::kCPU, torch::kFloat);
  parent->to(torch::kCPU);
  expect_same(layer(input), twin(input), "back in float");
}

TEST(BayesLayer, LearnsInsideASequentialWithAnyOptimiser) {
  const auto final_error = [](auto make_optimizer) {
    torch::manual_seed(1);
    torch::nn::Sequential net(
        BayesLinear(BayesLinearOptions(2, 20).seed(1)), torch::nn::ReLU(),
        BayesLinear(BayesLinearOptions(20, 1).seed(2).initial_gain(1)));
    auto optimizer = make_optimizer(net->parameters());
    const torch::Tensor x = torch::randn({64, 2});
    const torch::Tensor y = (x.select(1, 0) * x.select(1, 1)).unsqueeze(1);
    double error = 0;
    for (int step = 0; step < 400; ++step) {
      optimizer.zero_grad();
      const torch::Tensor mse = torch::mse_loss(net->forward(x), y);
      (mse + 1e-5 * (kl(*net))).backward();
      optimizer.step();
      error = mse.template item<double>();
    }
    return error;
  };
  // The targets have variance 1.
  EXPECT_LT(final_error([](const std::vector<torch::Tensor>& parameters) {
              return torch::optim::Adam(parameters, 0.02);
            }),
            0.3);
  EXPECT_LT(final_error([](const std::vector<torch::Tensor>& parameters) {
              return torch::optim::SGD(
                  parameters, torch::optim::SGDOptions(0.02).momentum(0.9));
            }),
            0.3);
}

}  // namespace
}  // namespace radir::nn
