#include "radir/workflows/stacking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/data/table_source.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_methods.h"
#include "radir/workflows/train_table.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// y = sin(2 x) and the class of its sign.
std::string waves(int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::string text = "x,y,sign\n";
  for (int i = 0; i < rows; ++i) {
    const double x = normal(random);
    const double y = std::sin(2 * x) + 0.1 * normal(random);
    text += std::to_string(x) + "," + std::to_string(y) + "," +
            (y > 0 ? "above" : "below") + "\n";
  }
  return text;
}

TableSettings stacked(const char* method) {
  TableSettings settings;
  settings.method = method;
  settings.hidden = {6};
  settings.steps = 300;
  settings.restarts = 4;
  settings.chains = 2;
  settings.hmc.warmup = 20;
  settings.hmc.draws = 20;
  settings.hmc.kept = 5;
  settings.hmc.leapfrog_steps = 10;
  settings.hmc.start_steps = 100;
  settings.mixture_weights = MixtureWeights::Stacked;
  return settings;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

class Stacking : public ::testing::TestWithParam<const char*> {};

TEST_P(Stacking, WeighsNetworksThatStayTheSame) {
  TemporaryFolder folder;
  const auto table = data::read_source(
      data::TableSource(folder.write("t.csv", waves(150, 1))));
  const TableSettings settings = stacked(GetParam());
  for (const char* target : {"y", "sign"}) {
    SCOPED_TRACE(target);
    const auto encoder = data::TableEncoder::fit(table, target);
    const auto rows = encoder.encode(table, true);
    ThreadPool pool(3);
    const TableModel model = fit_networks(encoder, rows, settings);
    const TableModel again =
        fit_networks(encoder, rows, settings, nullptr, &pool);
    EXPECT_EQ(model.networks, again.networks);
    EXPECT_EQ(model.weights, again.weights);
    ASSERT_EQ(model.weights.size(), model.networks.size());
    EXPECT_NEAR(sum(model.weights), 1, 1e-12);
    const auto of_fits = fit_weights(model, settings.fits());
    EXPECT_NEAR(sum(of_fits), 1, 1e-12);
    EXPECT_NE(of_fits.front(), of_fits.back());

    // The weights count in every prediction.
    TableModel equal = model;
    equal.weights.clear();
    EXPECT_NE(model.evaluate(table), equal.evaluate(table));
    TableModel first = model;
    std::fill(first.weights.begin(), first.weights.end(), 0.0);
    first.weights.front() = 1;
    TableModel alone = equal;
    alone.networks.resize(1);
    const auto weighted = first.predict(table), single = alone.predict(table);
    for (std::size_t i = 0; i < 20; ++i) {
      if (encoder.is_classification()) {
        EXPECT_NEAR(weighted.probabilities[0][i], single.probabilities[0][i],
                    1e-12);
        EXPECT_NEAR(weighted.mutual_information[i],
                    single.mutual_information[i], 1e-12);
      } else {
        EXPECT_NEAR(weighted.mean[i], single.mean[i], 1e-9);
        EXPECT_NEAR(weighted.quantiles[2][i], single.quantiles[2][i], 1e-6);
      }
    }

    model.save(folder / "m");
    const TableModel loaded = load_table_model(folder / "m");
    EXPECT_EQ(loaded.weights, model.weights);
    EXPECT_EQ(loaded.evaluate(table), model.evaluate(table));
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Stacking,
                         ::testing::Values("rdp", "map", "hmc", "sghmc"),
                         [](const auto& one) {
                           return std::string(one.param);
                         });

TEST(StackedSettings, NetworksTakeThreeKlWeightsInTurn) {
  TableSettings settings = stacked("rdp");
  settings.kl_weight = 0.5;
  EXPECT_EQ(settings_of_fit(settings, 0).kl_weight, 0.5);
  EXPECT_EQ(settings_of_fit(settings, 1).kl_weight, 0.5 * 0.3);
  EXPECT_EQ(settings_of_fit(settings, 2).kl_weight, 0.5 * 0.1);
  EXPECT_EQ(settings_of_fit(settings, 3).kl_weight, 0.5);
  settings.mixture_weights = MixtureWeights::Equal;
  EXPECT_EQ(settings_of_fit(settings, 1).kl_weight, 0.5);
  EXPECT_EQ(settings_of_fit(stacked("map"), 1).kl_weight, 1);
}

TEST(StackedSettings, NeedSeveralFits) {
  TableSettings settings = stacked("rdp");
  settings.restarts = 0;
  EXPECT_EQ(resolved(settings, 1000, 3, 1).restarts, 6);
  settings.restarts = 1;
  expect_error<ArgumentError>([&] { check(settings); },
                              "stacked mixture_weights are those of several");
  settings = stacked("hmc");
  settings.chains = 1;
  expect_error<ArgumentError>([&] { check(settings); },
                              "ask for 2 or more of them");
  EXPECT_EQ(single_network(stacked("rdp")).mixture_weights,
            MixtureWeights::Equal);
  EXPECT_EQ(to_json(TableSettings()).find("mixture_weights"),
            std::string::npos);
  EXPECT_EQ(settings_from_json(to_json(stacked("rdp"))).mixture_weights,
            MixtureWeights::Stacked);
}

TEST(StackedSettings, FewRowsKeepEqualWeights) {
  TemporaryFolder folder;
  const auto table =
      data::read_source(data::TableSource(folder.write("t.csv", waves(9, 1))));
  const TableModel model = fit_table(table, "y", stacked("rdp"));
  EXPECT_EQ(model.networks.size(), 4u);
  EXPECT_TRUE(model.weights.empty());
}

/// Rows that count twice, as copies: no copy of a held-out row is fitted.
TEST(StackedSettings, CopiesOfARowAreHeldOutTogether) {
  TemporaryFolder folder;
  const auto table =
      data::read_source(data::TableSource(folder.write("t.csv", waves(60, 1))));
  const auto encoder = data::TableEncoder::fit(table, "y");
  std::vector<std::int64_t> twice;
  for (std::int64_t i = 0; i < 60; ++i) twice.insert(twice.end(), 2, i);
  const auto rows = encoder.encode(table, true, twice);
  std::vector<std::int64_t> fitted;
  stacked_fit_weights(encoder, rows, stacked("rdp"),
                      [&](const data::EncodedRows& part) {
                        fitted = part.table_rows;
                        TableSettings equal = stacked("rdp");
                        equal.mixture_weights = MixtureWeights::Equal;
                        return fit_networks(encoder, part, equal);
                      });
  ASSERT_EQ(fitted.size(), 96u);
  for (const std::int64_t row : fitted) {
    EXPECT_EQ(std::count(fitted.begin(), fitted.end(), row), 2) << row;
  }
}

/// A run that is stopped while it finds the weights.
TEST(StackedTraining, ResumesWithTheSameWeights) {
  TemporaryFolder folder;
  TrainTableOptions options;
  options.table = folder.write("t.csv", waves(150, 1));
  options.target = "y";
  options.holdout = false;
  options.settings = stacked("rdp");
  TrainTableResult whole =
      TableTraining::begin(options, folder / "whole").run();
  ASSERT_EQ(whole.mixture_weights.size(), 4u);
  EXPECT_NEAR(sum(whole.mixture_weights), 1, 1e-9);

  TrainTableHooks hooks;
  int calls = 0;
  // Each network has 150 steps of 2 batches or so; the weights come after four.
  hooks.checkpoints.stop_requested = [&] { return ++calls > 1500; };
  EXPECT_THROW(TableTraining::begin(options, folder / "run").run(hooks),
               Interrupted);
  const TrainTableResult resumed = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(resumed.mixture_weights, whole.mixture_weights);
  EXPECT_EQ(load_table_model(folder / "run").networks,
            load_table_model(folder / "whole").networks);
  EXPECT_EQ(TableTraining::resume(folder / "run").run().mixture_weights,
            whole.mixture_weights);
}

}  // namespace
}  // namespace radir::workflows
