#include "radir/workflows/compress_methods.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/io/run_folder.h"
#include "radir/network/spec.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gates.h"
#include "radir/workflows/compress.h"
#include "support/expect_error.h"
#include "support/stops.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;
using radir::testing::expect_error;

const data::ImageSplit& few_digits() {
  static const data::ImageSplit images = [] {
    data::ImageSplit split = data::read_images("digits", "", 3);
    split.train = data::part(split.train, 0, 600);
    split.test = data::part(split.test, 0, 200);
    return split;
  }();
  return images;
}

/// A strength at which the few images leave some units, but not all.
CompressSettings settings_of(const std::string& method) {
  CompressSettings settings;
  settings.network_name = "small";
  settings.network = {{1, 28, 28},
                      {Conv2d{6, {5, 5}}, MaxPool2d{{4, 4}, {4, 4}}, Flatten{},
                       Dense{40}, Relu{}, Dense{10}}};
  settings.method = method;
  settings.epochs = 24;
  settings.prune_every = 6;
  settings.fine_tune_epochs = 2;
  settings.learning_rate = 5e-3;
  settings.batch = 20;
  settings.samples = 2;
  if (method == "flops") settings.budget.max_flops = 80000;
  if (method == "gd") settings.strength = 3;
  if (method == "group-lasso") settings.strength = 0.6;
  return settings;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const CompressMethod& method : compress_methods()) {
    all.push_back(method.name);
  }
  return all;
}

class CompressMethods : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, CompressMethods, ::testing::ValuesIn(names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

TEST_P(CompressMethods, RemoveUnitsAndKeepWhatTheyLearnt) {
  const CompressSettings settings = settings_of(GetParam());
  const CompressResult result = compress(few_digits(), settings);
  EXPECT_LT(result.pruned.cost.flops, result.unpruned.cost.flops);
  EXPECT_LT(result.fine_tuned->test_error, 0.5);  // chance is 0.9
  EXPECT_LT(result.masked_difference, 1e-5);
  if (settings.budget.max_flops) {
    EXPECT_LE(result.pruned.cost.flops, *settings.budget.max_flops);
  }
  // The network that is exported and the model agree.
  EXPECT_EQ(network::cost(result.plain.spec).flops, result.pruned.cost.flops);
  EXPECT_EQ(network::cost(result.spec.network).flops, result.pruned.cost.flops);
  // Each unit has a score, of when it was removed or of the end.
  ASSERT_EQ(result.scores.size(), 3u);
  EXPECT_EQ(result.scores[2].removed.size() + result.scores[2].kept.size(),
            40u);
}

TEST_P(CompressMethods, GoOnToTheSameBitsAfterStops) {
  CompressSettings settings = settings_of(GetParam());
  settings.epochs = 4;
  settings.prune_every = 2;
  settings.fine_tune_epochs = 1;
  const CompressResult whole = compress(few_digits(), settings);
  testing::TemporaryFolder place;
  const io::RunFolder folder = io::RunFolder::create(place / "run");
  CompressResult resumed;
  const int stops = train_with_stops(folder, 30, [&](const ResumableRun& run) {
    resumed = compress(few_digits(), settings, nullptr, nullptr, &run);
  });
  EXPECT_GE(stops, 2);
  EXPECT_EQ(resumed.parameters, whole.parameters);
}

TEST_P(CompressMethods, SettingsSurviveJson) {
  CompressSettings settings = settings_of(GetParam());
  const auto json = nlohmann::json::parse(to_json(settings));
  // As version 0.1 wrote it.
  EXPECT_EQ(json.contains("method"), GetParam() != "rdp");
  EXPECT_EQ(to_json(compress_settings_from_json(json.dump())),
            to_json(settings));
}

TEST(CompressMethod, PutsGatesOnFiltersAndOnInputsOfDenseLayers) {
  const train::ModelSpec spec =
      gated_model_spec(compress_method("l0"), network::lenet5(), 60000);
  ASSERT_EQ(spec.weights.size(), 4u);
  const double weights[] = {25, 500, 500, 10};
  const double wanted[] = {1653, 929, 50, 69};  // nats of an open gate
  for (std::size_t l = 0; l < 4; ++l) {
    const auto& options = spec.weights[l].get<posterior::HardConcreteOptions>();
    EXPECT_EQ(options.weights.grouping,
              l < 2 ? posterior::Grouping::Row : posterior::Grouping::Column);
    EXPECT_NEAR(options.price * weights[l], wanted[l], 10) << l;
  }
}

TEST(CompressMethod, RefusesWhatItDoesNotHave) {
  CompressSettings settings = settings_of("l9");
  expect_error<UnsupportedError>([&] { check(settings); },
                                 "there is no method \"l9\" of compression; "
                                 "those known are rdp, bc-gnj, bc-ghs, l0");
  settings = settings_of("flops");
  settings.budget.max_flops.reset();
  expect_error<ArgumentError>([&] { check(settings); }, "give --max-flops");
  settings = settings_of("sbp");
  settings.pressure = 3;
  expect_error<ArgumentError>([&] { check(settings); },
                              "the method sbp has no pressure");
  settings = settings_of("rdp");
  settings.strength = 3;
  expect_error<ArgumentError>([&] { check(settings); },
                              "has a pressure, not a strength");
  settings = settings_of("l0");
  settings.strength = 0;
  expect_error<ArgumentError>([&] { check(settings); }, "strength must be > 0");
}

}  // namespace
}  // namespace radir::workflows
