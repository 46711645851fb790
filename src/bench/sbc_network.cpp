#include "radir/bench/sbc_network.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/kernels/network.h"
#include "radir/likelihood/gaussian.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/evaluation.h"
#include "radir/train/hmc_options.h"
#include "radir/train/posterior_density.h"
#include "radir/train/predictor.h"
#include "radir/train/schedule.h"

namespace radir::bench {
namespace {

using kernels::PhiloxEngine;
using posterior::GaussianOptions;
using posterior::RadialDirectionalOptions;

constexpr std::uint32_t kSbcStream = 0x5BC0;

double draw_half_t(PhiloxEngine& random, double scale, double degrees) {
  const double size = std::abs(random.normal());
  return scale * size / std::sqrt(random.gamma(degrees / 2) / (degrees / 2));
}

/// A random direction and length for every row, or for every column, of
/// [out][in], multiplied into `weight`.
void multiply_by_groups(const RadialDirectionalOptions& options, bool by_row,
                        const network::WeightShape& shape, PhiloxEngine& random,
                        std::vector<double>& weight) {
  const double degrees = by_row ? options.degrees_of_freedom
                                : options.column_degrees_of_freedom.value_or(
                                      options.degrees_of_freedom);
  const double global =
      options.global_scale ? draw_half_t(random, *options.global_scale, 1) : 1;
  const std::int64_t groups = by_row ? shape.out : shape.in;
  const std::int64_t length = by_row ? shape.in : shape.out;
  std::vector<double> direction(static_cast<std::size_t>(length));
  for (std::int64_t g = 0; g < groups; ++g) {
    double squares = 0;
    for (double& x : direction) {
      x = random.normal();
      squares += x * x;
    }
    const double radius =
        global * draw_half_t(random, options.local_scale, degrees);
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t at = by_row ? g * shape.in + k : k * shape.in + g;
      weight[static_cast<std::size_t>(at)] *=
          radius * direction[static_cast<std::size_t>(k)] / std::sqrt(squares);
    }
  }
}

std::vector<double> draw_weights(const GaussianOptions& options,
                                 const network::WeightShape& shape,
                                 PhiloxEngine& random) {
  RADIR_CHECK(!options.learn_prior, UnsupportedError,
              "draw_prior: a prior that is learnt from the data cannot be ",
              "drawn from; set learn_prior=false");
  std::vector<double> weight(static_cast<std::size_t>(shape.size()));
  for (double& w : weight) w = options.prior_scale * random.normal();
  return weight;
}

std::vector<double> draw_weights(const RadialDirectionalOptions& options,
                                 const network::WeightShape& shape,
                                 PhiloxEngine& random) {
  RADIR_CHECK(
      !options.learn_prior &&
          options.direction_prior == posterior::DirectionPrior::Uniform,
      UnsupportedError, "draw_prior: only a prior with uniform directions ",
      "can be drawn from; set direction_prior=uniform, learn_prior=false");
  RADIR_CHECK(shape.groups == 1 && shape.kernel == 1, UnsupportedError,
              "draw_prior: convolutions are not supported");
  std::vector<double> weight(static_cast<std::size_t>(shape.size()), 1.0);
  if (options.grouping != posterior::Grouping::Column) {
    multiply_by_groups(options, true, shape, random, weight);
  }
  if (options.grouping != posterior::Grouping::Row) {
    multiply_by_groups(options, false, shape, random, weight);
  }
  return weight;
}

std::vector<float> draw_tensor(const posterior::Options& options,
                               const network::WeightShape& shape,
                               PhiloxEngine& random) {
  // Those in force: a group of one weight has no direction, for instance.
  const posterior::WeightPosterior<float> in_force(shape, options);
  std::vector<double> weight;
  if (const auto* gaussian = in_force.options().get_if<GaussianOptions>()) {
    weight = draw_weights(*gaussian, shape, random);
  } else if (const auto* radial =
                 in_force.options().get_if<RadialDirectionalOptions>()) {
    weight = draw_weights(*radial, shape, random);
  } else {
    ::radir::detail::throw_error<UnsupportedError>(
        "draw_prior: there is no prior to draw from for ", in_force.describe());
  }
  return {weight.begin(), weight.end()};
}

/// From outputs[draw][probe].
std::vector<std::vector<double>> by_probe(const std::vector<float>& outputs,
                                          std::int64_t probes) {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(probes));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result[i % static_cast<std::size_t>(probes)].push_back(
        static_cast<double>(outputs[i]));
  }
  return result;
}

/// Values of the network at the probes, in the order of the quantities.
std::vector<std::vector<double>> draw_values(
    const SbcProblem& problem, const train::Model& model,
    const std::vector<float>& parameters, std::uint64_t seed) {
  const std::int64_t probes = problem.probe_count();
  train::Predictor<float> predictor(model, parameters, problem.draws, seed);
  std::vector<float> outputs(static_cast<std::size_t>(problem.draws * probes));
  predictor.run(problem.probes.data(), probes, outputs.data());
  return by_probe(outputs, probes);
}

std::vector<double> draw_noise(const likelihood::Precision& precision,
                               std::int64_t draws, std::uint64_t seed) {
  PhiloxEngine random({seed, kSbcStream, 1}, 0);
  std::vector<double> noise;
  for (std::int64_t d = 0; d < draws; ++d) {
    noise.push_back(1 /
                    std::sqrt(random.gamma(precision.shape) / precision.rate));
  }
  return noise;
}

/// 2 inputs, 5 hidden units; noise around 1, as that of the article.
SbcProblem small_problem(const posterior::Options& weights, std::int64_t rows) {
  SbcProblem problem;
  problem.spec.network = network::multilayer_perceptron(2, {5}, 1);
  problem.spec.weights = {weights};
  problem.probes = {0, 0, 0.5, -0.5, 2, 2};
  problem.rows = rows;
  return problem;
}

train::TrainerOptions trainer_of(const BenchSbcOptions& options) {
  train::TrainerOptions trainer;
  trainer.epochs = options.steps;  // one step each: all rows
  trainer.batch_size = options.rows;
  trainer.optimizer.learning_rate = 0.01;
  trainer.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  trainer.learning_rate.final_factor = 0.01;
  return trainer;
}

}  // namespace

std::int64_t SbcProblem::probe_count() const {
  return static_cast<std::int64_t>(probes.size()) / spec.network.input.size();
}

std::vector<std::string> SbcProblem::quantities() const {
  std::vector<std::string> names;
  const float* x = probes.data();
  for (std::int64_t p = 0; p < probe_count(); ++p) {
    std::ostringstream name;
    for (std::int64_t i = 0; i < spec.network.input.size(); ++i) {
      name << (i == 0 ? "f(" : ", ") << *x++;
    }
    names.push_back(name.str() + ")");
  }
  names.emplace_back("noise");
  return names;
}

train::DataView<float> SbcData::view() const {
  train::DataView<float> view;
  view.inputs = inputs.data();
  view.targets = targets.data();
  view.count = static_cast<std::int64_t>(targets.size());
  return view;
}

SbcFit variational_fit(const train::TrainerOptions& options) {
  return [options](const SbcProblem& problem, const SbcData& data,
                   std::uint64_t seed) {
    const train::Model model(problem.spec);
    train::TrainerOptions seeded = options;
    seeded.seed = seed;
    const std::vector<float> parameters =
        train::fit<float>(model, data.view(), seeded).parameters;
    auto draws = draw_values(problem, model, parameters, seed);
    const std::vector<double> own =
        train::likelihood_parameters(model, parameters);
    draws.push_back(
        draw_noise(likelihood::precision_of(own.data()), problem.draws, seed));
    return draws;
  };
}

SbcFit sampled_fit(const train::HmcOptions& options) {
  return [options](const SbcProblem& problem, const SbcData& data,
                   std::uint64_t seed) {
    train::TrainerOptions trainer;
    trainer.method = "hmc";
    trainer.hmc = options;
    trainer.hmc.kept = problem.draws;
    trainer.hmc.draws = options.draws * problem.draws;
    trainer.epochs = trainer.hmc.iterations();
    trainer.seed = seed;
    const train::Model model(problem.spec);
    const train::Model drawn(train::spec_of_draws(problem.spec));
    const auto networks = train::separate_draws(
        problem.spec,
        train::fit<float>(model, data.view(), trainer).parameters);
    const std::int64_t probes = problem.probe_count();
    train::Predictor<float> predictor(drawn, networks, 1, seed);
    std::vector<float> outputs(
        static_cast<std::size_t>(problem.draws * probes));
    predictor.run(problem.probes.data(), probes, outputs.data());
    auto draws = by_probe(outputs, probes);
    std::vector<double> noise;
    for (std::size_t d = 0; d < networks.size(); ++d) {
      const std::vector<double> own =
          train::likelihood_parameters(drawn, networks[d]);
      noise.push_back(
          draw_noise(likelihood::precision_of(own.data()), 1, seed + d + 1)
              .front());
    }
    draws.push_back(std::move(noise));
    return draws;
  };
}

network::PlainNetwork<float> draw_prior(const train::Model& model,
                                        PhiloxEngine& random) {
  network::PlainNetwork<float> result;
  result.spec = model.spec().network;
  for (const train::WeightedLayer& layer : model.layers()) {
    network::PlainLayer<float> drawn;
    drawn.weight = draw_tensor(layer.weight, layer.shape, random);
    if (layer.bias_size > 0) {
      drawn.bias = draw_tensor(layer.bias, {1, layer.bias_size, 1, 1}, random);
    }
    result.layers.push_back(std::move(drawn));
  }
  return result;
}

SbcSimulation simulate(const SbcProblem& problem, const SbcFit& fit,
                       std::uint64_t seed, std::int64_t index) {
  const train::Model model(problem.spec);
  const likelihood::Options& prior = problem.spec.likelihood;
  PhiloxEngine random({seed, kSbcStream, 0}, static_cast<std::uint32_t>(index));
  const auto truth = draw_prior(model, random);
  const double noise =
      1 / std::sqrt(random.gamma(prior.prior_shape) / prior.prior_rate);

  SbcData data;
  for (std::int64_t i = 0; i < problem.rows * model.input_size(); ++i) {
    data.inputs.push_back(static_cast<float>(2 * random.uniform() - 1));
  }
  data.targets = kernels::run_network(truth, data.inputs.data(), problem.rows);
  for (float& target : data.targets) {
    target += static_cast<float>(noise * random.normal());
  }

  SbcSimulation result;
  for (const float value : kernels::run_network(truth, problem.probes.data(),
                                                problem.probe_count())) {
    result.truth.push_back(static_cast<double>(value));
  }
  result.truth.push_back(noise);
  // Any other number: fits must not see the random numbers of the simulation.
  const std::uint64_t fit_seed =
      seed + (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15u;
  result.draws = fit(problem, data, fit_seed);
  return result;
}

void describe(SettingsVisitor& visit, BenchSbcOptions& options) {
  visit.integer(
      {"simulations", "Number of simulated data sets", between(10, 1e6)},
      options.simulations);
  visit.integer({"rows", "Rows of each data set", between(1, 1e5)},
                options.rows);
  visit.integer({"bins", "Bins of the histogram of the ranks", between(2, 100)},
                options.bins);
  visit.integer({"steps", "Training steps of each fit", between(1, 1e9)},
                options.steps);
  visit.seed({"seed", "Seed of all random numbers", {}}, options.seed);
}

std::vector<SbcMethod> sbc_methods(const BenchSbcOptions& options) {
  RadialDirectionalOptions radial;
  radial.grouping = posterior::Grouping::Row;
  radial.direction_prior = posterior::DirectionPrior::Uniform;
  radial.concentration_per_group = true;
  // With half-Cauchy radii some data sets have a range of thousands, which no
  // fit that starts from small weights finds.
  radial.degrees_of_freedom = 10;
  radial.global_scale.reset();
  const SbcFit fit = variational_fit(trainer_of(options));
  train::HmcOptions chain;
  chain.draws = 5;  // iterations for each draw
  chain.leapfrog_steps = 20;
  const SbcFit sampled = sampled_fit(chain);
  return {{"gaussian", "independent normal weights",
           small_problem(GaussianOptions{}, options.rows), fit},
          {"rdp", "rows of uniform direction and half-t length",
           small_problem(radial, options.rows), fit},
          {"hmc-gaussian", "exact sampling, independent normal weights",
           small_problem(GaussianOptions{}, options.rows), sampled},
          {"hmc", "exact sampling, rows of uniform direction and half-t length",
           small_problem(radial, options.rows), sampled}};
}

std::vector<BenchSbcResult> bench_sbc(const BenchSbcOptions& options,
                                      ThreadPool* pool) {
  check_settings("bench sbc", options);
  const std::vector<SbcMethod> methods = sbc_methods(options);
  std::vector<std::string> names;
  for (const SbcMethod& method : methods) names.push_back(method.name);
  std::vector<BenchSbcResult> results;
  for (const std::string& name :
       options.methods.empty() ? names : options.methods) {
    const auto found = std::find(names.begin(), names.end(), name);
    RADIR_CHECK(found != names.end(), ArgumentError,
                "bench sbc: there is no method \"", name, "\"",
                did_you_mean(name, names));
    SbcMethod method = methods[static_cast<std::size_t>(found - names.begin())];
    // A multiple of the bins, less 1, near 100.
    method.problem.draws =
        options.bins * ((100 + options.bins - 1) / options.bins) - 1;
    results.push_back({name, simulation_based_calibration(
                                 method.problem.quantities(),
                                 options.simulations, options.bins,
                                 [&](std::int64_t i) {
                                   return simulate(method.problem, method.fit,
                                                   options.seed, i);
                                 },
                                 pool)});
  }
  return results;
}

}  // namespace radir::bench
