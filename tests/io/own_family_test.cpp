#include <gtest/gtest.h>

#include <cmath>

#include "radir/io/model_file.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/network/wiring.h"
#include "radir/posterior/family.h"
#include "radir/posterior/options.h"
#include "radir/prune/selection.h"
#include "radir/prune/shrink.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"
#include "radir/train/schedule.h"
#include "radir/train/trainer.h"
#include "support/laplace_family.h"
#include "support/temporary_folder.h"

// The way of a network of any family, one from outside the library included:
// trained, written, read, pruned and predicted with, through public headers
// alone.

namespace radir::io {
namespace {

constexpr std::int64_t kExamples = 200;

/// y = x0 - x1, with two more inputs that say nothing.
struct Differences {
  Differences() : inputs(4 * kExamples), targets(kExamples) {
    kernels::fill_normal({1, 0, 0}, 0, 4 * kExamples, inputs.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = (inputs[4 * i] - inputs[4 * i + 1]) / 2;
    }
  }

  std::vector<float> inputs;
  std::vector<float> targets;
};

/// Root mean square error of the mean over 50 draws.
double prediction_error(const train::ModelSpec& spec,
                        const std::vector<float>& parameters,
                        const Differences& data) {
  constexpr std::int64_t kSamples = 50;
  train::Predictor<float> predictor(train::Model(spec), parameters, kSamples,
                                    /*seed=*/3);
  std::vector<float> outputs(kSamples * data.targets.size());
  predictor.run(data.inputs.data(), kExamples, outputs.data());
  double squares = 0;
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    double mean = 0;
    for (std::size_t s = 0; s < std::size_t{kSamples}; ++s) {
      mean +=
          static_cast<double>(outputs[s * data.targets.size() + i]) / kSamples;
    }
    squares += std::pow(mean - static_cast<double>(data.targets[i]), 2);
  }
  return std::sqrt(squares / kExamples);
}

void go_all_the_way(const posterior::Options& options) {
  const Differences data;
  SavedModel model;
  model.spec.network = network::multilayer_perceptron(4, {12}, 1);
  model.spec.weights = {options};
  train::TrainerOptions training;
  training.epochs = 120;
  training.batch_size = 50;
  training.optimizer.learning_rate = 0.02;
  training.kl = train::KlSchedule::warmup(0.5);
  model.networks = {train::fit<float>(train::Model(model.spec),
                                      {data.inputs.data(), data.targets.data(),
                                       nullptr, kExamples},
                                      training)
                        .parameters};

  const testing::TemporaryFolder folder;
  write_model(folder / "m", model);
  const SavedModel read = read_model(folder / "m");
  EXPECT_TRUE(read.spec.weights[0].same_family(options));
  EXPECT_EQ(read.networks, model.networks);
  // The spread of the targets is 0.7.
  const double error = prediction_error(read.spec, read.networks[0], data);
  EXPECT_LT(error, 0.2);

  const train::Model network(read.spec);
  const network::Wiring wiring(read.spec.network);
  const prune::Scores scores = prune::unit_scores(network, read.networks[0]);
  const prune::Selection kept = prune::select_best(wiring, scores, {3, 11});
  const prune::ShrunkModel<float> small =
      prune::shrink(network, read.networks[0], kept);
  EXPECT_LT(small.parameters.size(), read.networks[0].size());
  EXPECT_LT(prediction_error(small.spec, small.parameters, data), 0.3);
}

TEST(OwnFamily, IsTrainedWrittenReadPrunedAndPredictedWith) {
  testing::LaplaceOptions options;
  options.prior_scale = 0.7;
  posterior::register_family(family_of(options));
  go_all_the_way(options);
}

TEST(OwnFamily, GoesTheWayOfAllFamilies) {
  for (const posterior::Family* family : posterior::families()) {
    SCOPED_TRACE(family->name());
    go_all_the_way(family->default_options());
  }
}

}  // namespace
}  // namespace radir::io
