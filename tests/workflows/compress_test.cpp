#include "radir/workflows/compress.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/io/model_file.h"
#include "radir/workflows/compress_report.h"
#include "radir/workflows/image_evaluation.h"
#include "radir/workflows/inspect.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;

/// A fifth of the built-in digits: enough to tell what matters.
const data::ImageSplit& digits() {
  static const data::ImageSplit images = [] {
    data::ImageSplit split = data::read_images("digits", "", 3);
    split.train = data::part(split.train, 0, 2000);
    split.test = data::part(split.test, 0, 500);
    return split;
  }();
  return images;
}

CompressSettings small() {
  CompressSettings settings;
  settings.network_name = "small";
  settings.network = {{1, 28, 28},
                      {Conv2d{6, {5, 5}}, MaxPool2d{{4, 4}, {4, 4}}, Flatten{},
                       Dense{60}, Relu{}, Dense{10}}};
  settings.epochs = 24;
  settings.prune_every = 6;
  settings.fine_tune_epochs = 3;
  settings.mean_epochs = 2;
  settings.learning_rate = 3e-3;
  settings.batch = 50;
  settings.samples = 5;
  settings.seed = 4;
  return settings;
}

/// One training for all tests that look at its result.
const CompressResult& result() {
  static const CompressResult compressed = compress(digits(), small());
  return compressed;
}

TEST(Compress, RemovesUnitsAndKeepsWhatItLearnt) {
  EXPECT_LT(result().pruned.cost.flops, result().unpruned.cost.flops);
  EXPECT_LT(result().pruned.cost.parameters,
            result().unpruned.cost.parameters / 2);
  EXPECT_FALSE(result().removals.empty());
  for (const Removal& removal : result().removals) {
    EXPECT_LE(removal.train_error, removal.train_error_before + 0.001);
  }
  // Seeds 0 to 5 give up to 0.076, 0.034, 0.010 and 0.012; chance is 0.9.
  EXPECT_LT(result().unpruned.test_error, 0.15);
  EXPECT_LT(result().pruned.test_error, 0.1);
  EXPECT_LT(result().fine_tuned->test_error, 0.04);
  EXPECT_LT(result().mean_tuned->test_error, 0.04);
  EXPECT_LT(result().masked_difference, 1e-5);
}

TEST(Compress, TheFinalNetworkIsTheOneReported) {
  EXPECT_EQ(&result().final_figures(), &*result().mean_tuned);
  const auto scores = evaluate(result().plain, digits().test).metrics();
  for (const auto& [name, value] : scores) {
    if (name == "error") {
      EXPECT_EQ(value, result().mean_tuned->test_error);
    }
  }
  EXPECT_EQ(network::cost(result().plain.spec).flops,
            result().pruned.cost.flops);
  EXPECT_EQ(network::cost(result().spec.network).flops,
            result().pruned.cost.flops);
}

TEST(Compress, IsTheSameForAnyNumberOfThreads) {
  ThreadPool pool(3);
  CompressSettings settings = small();
  settings.mean_epochs = 0;
  settings.fine_tune_epochs = 1;
  settings.epochs = 6;
  const CompressResult a = compress(digits(), settings);
  const CompressResult b = compress(digits(), settings, nullptr, &pool);
  EXPECT_EQ(a.parameters, b.parameters);
}

TEST(Compress, SaysWhatItDoes) {
  const auto json = nlohmann::json::parse(to_json(*result().fine_tuned));
  EXPECT_EQ(json["architecture"], result().pruned.architecture);
  EXPECT_EQ(json["layers"].size(), 3u);
  const auto removals = nlohmann::json::parse(to_json(result().removals));
  EXPECT_EQ(removals.size(), result().removals.size());
  const std::string page = compress_report(small(), "digits", result());
  EXPECT_NE(page.find(result().pruned.architecture), std::string::npos);
  EXPECT_NE(page.find("means tuned"), std::string::npos);
}

TEST(Compress, FiguresSurviveJson) {
  CompressResult with_curve = result();
  prune::CurvePoint point;
  point.share = 0.5;
  point.architecture = "3-4";
  point.cost.flops = 12;
  point.cost.parameters = 5;
  point.error = 0.125;
  with_curve.curve = {point};
  const CompressResult back = compress_result_from_json(to_json(with_curve));
  EXPECT_EQ(to_json(back), to_json(with_curve));
  EXPECT_EQ(compress_report(small(), "digits", back),
            compress_report(small(), "digits", result()));
}

TEST(Compress, FiguresAreReadStrictly) {
  const auto refused = [](const char* where, const char* value,
                          const std::string& part) {
    auto json = nlohmann::ordered_json::parse(to_json(result()));
    json[nlohmann::ordered_json::json_pointer(where)] =
        nlohmann::ordered_json::parse(value);
    testing::expect_error<IoError>(
        [&] { compress_result_from_json(json.dump()); }, part);
  };
  refused("/unpruned", "3", "figures.unpruned is not an object, but 3");
  refused("/unpruned/flops", "1e300", "must be an integer, but is 1e+300");
  refused("/pruned/layers", "[]", "3 layers before pruning, but 0 after");
  refused("/pruned/layers/1/flops", "0",
          "figures.pruned.layers[1]: \"flops\" must be from 1");
  refused("/fine_tuned/test_error", "1.5", "must be from 0 to 1, but is 1.5");
  refused("/removals/0/thresholds", "[\"x\"]", "numbers or null");
  refused("/removals/0/flops", "-5", "figures.removals[0]: \"flops\"");
  refused("/curve", "{}", "\"curve\" must be a list");
  refused("/colour", "1", "\"colour\" is unknown");
  testing::expect_error<IoError>([] { compress_result_from_json("{"); },
                                 "figures is not well-formed JSON");
}

TEST(Compress, WhatJsonCannotSaySurvivesIt) {
  CompressResult infinite = result();
  infinite.pruned.test_nll = std::numeric_limits<double>::infinity();
  prune::CurvePoint point;
  point.cost.flops = point.cost.parameters = 1;
  infinite.curve = {point};  // its error is not known
  const auto back = compress_result_from_json(to_json(infinite));
  EXPECT_EQ(back.pruned.test_nll, infinite.pruned.test_nll);
  EXPECT_FALSE(back.curve.at(0).error);
}

TEST(Compress, SettingsSurviveJson) {
  CompressSettings settings = small();
  settings.budget.max_flops = 12345;
  settings.budget.max_error = 0.25;
  settings.threshold = -2.5;
  settings.warp = 0.125;
  settings.keep = {3, 20, 10};
  EXPECT_EQ(to_json(compress_settings_from_json(to_json(settings))),
            to_json(settings));
  testing::expect_error<IoError>(
      [] { compress_settings_from_json("{\"network\": 3}"); },
      "settings: \"network\" must be a string, but is 3");
  std::string text = to_json(settings);
  text.replace(text.find("12345"), 5, "1e300");
  testing::expect_error<IoError>(
      [&] { compress_settings_from_json(text); },
      "\"max_flops\" must be an integer, but is 1e+300");
}

TEST(Compress, MeetsABudget) {
  CompressSettings settings = small();
  settings.epochs = 6;
  settings.fine_tune_epochs = 0;
  settings.mean_epochs = 0;
  settings.pressure = 200;
  settings.budget.max_parameters = 1500;
  const CompressResult budget = compress(digits(), settings);
  EXPECT_LE(budget.pruned.cost.parameters, 1500);
  ASSERT_EQ(budget.curve.size(), 50u);
  EXPECT_TRUE(budget.curve.back().error.has_value());
}

TEST(Compress, TakesAThreshold) {
  CompressSettings settings = small();
  settings.fine_tune_epochs = 0;
  settings.mean_epochs = 0;
  settings.epochs = 6;
  settings.threshold = -1e9;
  EXPECT_TRUE(compress(digits(), settings).removals.empty());
  // More than is there: half, a quarter, ... goes, as the accuracy allows.
  settings.threshold = 1e9;
  const CompressResult result = compress(digits(), settings);
  ASSERT_EQ(result.removals.size(), 1u);
  const Removal& removal = result.removals.front();
  EXPECT_LE(removal.train_error, removal.train_error_before + 0.001);
  EXPECT_LT(result.pruned.cost.parameters, result.unpruned.cost.parameters);
}

TEST(Compress, KeepsTheUnitsAskedForAndTunesTheirMeans) {
  CompressSettings settings = small();
  settings.epochs = 6;
  settings.fine_tune_epochs = 0;
  settings.mean_epochs = 8;
  settings.warp = 0.1;
  settings.keep = {3, 20, 10};
  const CompressResult kept = compress(digits(), settings);
  EXPECT_EQ(kept.pruned.architecture, "3-20-10");
  EXPECT_LT(kept.masked_difference, 1e-5);
  EXPECT_LT(kept.mean_tuned->train_error, kept.pruned.train_error);
  ThreadPool pool(3);
  EXPECT_EQ(compress(digits(), settings, nullptr, &pool).plain.layers[0].weight,
            kept.plain.layers[0].weight);
}

TEST(Compress, RefusesSettingsWithoutSense) {
  CompressSettings settings = small();
  settings.epochs = 0;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "epochs must be >= 1");
  settings = small();
  settings.pressure = -1;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "pressure must be >= 0");
  settings = small();
  settings.cost_power = -1;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "cost_power must be from 0 to 2");
  settings = small();
  settings.kl_warmup = 2;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "from 0 to 1");
  settings = small();
  settings.threshold = std::nan("");
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "threshold must be finite");
  settings = small();
  settings.warp = 1;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "warp must be from 0 to below 1");
  settings = small();
  settings.mean_learning_rate = 0;
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "mean_learning_rate must be > 0");
  settings = small();
  settings.keep = {3, 20};
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "there are 2 numbers of units to keep");
  settings = small();
  settings.network.input = {1, 27, 28};
  testing::expect_error<ArgumentError>([&] { compress(digits(), settings); },
                                       "1x27x28");
}

io::SavedModel saved() {
  io::SavedModel model;
  model.spec = result().spec;
  model.networks = {result().parameters};
  return model;
}

TEST(Inspect, CountsLayersAndNoise) {
  const ModelInspection inspection = inspect(saved());
  EXPECT_EQ(inspection.architecture, result().pruned.architecture);
  EXPECT_EQ(inspection.flops, result().pruned.cost.flops);
  ASSERT_EQ(inspection.layers.size(), 3u);
  EXPECT_EQ(inspection.input, "1x28x28");
  for (const LayerInspection& layer : inspection.layers) {
    EXPECT_GT(layer.weight_rms, 0);
    EXPECT_GT(layer.relative_noise, 0);
    EXPECT_NE(layer.posterior.find("radial-directional"), std::string::npos);
  }
}

TEST(PruneModel, MeetsBudgetsAndThresholds) {
  PruneOptions options;
  options.budget.max_parameters = inspect(saved()).parameters / 2;
  EXPECT_LE(inspect(prune_model(saved(), options)).parameters,
            *options.budget.max_parameters);
  options.budget.max_parameters = 3;
  testing::expect_error<ArgumentError>(
      [&] { prune_model(saved(), options); },
      "no network meets the budget; the nearest is");
  options.budget.max_parameters.reset();
  options.threshold = 1e9;  // all but two inputs of each layer
  EXPECT_EQ(prune_model(saved(), options).spec.network.layers.size(), 7u);
  for (const auto& layer : inspect(prune_model(saved(), options)).layers) {
    EXPECT_LE(layer.inputs, 2);
  }
  options.threshold = -1e9;
  EXPECT_EQ(inspect(prune_model(saved(), options)).architecture,
            result().pruned.architecture);
}

}  // namespace
}  // namespace radir::workflows
