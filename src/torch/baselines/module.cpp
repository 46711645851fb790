#include <sys/resource.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "radir/bench/bench_step.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/torch/nn/bayes_linear.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"
#include "radir/train/step.h"
#include "torch/baselines/steps.h"

// The functions that bench/bench_step.cpp looks up in this module.

namespace radir::baselines {
namespace {

using bench::BenchPredictOptions;
using bench::BenchPredictResult;
using bench::BenchStepOptions;
using bench::BenchStepResult;

train::ModelSpec uci_network() {
  train::ModelSpec spec;
  spec.network = network::multilayer_perceptron(13, {50}, 1);
  return spec;
}

train::ModelSpec lenet5_network() {
  train::ModelSpec spec;
  spec.network = network::lenet5();
  spec.likelihood.kind = likelihood::Kind::Categorical;
  return spec;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure_steps(const std::string& network, const train::ModelSpec& spec,
                   std::int64_t batch, const BenchStepOptions& options,
                   BenchStepResult& result) {
  std::vector<Variant> variants;
  std::vector<int> threads_of;
  for (int threads : options.threads) {
    for (Variant& variant :
         training_steps(spec, batch, options.seed, threads)) {
      variants.push_back(std::move(variant));
      threads_of.push_back(threads);
    }
  }
  const auto timings = time_in_turns(variants, options.rounds);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    result.rows.push_back({network, batch, variants[i].name, threads_of[i],
                           timings[i].median_us, timings[i].min_us});
  }
}

/// A 13-50-1 network of our libtorch layers.
struct LayerNetwork {
  nn::BayesLinear hidden{13, 50};
  nn::BayesLinear output{50, 1};

  torch::Tensor forward(const torch::Tensor& x) {
    return output->forward(torch::relu(hidden->forward(x)));
  }
};

void measure_predictions(std::int64_t rows, const BenchPredictOptions& options,
                         BenchPredictResult& result) {
  const train::Model model(uci_network());
  const auto parameters =
      train::initial_state<float>(model, options.seed, 1).parameters;
  ThreadPool threads(options.threads);
  ThreadPool* pool = options.threads > 1 ? &threads : nullptr;
  const torch::Tensor inputs = torch::randn({rows, 13});
  const float* data = inputs.data_ptr<float>();
  std::vector<float> outputs(static_cast<std::size_t>(rows * options.samples));
  LayerNetwork layers;
  train::Predictor<float> kept(model, parameters, options.samples, options.seed,
                               pool);
  const std::vector<Variant> variants = {
      {"loop",
       [&] {
         const torch::NoGradGuard no_grad;
         for (std::int64_t s = 0; s < options.samples; ++s) {
           layers.forward(inputs);
         }
       }},
      {"fresh",
       [&] {
         train::Predictor<float> drawn(model, parameters, options.samples,
                                       options.seed, pool);
         drawn.run(data, rows, outputs.data());
       }},
      {"cached", [&] { kept.run(data, rows, outputs.data()); }}};
  const auto timings = time_in_turns(variants, options.rounds);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    result.rows.push_back({rows, options.samples, variants[i].name,
                           options.threads, timings[i].median_us,
                           timings[i].min_us});
  }
}

}  // namespace
}  // namespace radir::baselines

extern "C" void radir_bench_step(const radir::bench::BenchStepOptions& options,
                                 radir::bench::BenchStepResult& result) {
  using namespace radir::baselines;
  for (const std::string& network : options.networks) {
    if (network == "uci") {
      for (std::int64_t batch : {32, 100}) {
        measure_steps(network, uci_network(), batch, options, result);
      }
    } else {
      measure_steps(network, lenet5_network(), 100, options, result);
    }
  }
  result.peak_memory_mib = peak_memory_mib();
  result.libtorch = TORCH_VERSION;
}

extern "C" void radir_bench_predict(
    const radir::bench::BenchPredictOptions& options,
    radir::bench::BenchPredictResult& result) {
  using namespace radir::baselines;
  use_threads(options.threads);
  torch::manual_seed(static_cast<std::int64_t>(options.seed));
  for (std::int64_t rows : options.rows) {
    measure_predictions(rows, options, result);
  }
  result.libtorch = TORCH_VERSION;
}
