#include "radir/bench/bench_cuda.h"

#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/kernels/cuda_training.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/fit_many.h"
#include "radir/train/model.h"
#include "radir/train/schedule.h"
#include "radir/train/trainer.h"

namespace radir::bench {
namespace {

constexpr std::int64_t kCudaBatch = 100;

/// A network and the size of the table that it is trained on.
struct CudaCase {
  const char* name;
  train::Model model;
  std::int64_t rows;

  std::int64_t batches() const { return (rows + kCudaBatch - 1) / kCudaBatch; }
};

CudaCase small_case() {
  train::ModelSpec spec;
  spec.network = network::multilayer_perceptron(13, {50}, 1);
  spec.weights = {posterior::RadialDirectionalOptions(),
                  posterior::GaussianOptions()};
  return {"13-50-1", train::Model(spec), 455};
}

CudaCase lenet5_case() {
  train::ModelSpec spec;
  spec.likelihood.kind = likelihood::Kind::Categorical;
  spec.network = network::lenet5();
  spec.weights = {posterior::RadialDirectionalOptions()};
  return {"lenet5", train::Model(spec), 6000};
}

train::TrainerOptions trainer_options(std::int64_t epochs) {
  train::TrainerOptions trainer;
  trainer.epochs = epochs;
  trainer.batch_size = kCudaBatch;
  trainer.optimizer.learning_rate = 0.01;
  trainer.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  trainer.kl = train::KlSchedule::warmup(0.6);
  trainer.max_gradient_norm = 10;
  return trainer;
}

/// Microseconds of a step of that many networks; a training has whole epochs.
double step_time(const CudaCase& of, std::uint64_t seed, std::int64_t steps,
                 std::int64_t networks, Device device) {
  const std::int64_t width = of.model.input_size();
  std::vector<float> inputs(static_cast<std::size_t>(of.rows * width));
  std::vector<float> targets(static_cast<std::size_t>(of.rows));
  std::vector<std::int64_t> labels(targets.size());
  kernels::fill_normal({seed, 1, 0}, 0, of.rows * width, inputs.data());
  kernels::fill_normal({seed, 2, 0}, 0, of.rows, targets.data());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = targets[i] > 0 ? 1 : 0;
  }
  train::DataView<float> data;
  data.inputs = inputs.data();
  data.targets = targets.data();
  data.labels = labels.data();
  data.count = of.rows;
  const std::int64_t epochs = (steps + of.batches() - 1) / of.batches();
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < networks; ++i) {
    seeds.push_back(seed + static_cast<std::uint64_t>(i));
  }
  const auto results =
      train::fit_many<float>(of.model, data, trainer_options(epochs), seeds,
                             Execution(device, nullptr));
  return 1e6 * results.front().history.back().seconds /
         static_cast<double>(epochs * of.batches());
}

/// Adds a row for one core of the CPU, then one for each number of networks on
/// the device.
void measure(const CudaCase& of, std::uint64_t seed, std::int64_t cpu_steps,
             std::int64_t cuda_steps, const std::vector<std::int64_t>& networks,
             BenchCudaResult& result) {
  const double of_core = step_time(of, seed, cpu_steps, 1, Device::Cpu);
  const auto add = [&](Device device, std::int64_t count, double step) {
    BenchCudaRow row;
    row.network = of.name;
    row.device = to_string(device);
    row.networks = count;
    row.step_us = step;
    row.network_us = step / static_cast<double>(count);
    row.speed = of_core / row.network_us;
    result.rows.push_back(row);
  };
  add(Device::Cpu, 1, of_core);
  for (std::int64_t count : networks) {
    add(Device::Cuda, count,
        step_time(of, seed, cuda_steps, count, Device::Cuda));
  }
}

}  // namespace

BenchCudaResult bench_cuda(const BenchCudaOptions& options) {
  RADIR_CHECK(options.steps > 0 && options.lenet5_steps > 0, ArgumentError,
              "bench step: steps must be positive, but are ", options.steps,
              " and ", options.lenet5_steps);
  for (std::int64_t networks : options.networks) {
    RADIR_CHECK(networks > 0, ArgumentError,
                "bench step: networks must be positive, but is ", networks);
  }
  BenchCudaResult result;
  result.device = kernels::cuda_device().name;
  measure(small_case(), options.seed, options.steps, options.steps,
          options.networks, result);
  measure(lenet5_case(), options.seed, 1, options.lenet5_steps, {1}, result);
  return result;
}

}  // namespace radir::bench
