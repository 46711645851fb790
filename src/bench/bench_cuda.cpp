#include "radir/bench/bench_cuda.h"

#include <chrono>

#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/kernels/cuda_training.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/fit_many.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/train/trainer.h"

namespace radir::bench {
namespace {

constexpr std::int64_t kCudaInputs = 13;
constexpr std::int64_t kCudaRows = 455;
constexpr std::int64_t kCudaBatch = 100;
constexpr std::int64_t kCudaBatches = (kCudaRows + kCudaBatch - 1) / kCudaBatch;

train::Model cuda_model() {
  train::ModelSpec spec;
  spec.network = network::multilayer_perceptron(kCudaInputs, {50}, 1);
  spec.weights = {posterior::RadialDirectionalOptions(),
                  posterior::GaussianOptions()};
  return train::Model(spec);
}

/// Seconds of training that many networks.
double cuda_seconds(const train::Model& model, const BenchCudaOptions& options,
                    std::int64_t networks, Device device) {
  std::vector<float> inputs(static_cast<std::size_t>(kCudaRows * kCudaInputs));
  std::vector<float> targets(static_cast<std::size_t>(kCudaRows));
  kernels::fill_normal({options.seed, 1, 0}, 0, kCudaRows * kCudaInputs,
                       inputs.data());
  kernels::fill_normal({options.seed, 2, 0}, 0, kCudaRows, targets.data());
  train::DataView<float> data;
  data.inputs = inputs.data();
  data.targets = targets.data();
  data.count = kCudaRows;
  train::TrainerOptions trainer;
  trainer.epochs = (options.steps + kCudaBatches - 1) / kCudaBatches;
  trainer.batch_size = kCudaBatch;
  trainer.optimizer.learning_rate = 0.01;
  trainer.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  trainer.kl = train::KlSchedule::warmup(0.6);
  trainer.max_gradient_norm = 10;
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < networks; ++i) {
    seeds.push_back(options.seed + static_cast<std::uint64_t>(i));
  }
  const auto results = train::fit_many<float>(model, data, trainer, seeds,
                                              Execution(device, nullptr));
  return results.front().history.back().seconds;
}

}  // namespace

BenchCudaResult bench_cuda(const BenchCudaOptions& options) {
  RADIR_CHECK(options.steps > 0, ArgumentError,
              "bench step: steps must be positive, but is ", options.steps);
  BenchCudaResult result;
  result.device = kernels::cuda_device().name;
  const train::Model model = cuda_model();
  const auto add = [&](Device device, std::int64_t networks) {
    RADIR_CHECK(networks > 0, ArgumentError,
                "bench step: networks must be positive, but is ", networks);
    // A training has whole epochs.
    const std::int64_t epochs =
        (options.steps + kCudaBatches - 1) / kCudaBatches;
    const auto steps = static_cast<double>(epochs * kCudaBatches);
    BenchCudaRow row;
    row.device = to_string(device);
    row.networks = networks;
    row.step_us = 1e6 * cuda_seconds(model, options, networks, device) / steps;
    row.network_us = row.step_us / static_cast<double>(networks);
    row.speed = result.rows.empty()
                    ? 1
                    : result.rows.front().network_us / row.network_us;
    result.rows.push_back(row);
  };
  add(Device::Cpu, 1);
  for (std::int64_t networks : options.networks) add(Device::Cuda, networks);
  return result;
}

}  // namespace radir::bench
