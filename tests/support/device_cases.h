#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

// The trainings that devices are compared with the CPU on.

namespace radir::testing {

struct DeviceCase {
  std::string name;
  train::ModelSpec spec;
};

/// Every posterior, prior, likelihood, layer and depth that a device trains;
/// inputs of 5 (short directions) and 13 columns, layers of 31 and more (long
/// ones).
inline std::vector<DeviceCase> device_cases() {
  using posterior::DirectionPrior;
  using posterior::Grouping;
  std::vector<DeviceCase> cases;
  const auto add = [&](const std::string& name, std::int64_t inputs,
                       const std::vector<std::int64_t>& hidden,
                       const posterior::Options& weights,
                       likelihood::Kind noise, bool normal_output) {
    train::ModelSpec spec;
    spec.likelihood.kind = noise;
    const bool one_level = noise == likelihood::Kind::Gaussian;
    spec.network =
        network::multilayer_perceptron(inputs, hidden, one_level ? 1 : 2);
    spec.weights.assign(hidden.size() + 1, weights);
    if (normal_output) spec.weights.back() = posterior::GaussianOptions();
    cases.push_back({name, spec});
  };
  const auto radial = [](Grouping grouping, DirectionPrior prior,
                         bool per_group) {
    posterior::RadialDirectionalOptions options;
    options.grouping = grouping;
    options.direction_prior = prior;
    options.concentration_per_group = per_group;
    return options;
  };
  constexpr auto kGaussian = likelihood::Kind::Gaussian;
  constexpr auto kPredicted = likelihood::Kind::PredictedNoise;
  add("double", 13, {50},
      radial(Grouping::Double, DirectionPrior::LocationAgnostic, false),
      kGaussian, true);
  add("rows", 13, {31}, radial(Grouping::Row, DirectionPrior::Uniform, true),
      kGaussian, true);
  add("columns", 5, {20},
      radial(Grouping::Column, DirectionPrior::Uniform, true), kPredicted,
      true);
  add("short", 5, {10},
      radial(Grouping::Double, DirectionPrior::Uniform, false), kGaussian,
      false);
  auto half_t = radial(Grouping::Double, DirectionPrior::Uniform, true);
  half_t.degrees_of_freedom = 3;
  half_t.global_scale.reset();
  add("two layers", 13, {40, 33}, half_t, kPredicted, false);
  add("normal", 13, {20}, posterior::GaussianOptions(), kGaussian, true);
  add("large", 13, {300, 40},
      radial(Grouping::Double, DirectionPrior::LocationAgnostic, false),
      kGaussian, true);
  const auto add_network =
      [&](const std::string& name, const network::NetworkSpec& network,
          const posterior::Options& weights, likelihood::Kind kind) {
        train::ModelSpec spec;
        spec.likelihood.kind = kind;
        spec.network = network;
        spec.weights = {weights};
        cases.push_back({name, spec});
      };
  using network::Conv2d;
  using network::Dense;
  using network::Flatten;
  using network::MaxPool2d;
  using network::Relu;
  const auto both =
      radial(Grouping::Double, DirectionPrior::LocationAgnostic, false);
  add_network("classes", network::multilayer_perceptron(13, {20}, 3), both,
              likelihood::Kind::Categorical);
  const MaxPool2d halve{{2, 2}, {2, 2}};
  add_network("convolutions",
              {{1, 12, 12},
               {Conv2d{6, {5, 5}}, halve, Conv2d{10, {3, 3}}, halve, Flatten{},
                Dense{20}, Relu{}, Dense{4}}},
              both, likelihood::Kind::Categorical);
  // Columns that no window has; a ReLU on either side of a max-pool.
  add_network("gaps",
              {{3, 11, 10},
               {Conv2d{5, {3, 2}}, MaxPool2d{{2, 2}, {3, 3}}, Relu{},
                Conv2d{7, {2, 1}}, Relu{}, Flatten{}, Dense{2}}},
              radial(Grouping::Column, DirectionPrior::Uniform, true),
              kPredicted);
  add_network("large kernel",
              {{1, 12, 12}, {Conv2d{20, {10, 10}}, Flatten{}, Dense{3}}}, both,
              likelihood::Kind::Categorical);
  add_network("normal images",
              {{2, 7, 6},
               {Conv2d{9, {2, 3}}, Relu{}, MaxPool2d{{3, 2}, {3, 2}}, Flatten{},
                Dense{5}}},
              posterior::GaussianOptions(), likelihood::Kind::Categorical);
  return cases;
}

/// LeNet-5 with rows and columns, as radir compress trains it.
inline train::ModelSpec lenet5_spec() {
  train::ModelSpec spec;
  spec.likelihood.kind = likelihood::Kind::Categorical;
  spec.network = network::lenet5();
  spec.weights = {posterior::RadialDirectionalOptions()};
  return spec;
}

/// Standardised numbers in which there is something to learn.
template <typename T>
struct DeviceTable {
  std::vector<T> inputs;
  std::vector<T> targets;
  std::vector<std::int64_t> labels;  ///< of three classes

  DeviceTable(std::int64_t rows, std::int64_t columns)
      : inputs(static_cast<std::size_t>(rows * columns)),
        targets(static_cast<std::size_t>(rows)),
        labels(targets.size()) {
    kernels::fill_normal({3, 1, 0}, 0, rows * columns, inputs.data());
    kernels::fill_normal({3, 2, 0}, 0, rows, targets.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const T* row = inputs.data() + i * static_cast<std::size_t>(columns);
      targets[i] = T(0.3) * targets[i] + row[0] * row[1] + row[2];
      labels[i] = (row[0] > 0) + (row[1] > 0);
    }
  }

  train::DataView<T> view() const {
    return {inputs.data(), targets.data(), labels.data(),
            static_cast<std::int64_t>(targets.size())};
  }
};

/// Batches of 25 of 130 rows, the last one of an epoch shorter; everything that
/// changes from step to step.
inline train::TrainerOptions device_options(std::int64_t epochs) {
  train::TrainerOptions options;
  options.epochs = epochs;
  options.batch_size = 25;
  options.optimizer.learning_rate = 0.01;
  // With a smaller one, the step of a parameter whose gradient is zero but for
  // rounding would be rounding too.
  options.optimizer.epsilon = 1e-5;
  options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  options.learning_rate.final_factor = 0.01;
  options.kl = train::KlSchedule::warmup(0.6);
  options.max_gradient_norm = 10;
  return options;
}

}  // namespace radir::testing
