#include "torch/baselines/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace radir::baselines {
namespace {

constexpr double kTurnMicroseconds = 50000;

/// Longer than the threads of OpenMP and OpenBLAS look for more work before
/// they sleep; until then they hold a processor that the next variant needs.
constexpr std::chrono::milliseconds kPause{150};

double microseconds(const std::function<void()>& run, int repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) run();
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / repetitions;
}

}  // namespace

std::vector<Timing> time_in_turns(const std::vector<Variant>& variants,
                                  int rounds) {
  std::vector<int> repetitions;
  for (const Variant& variant : variants) {
    microseconds(variant.run, 2);  // first calls allocate and compile
    const double once = microseconds(variant.run, 3);
    repetitions.push_back(
        std::max(1, static_cast<int>(std::lround(kTurnMicroseconds / once))));
  }
  std::vector<std::vector<double>> times(variants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      std::this_thread::sleep_for(kPause);
      variants[i].run();  // wakes its threads and warms the caches
      times[i].push_back(microseconds(variants[i].run, repetitions[i]) /
                         variants[i].runs_at_once);
    }
  }
  std::vector<Timing> result;
  for (std::vector<double>& samples : times) {
    std::sort(samples.begin(), samples.end());
    result.push_back({samples[samples.size() / 2], samples.front()});
  }
  return result;
}

}  // namespace radir::baselines
