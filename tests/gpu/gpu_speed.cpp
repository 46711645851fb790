#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/cuda_training.h"
#include "radir/train/fit_many.h"
#include "support/device_cases.h"
#include "train/fit_many.h"

// The time of a step on the GPU, by the events of the device: of LeNet-5, and
// of networks of 13-50-1, one and many at once, beside one core of the CPU.

namespace radir {
namespace {

using testing::device_cases;
using testing::DeviceTable;

train::TrainerOptions options_of(std::int64_t batch, std::int64_t epochs) {
  auto options = testing::device_options(epochs);
  options.batch_size = batch;
  return options;
}

/// Microseconds of a step of all networks together.
double gpu_step(const train::Model& model, const DeviceTable<float>& table,
                std::int64_t batch, std::int64_t epochs, std::size_t networks,
                std::int32_t threads) {
  std::vector<std::uint64_t> seeds(networks);
  for (std::size_t i = 0; i < networks; ++i) seeds[i] = i;
  double microseconds = 0;
  train::fit_many_by<float>(
      [&](kernels::TrainingRequest<float>& request) {
        request.threads = threads;
        kernels::train_on_cuda(request);
        microseconds = 1e6 * request.device_seconds /
                       static_cast<double>(request.plan.steps());
      },
      model, table.view(), options_of(batch, epochs), seeds, nullptr);
  return microseconds;
}

double cpu_step(const train::Model& model, const DeviceTable<float>& table,
                std::int64_t batch) {
  const std::int64_t epochs = 400;
  const auto start = std::chrono::steady_clock::now();
  const auto results = train::fit_many<float>(
      model, table.view(), options_of(batch, epochs), {1}, Execution());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return 1e6 * seconds / static_cast<double>(results.front().state.step);
}

void measure(const testing::DeviceCase& one, std::int64_t batch) {
  const train::Model model(one.spec);
  const DeviceTable<float> table(455, model.input_size());
  std::printf("%s, batch %lld\n", one.name.c_str(),
              static_cast<long long>(batch));
  // The least of three: other work may share the processor.
  double cpu = cpu_step(model, table, batch);
  for (int i = 0; i < 2; ++i) {
    cpu = std::min(cpu, cpu_step(model, table, batch));
  }
  std::printf("  CPU, one core: %.2f us a step\n", cpu);
  for (std::int32_t threads : {128, 256, 512}) {
    std::printf("  GPU, one network, %3d threads: %.2f us a step\n", threads,
                gpu_step(model, table, batch, 4000, 1, threads));
  }
  for (std::size_t networks : {132, 1000}) {
    for (std::int32_t threads : {64, 96, 128, 256}) {
      const double step =
          gpu_step(model, table, batch, 1000, networks, threads);
      std::printf(
          "  GPU, %4zu networks, %3d threads: %8.2f us a step, "
          "%.3f us a network, %.0f cores\n",
          networks, threads, step, step / static_cast<double>(networks),
          cpu * static_cast<double>(networks) / step);
    }
  }
  std::fflush(stdout);
}

/// Microseconds of a step of LeNet-5, batches of 100 of 6,000 images.
void measure_lenet5(std::size_t networks) {
  const train::Model model(testing::lenet5_spec());
  const DeviceTable<float> table(6000, model.input_size());
  // The order of the first examples is made in a first, short training.
  const auto seconds = [&](std::int64_t epochs) {
    return 1e-6 * 60 * static_cast<double>(epochs) *
           gpu_step(model, table, 100, epochs, networks, 0);
  };
  const double step = 1e6 * (seconds(41) - seconds(1)) / (40 * 60);
  std::printf(
      "LeNet-5, rows and columns, batch 100\n"
      "  GPU, %zu networks: %.1f us a step, %.1f us a network\n",
      networks, step, step / static_cast<double>(networks));
  std::fflush(stdout);
}

}  // namespace
}  // namespace radir

int main() {
  try {
    std::printf("%s\n", radir::kernels::cuda_device().name.c_str());
    for (std::size_t networks : {1, 2, 8}) radir::measure_lenet5(networks);
    const auto cases = radir::testing::device_cases();
    radir::measure(cases[0], 100);
    radir::measure(cases[1], 100);
    radir::measure(cases[0], 32);
    return 0;
  } catch (const radir::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
