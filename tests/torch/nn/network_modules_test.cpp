#include "radir/torch/nn/network_modules.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <sstream>

#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "radir/network/spec.h"
#include "radir/torch/nn/variational.h"
#include "radir/train/compiled_step.h"
#include "radir/train/point_network.h"
#include "support/expect_error.h"
#include "torch/nn/layer_cases.h"

namespace radir::nn {
namespace {

using radir::testing::expect_error;
using testing::expect_close;

/// Every kind of layer, with numbers that differ where they can.
train::ModelSpec image_model() {
  train::ModelSpec spec;
  spec.network.input = {2, 9, 8};
  network::Conv2d conv{6, {3, 2}, {2, 1}, {1, 0}, {1, 2}, 2, false};
  spec.network.layers = {conv,
                         network::Relu{},
                         network::MaxPool2d{{2, 3}, {2, 1}, {1, 1}},
                         network::Conv2d{4, {2, 2}},
                         network::Flatten{},
                         network::Select{{0, 3, 4, 9, 17}},
                         network::Dense{5},
                         network::Relu{},
                         network::Dense{3, false}};
  spec.weights[0].get<posterior::RadialDirectionalOptions>().direction_gap =
      0.1;
  return spec;
}

train::ModelSpec table_model() {
  train::ModelSpec spec;
  spec.network = network::multilayer_perceptron(7, {9}, 2);
  spec.likelihood.prior_shape = 3;
  return spec;
}

/// Parameters away from their starting values.
template <typename T>
std::vector<T> some_parameters(const train::Model& model) {
  auto parameters = train::initial_state<T>(model, 3, 50).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] += static_cast<T>(0.05 * std::sin(static_cast<double>(i)));
  }
  return parameters;
}

template <typename T>
torch::Tensor random_inputs(const train::Model& model, std::int64_t count) {
  const network::Shape& shape = model.spec().network.input;
  const auto dtype = torch::CppTypeToScalarType<T>::value;
  torch::manual_seed(4);
  return shape.height * shape.width == 1
             ? torch::randn({count, shape.channels}, dtype)
             : torch::randn({count, shape.channels, shape.height, shape.width},
                            dtype);
}

template <typename T>
torch::Tensor built_in_outputs(const network::PlainNetwork<T>& network,
                               const torch::Tensor& inputs) {
  const std::vector<T> outputs =
      kernels::run_network(network, inputs.data_ptr<T>(), inputs.size(0));
  return torch::tensor(outputs, inputs.scalar_type())
      .view({inputs.size(0), -1});
}

template <typename T>
void expect_same_outputs(const train::ModelSpec& spec, double tolerance) {
  const train::Model model(spec);
  const std::vector<T> parameters = some_parameters<T>(model);
  const torch::Tensor inputs = random_inputs<T>(model, 6);
  const auto network = train::point_network(model, parameters);
  const torch::Tensor want = built_in_outputs(network, inputs);

  torch::nn::Sequential plain = to_module(network);
  expect_close(plain->forward(inputs), want, tolerance, "plain");
  torch::nn::Sequential bayes = to_bayes_module(model, parameters);
  bayes->eval();
  expect_close(bayes->forward(inputs), want, tolerance, "posterior mean");
}

TEST(NetworkModules, HaveTheOutputsOfTheBuiltInNetworks) {
  for (const auto& spec : {image_model(), table_model()}) {
    expect_same_outputs<float>(spec, 1e-5);
    expect_same_outputs<double>(spec, 1e-12);
  }
}

TEST(NetworkModules, HoldThePosteriorOfTheModel) {
  const train::Model model(table_model());
  const std::vector<double> parameters = some_parameters<double>(model);
  torch::nn::Sequential net = to_bayes_module(model, parameters);
  GaussianLikelihood likelihood = to_gaussian_likelihood(model, parameters);

  // The KL sees every parameter.
  train::CompiledStep<double> step(model, 1);
  auto state = train::initial_state<double>(model, 3, 50);
  state.parameters = parameters;
  const std::vector<double> inputs(7, 0.5), targets(2, 0.25);
  train::Batch<double> batch;
  batch.inputs = inputs.data();
  batch.targets = targets.data();
  batch.count = 1;
  train::StepSettings settings;
  settings.data_count = 50;
  const double want = step.gradient(state, batch, settings).kl * 50;
  net->register_module("likelihood", likelihood.ptr());
  EXPECT_NEAR(kl(*net).item<double>(), want, 1e-10 * want);
  EXPECT_EQ(likelihood->options().prior_shape(), 3);

  // And training goes on from there.
  kl(*net).backward();
  for (const auto& parameter : net->named_parameters()) {
    EXPECT_TRUE(parameter->requires_grad()) << parameter.key();
    EXPECT_TRUE(parameter->is_leaf()) << parameter.key();
  }
}

TEST(NetworkModules, AreNamedByTheirPlace) {
  const train::Model model(table_model());
  const auto net = to_bayes_module(model, some_parameters<float>(model));
  std::vector<std::string> names;
  for (const auto& child : net->named_children()) names.push_back(child.key());
  EXPECT_EQ(names, (std::vector<std::string>{"layer1", "layer2", "layer3"}));
}

TEST(NetworkModules, SayWhatDoesNotFit) {
  const train::Model model(table_model());
  const std::vector<float> few(5);
  expect_error<ArgumentError>([&] { to_bayes_module(model, few); },
                              "to_bayes_module: the model has ");
  expect_error<ArgumentError>([&] { to_gaussian_likelihood(model, few); },
                              "parameters, but got 5");
  auto network = train::point_network(model, some_parameters<float>(model));
  network.layers[1].bias.pop_back();
  expect_error<ArgumentError>([&] { to_module(network); },
                              "the bias of layer 2 with weights needs 2 "
                              "numbers, but there are 1");
  network.layers.pop_back();
  expect_error<ArgumentError>([&] { to_module(network); },
                              "has numbers for only 1 layers");
  train::ModelSpec classes = table_model();
  classes.likelihood.kind = likelihood::Kind::Categorical;
  const train::Model classifier(classes);
  expect_error<ArgumentError>(
      [&] {
        to_gaussian_likelihood(classifier, some_parameters<float>(classifier));
      },
      "the model's likelihood is");
}

TEST(SelectFeatures, KeepsTheFeaturesOfItsIndices) {
  SelectFeatures select(std::vector<std::int64_t>{1, 3});
  const torch::Tensor image = torch::arange(8).view({2, 1, 2, 2});
  EXPECT_TRUE(select(image).equal(torch::tensor({{1, 3}, {5, 7}})));
  std::ostringstream text;
  text << *select;
  EXPECT_EQ(text.str(), "radir::nn::SelectFeatures(2 features)");
  expect_error<ArgumentError>(
      [] { SelectFeatures(std::vector<std::int64_t>{-1}); },
      "an index must not be negative, but is -1");
}

}  // namespace
}  // namespace radir::nn
