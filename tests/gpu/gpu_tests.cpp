#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda/serial_training.h"
#include "radir/core/error.h"
#include "radir/kernels/cuda_training.h"
#include "radir/kernels/random.h"
#include "radir/train/fit_many.h"
#include "support/device_cases.h"
#include "train/fit_many.h"

// Compares the GPU with the CPU. Prints a line for each comparison; exit code 1
// when one fails, 77 where there is no GPU. With an argument, short trainings
// only: under compute-sanitizer they take a hundred times as long.

namespace radir {
namespace {

using testing::device_cases;
using testing::device_options;
using testing::DeviceCase;
using testing::DeviceTable;
using train::Model;
using train::TrainingResult;

int failures = 0;

void expect(bool good, const std::string& what, double found, double limit) {
  std::printf("%s  %-44s %.3g (limit %.3g)\n", good ? "ok  " : "FAIL",
              what.c_str(), found, limit);
  if (!good) ++failures;
}

void test_random_numbers() {
  constexpr int kCount = 5000;
  const kernels::RandomStream stream = {42, 3, 1234567};
  std::vector<float> normals(kCount), exponentials(kCount), expected(kCount);
  kernels::fill_on_cuda(stream, kCount, normals.data(), exponentials.data());
  const auto compare = [&](const std::string& what,
                           const std::vector<float>& found) {
    int different = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      different += found[i] != expected[i];
    }
    expect(different == 0, what + ", bits that differ", different, 0);
  };
  kernels::fill_normal(stream, 0, kCount, expected.data());
  compare("normals", normals);
  kernels::fill_exponential(stream, 0, kCount, expected.data());
  compare("exponentials", exponentials);
}

template <typename T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = 0, distance = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
    const double here = std::fabs(static_cast<double>(a[i] - b[i]));
    if (!(here <= distance)) distance = here;  // NaN too
  }
  return distance / largest;
}

/// The largest difference of parameters and moments: the gradient, after one
/// step.
template <typename T>
double difference(const std::vector<TrainingResult<T>>& a,
                  const std::vector<TrainingResult<T>>& b) {
  double worst = 0;
  for (std::size_t n = 0; n < b.size(); ++n) {
    const auto take = [&](double found) {
      if (!(found <= worst)) worst = found;
    };
    take(difference(a[n].parameters, b[n].parameters));
    for (const auto& [name, slot] : b[n].state.optimizer.slots) {
      take(0.1 * difference(a[n].state.optimizer.slots.at(name), slot));
    }
    for (std::size_t i = 0; i < b[n].history.size(); ++i) {
      const train::EpochReport& x = a[n].history.at(i);
      const train::EpochReport& y = b[n].history[i];
      take(0.1 * std::fabs(x.nll - y.nll) / (1 + std::fabs(y.nll)));
      take(0.1 * std::fabs(x.kl - y.kl) / (1 + std::fabs(y.kl)));
    }
  }
  return worst;
}

/// The GPU beside the same program on the CPU, and beside the CPU's own
/// trainer.
template <typename T>
void test_training(const DeviceCase& one, const std::string& what,
                   std::int64_t rows, std::int64_t epochs, double limit) {
  const Model model(one.spec);
  const DeviceTable<T> table(rows, model.input_size());
  const auto options = device_options(epochs);
  const std::vector<std::uint64_t> seeds = {1, 2, 3};
  const auto on = [&](Device device) {
    return train::fit_many<T>(model, table.view(), options, seeds,
                              Execution(device, nullptr));
  };
  const auto found = on(Device::Cuda);
  const auto serial = train::fit_many_by<T>(
      kernels::train_serially<T>, model, table.view(), options, seeds, nullptr);
  const double by_serial = difference(found, serial);
  const double by_cpu = difference(found, on(Device::Cpu));
  const std::string name = one.name + ", " + what;
  expect(by_serial < limit, name + ", one thread", by_serial, limit);
  expect(by_cpu < limit, name + ", CPU kernels", by_cpu, limit);
}

void test_same_bits() {
  const Model model(device_cases().front().spec);
  const DeviceTable<float> table(455, model.input_size());
  auto options = device_options(20);
  options.batch_size = 100;
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 600; ++seed) seeds.push_back(seed % 300);
  const auto results = train::fit_many<float>(
      model, table.view(), options, seeds, Execution(Device::Cuda, nullptr));
  int different = 0;
  for (std::size_t n = 0; n < 300; ++n) {
    different += results[n].parameters != results[n + 300].parameters;
  }
  expect(different == 0, "600 networks, pairs that differ", different, 0);
}

/// Requests of several threads train side by side; each gives the bits that it
/// gives alone, whatever the number of threads of a network.
void test_side_by_side() {
  const auto cases = device_cases();
  const auto fit = [&](std::size_t n, std::int32_t threads) {
    const Model model(cases[n % cases.size()].spec);
    const DeviceTable<float> table(130 + static_cast<std::int64_t>(n),
                                   model.input_size());
    return train::fit_many_by<float>(
        [&](kernels::TrainingRequest<float>& request) {
          request.threads = threads;
          kernels::train_on_cuda(request);
        },
        model, table.view(), device_options(20), {n, n + 1}, nullptr);
  };
  constexpr std::size_t kRequests = 24;
  std::vector<std::vector<TrainingResult<float>>> found(kRequests);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < kRequests; ++n) {
    threads.emplace_back([&, n] { found[n] = fit(n, 0); });
  }
  for (std::thread& thread : threads) thread.join();
  int different = 0;
  for (std::size_t n = 0; n < kRequests; ++n) {
    const auto alone = fit(n, n % 2 == 0 ? 96 : 512);
    for (std::size_t k = 0; k < alone.size(); ++k) {
      different += found[n].at(k).parameters != alone[k].parameters;
    }
  }
  expect(different == 0, "24 requests at once, networks that differ", different,
         0);
}

int run(bool quick) {
  try {
    const auto device = kernels::cuda_device();
    std::printf("%s, %lld multiprocessors\n", device.name.c_str(),
                static_cast<long long>(device.multiprocessors));
  } catch (const UnsupportedError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  test_random_numbers();
  for (const DeviceCase& one : device_cases()) {
    test_training<double>(one, "double, a step", 25, 1, 1e-12);
    test_training<float>(one, "float, a step", 25, 1, 1e-5);
    if (!quick) test_training<double>(one, "double, 30 steps", 130, 5, 1e-9);
  }
  if (!quick) {
    const DeviceCase lenet5 = {"LeNet-5", testing::lenet5_spec()};
    test_training<double>(lenet5, "double, a step", 25, 1, 1e-12);
    test_training<float>(lenet5, "float, a step", 25, 1, 1e-5);
  }
  if (!quick) test_same_bits();
  if (!quick) test_side_by_side();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace radir

int main(int argc, char**) {
  try {
    return radir::run(argc > 1);
  } catch (const std::exception& error) {
    std::printf("FAIL  %s\n", error.what());
    return 1;
  }
}
