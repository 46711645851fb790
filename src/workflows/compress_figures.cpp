#include "workflows/compress_figures.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "radir/kernels/network.h"
#include "radir/likelihood/class_scores.h"
#include "radir/network/cost.h"
#include "radir/network/wiring.h"
#include "radir/prune/selection.h"
#include "radir/train/point_network.h"
#include "radir/workflows/image_evaluation.h"

namespace radir::workflows {
namespace {

using Clock = std::chrono::steady_clock;
using Plain = network::PlainNetwork<float>;

/// Images behind a comparison of two networks.
constexpr std::int64_t kComparedImages = 100;
constexpr int kTimedRuns = 5;
constexpr std::int64_t kTimedImages = 500;

}  // namespace

std::string architecture_of(const network::NetworkSpec& network) {
  const network::Wiring wiring(network);
  return prune::architecture(wiring, prune::all_units(wiring));
}

NetworkFigures figures_of(const Plain& network, const data::ImageRows& train,
                          const data::ImageRows& test, ThreadPool* pool) {
  NetworkFigures result;
  result.architecture = architecture_of(network.spec);
  result.cost = network::cost(network.spec);
  result.train_error = classification_error(network, train, pool);
  const likelihood::ClassScores scores = evaluate(network, test, pool);
  result.test_error = metric(scores, "error");
  result.test_nll = metric(scores, "nll");
  return result;
}

NetworkFigures figures_of(const train::Model& model,
                          const std::vector<float>& parameters,
                          const data::ImageRows& train,
                          const data::ImageRows& test, const Mixture& mixture,
                          ThreadPool* pool) {
  NetworkFigures result =
      figures_of(train::point_network(model, parameters), train, test, pool);
  const likelihood::ClassScores bayes =
      evaluate(model, parameters, test, mixture.samples, mixture.seed, pool);
  result.bayes_test_error = metric(bayes, "error");
  result.bayes_test_nll = metric(bayes, "nll");
  result.bayes_test_ece = metric(bayes, "ece");
  return result;
}

std::vector<double> microseconds_per_image(
    const std::vector<const Plain*>& networks, const data::ImageRows& images) {
  const std::int64_t count = std::min(kTimedImages, images.count);
  std::vector<std::vector<double>> times(networks.size());
  for (int round = 0; round < kTimedRuns; ++round) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const auto start = Clock::now();
      kernels::run_network(*networks[i], images.pixels.data(), count);
      const std::chrono::duration<double, std::micro> time =
          Clock::now() - start;
      times[i].push_back(time.count() / static_cast<double>(count));
    }
  }
  std::vector<double> medians;
  for (auto& runs : times) {
    std::sort(runs.begin(), runs.end());
    medians.push_back(runs[runs.size() / 2]);
  }
  return medians;
}

double output_difference(const Plain& a, const Plain& b,
                         const data::ImageRows& images) {
  const std::int64_t count = std::min(kComparedImages, images.count);
  const auto outputs = [&](const Plain& network) {
    return kernels::run_network(network, images.pixels.data(), count);
  };
  const std::vector<float> first = outputs(a);
  const std::vector<float> second = outputs(b);
  float difference = 0, size = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    difference = std::max(difference, std::abs(first[i] - second[i]));
    size = std::max(size, std::abs(first[i]));
  }
  return size > 0 ? static_cast<double>(difference / size) : 0;
}

}  // namespace radir::workflows
