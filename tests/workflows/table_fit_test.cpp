#include "radir/workflows/table_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table_source.h"
#include "radir/files/byte_source.h"
#include "radir/io/model_file.h"
#include "radir/likelihood/gaussian.h"
#include "radir/posterior/family.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/evaluation.h"
#include "radir/train/predictor.h"
#include "radir/train/step.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/table_predictor.h"
#include "radir/workflows/table_search.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

TableSettings short_training() {
  TableSettings settings;
  settings.method = "elbo";
  settings.grouping = posterior::Grouping::Double;
  settings.hidden = {20};
  settings.steps = 3000;
  return settings;
}

/// The built-in table, and a network fitted to it.
struct RobotArm {
  data::Table train = data::make_robot_arm_table(600, 1);
  data::Table test = data::make_robot_arm_table(300, 2);
  data::TableEncoder encoder = data::TableEncoder::fit(train, "distance");
  data::EncodedRows rows = encoder.encode(train, true);
  data::EncodedRows test_rows = encoder.encode(test, true);
};

std::map<std::string, double> scores(const TableModel& model,
                                     const data::EncodedRows& rows,
                                     ThreadPool* pool = nullptr) {
  TablePredictor predictor(model, 50, 3, pool);
  TableScores scores(model.encoder);
  scores.add(predictor, rows);
  const auto metrics = scores.metrics();
  return {metrics.begin(), metrics.end()};
}

TEST(TableFit, LearnsAndKnowsHowWell) {
  const RobotArm arm;
  for (auto noise :
       {likelihood::Kind::Gaussian, likelihood::Kind::TwoNormals,
        likelihood::Kind::PredictedNoise, likelihood::Kind::Mixture}) {
    TableSettings settings = short_training();
    settings.noise = noise;
    auto found =
        scores(fit_networks(arm.encoder, arm.rows, settings), arm.test_rows);
    // The distances spread by 0.36 m; the noise is 0.03 m at most.
    EXPECT_LT(found["rmse"], 0.08) << likelihood::to_string(noise);
    EXPECT_GT(found["log_likelihood"], 1.0);
    EXPECT_GT(found["coverage_90"], 0.80);
    EXPECT_LT(found["coverage_90"], 0.99);
    EXPECT_LT(found["calibration_error"], 0.1);
    EXPECT_LT(found["crps"], found["mae"]);
    EXPECT_LT(found["width_50"], found["width_95"]);
  }
}

/// y = x, or 0 in every `period`-th of 60 rows.
data::Table with_zeros(int period) {
  std::string text = "x,y\n";
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i) + "," +
            std::to_string(i % period == 0 ? 0 : i * 7 % 61) + "\n";
  }
  return data::read_table(files::memory_byte_source("zeros", text));
}

TEST(TableFit, ChainsLearnTwoNoisesUnlessAValueIsRepeatedOften) {
  const auto noise_of = [](int period, TableSettings settings) {
    const data::Table table = with_zeros(period);
    const auto encoder = data::TableEncoder::fit(table, "y");
    return resolved(settings, encoder, table.rows()).noise;
  };
  TableSettings settings;
  EXPECT_EQ(noise_of(20, settings), likelihood::Kind::TwoNormals);
  EXPECT_EQ(noise_of(5, settings), likelihood::Kind::Gaussian);
  settings.noise = likelihood::Kind::TwoNormals;
  EXPECT_EQ(noise_of(5, settings), likelihood::Kind::TwoNormals);
  settings.noise.reset();
  settings.noise_shape = 2;
  EXPECT_EQ(noise_of(20, settings), likelihood::Kind::Gaussian);
  settings.noise = likelihood::Kind::TwoNormals;
  expect_error<ArgumentError>([&] { check(settings); },
                              "are those of one noise level");
  settings = {};
  settings.method = "rdp";
  EXPECT_EQ(noise_of(20, settings), likelihood::Kind::Gaussian);
}

/// The draws of a chain are networks of another layout than a fit's.
TEST(TableFit, AFactorWidensTheNoiseOfChains) {
  const data::Table table = with_zeros(20);
  for (const auto noise :
       {likelihood::Kind::Gaussian, likelihood::Kind::TwoNormals}) {
    TableSettings settings;
    settings.method = "hmc";
    settings.noise = noise;
    settings.hidden = {3};
    settings.chains = 1;
    settings.hmc.warmup = settings.hmc.draws = settings.hmc.kept = 10;
    const auto deviation = [&](double factor) {
      settings.noise_factor = factor;
      const TableModel model = fit_table(table, "y", settings);
      double result = 0;
      TablePredictor predictor(model, 10, 1);
      predictor.regression(
          model.encoder.encode(table, false),
          [&](std::int64_t, const likelihood::PredictiveMixture& mixture) {
            result += mixture.aleatoric_deviation();
          });
      return result;
    };
    const double once = deviation(1);
    EXPECT_NEAR(deviation(4) / once, 2, 1e-4);
  }
}

TEST(TableFit, TheSameSeedGivesTheSameNetworksForAnyNumberOfThreads) {
  const RobotArm arm;
  TableSettings settings = short_training();
  settings.steps = 60;
  settings.restarts = 3;
  ThreadPool pool(3);
  const TableModel alone = fit_networks(arm.encoder, arm.rows, settings);
  const TableModel shared =
      fit_networks(arm.encoder, arm.rows, settings, nullptr, &pool);
  EXPECT_EQ(alone.networks, shared.networks);
  EXPECT_NE(alone.networks[0], alone.networks[1]);
  EXPECT_EQ(scores(alone, arm.test_rows), scores(alone, arm.test_rows, &pool));
}

TEST(TableFit, TheCallbackSeesEveryEpochOfEveryNetwork) {
  const RobotArm arm;
  TableSettings settings = short_training();
  settings.epochs = 4;
  settings.restarts = 2;
  std::vector<std::int64_t> epochs(2);
  fit_networks(arm.encoder, arm.rows, settings,
               [&](std::int64_t restart, const train::EpochReport& report) {
                 epochs[static_cast<std::size_t>(restart)] = report.epoch;
                 return true;
               });
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{4, 4}));
}

TEST(TableFit, ScoresAreThoseOfTheMixtureInOriginalUnits) {
  const RobotArm arm;
  for (auto noise :
       {likelihood::Kind::Gaussian, likelihood::Kind::PredictedNoise}) {
    TableSettings settings = short_training();
    settings.steps = 300;
    settings.noise = noise;
    const TableModel fitted = fit_networks(arm.encoder, arm.rows, settings);
    const train::Model model(fitted.spec);
    const double expected =
        -train::predictive_nll(model, fitted.networks[0], arm.test_rows.view(),
                               50, 3) -
        std::log(arm.encoder.target().scale);
    EXPECT_NEAR(scores(fitted, arm.test_rows)["log_likelihood"], expected,
                1e-9);
  }
}

TEST(TableFit, TheMixtureOfRestartsIsBetterThanItsMembersOnAverage) {
  const RobotArm arm;
  TableSettings settings = short_training();
  settings.restarts = 3;
  const TableModel all = fit_networks(arm.encoder, arm.rows, settings);
  double members = 0;
  for (const auto& network : all.networks) {
    TableModel one = all;
    one.networks = {network};
    members += scores(one, arm.test_rows)["log_likelihood"] / 3;
  }
  // Jensen's inequality: it holds for every table.
  EXPECT_GE(scores(all, arm.test_rows)["log_likelihood"], members);
}

TEST(TableFit, PredictsClasses) {
  const data::Table table = data::make_robot_arm_table(2000, 1);
  const data::Table test = data::make_robot_arm_table(500, 2);
  const data::TableEncoder encoder = data::TableEncoder::fit(table, "tool");
  const data::EncodedRows rows = encoder.encode(table, true);
  const TableModel model = fit_networks(encoder, rows, short_training());
  auto found = scores(model, encoder.encode(test, true));
  // Seeds 0 to 7 give up to 0.42, 0.87 and 0.13; chance is 0.67 and 1.10.
  EXPECT_LT(found["error"], 0.48);
  EXPECT_LT(found["nll"], 0.95);
  EXPECT_LT(found["ece"], 0.2);
  EXPECT_DOUBLE_EQ(found["nll"], -found["log_likelihood"]);
  EXPECT_GT(found["brier"], 0);
  TablePredictor predictor(model, 5, 1);
  expect_error<ArgumentError>([&] { predictor.regression(rows, nullptr); },
                              "predicts classes");
}

TEST(TableFit, PublishedEstimatorGrowsWithTheTestSetAsNoLogLikelihoodDoes) {
  const RobotArm arm;
  TableSettings settings = short_training();
  settings.steps = 300;
  const TableModel model = fit_networks(arm.encoder, arm.rows, settings);
  TablePredictor predictor(model, 100, 1);
  data::EncodedRows twice = arm.test_rows;
  twice.inputs.insert(twice.inputs.end(), arm.test_rows.inputs.begin(),
                      arm.test_rows.inputs.end());
  twice.targets.insert(twice.targets.end(), arm.test_rows.targets.begin(),
                       arm.test_rows.targets.end());
  twice.count *= 2;
  EXPECT_NEAR(predictor.published_estimator(twice) -
                  predictor.published_estimator(arm.test_rows),
              std::log(2.0), 1e-9);
  auto once = scores(model, arm.test_rows);
  auto doubled = scores(model, twice);
  EXPECT_NEAR(once["log_likelihood"], doubled["log_likelihood"], 1e-9);

  settings.noise = likelihood::Kind::PredictedNoise;
  TablePredictor other(fit_networks(arm.encoder, arm.rows, settings), 5, 1);
  expect_error<ArgumentError>([&] { other.published_estimator(arm.test_rows); },
                              "Gaussian");
  expect_error<ArgumentError>(
      [&] { other.classification(arm.test_rows, nullptr); }, "a number");
}

TEST(TableFit, TuningPrefersTheCandidateThatPredictsBetter) {
  const RobotArm arm;
  TableSettings good = short_training();
  TableSettings bad = good;
  bad.steps = 20;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(arm.train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  int calls = 0;
  const auto trials = compare_candidates(
      arm.train, "distance", data::MissingValues::Refuse, rows, {bad, good},
      nullptr, [&](const TableTrial&) { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(best_trial(trials).settings.steps, good.steps);

  expect_error<ArgumentError>(
      [&] {
        compare_candidates(arm.train, "distance", data::MissingValues::Refuse,
                           {1, 2, 3}, {good});
      },
      "at least 5 rows");
  expect_error<ArgumentError>(
      [&] {
        compare_candidates(arm.train, "distance", data::MissingValues::Refuse,
                           rows, {});
      },
      "no candidates");
}

TEST(TableFit, ASearchTrainsTheBestForLonger) {
  const RobotArm arm;
  const TableSettings good = short_training();
  std::vector<TableSettings> candidates(5, good);
  for (std::size_t i : {0, 1, 2, 4}) candidates[i].learning_rate = 1e-9;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(arm.train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  int calls = 0;
  const auto trials =
      search_settings(arm.train, "distance", data::MissingValues::Refuse, rows,
                      candidates, nullptr, [&](const TableTrial&) { ++calls; });
  EXPECT_EQ(calls, 5 + 2 + 1);
  EXPECT_EQ((SearchPlan{5}.trials()), 5 + 2 + 1);
  ASSERT_EQ(trials.size(), 8u);
  EXPECT_EQ(trials[0].settings.steps, good.steps / 9);
  EXPECT_EQ(trials[5].settings.steps, good.steps / 3);
  EXPECT_EQ(trials[5].settings.learning_rate, good.learning_rate);
  EXPECT_EQ(trials[7].round, 3);
  EXPECT_EQ(&best_trial(trials), &trials[7]);
  EXPECT_EQ(trials[7].settings.steps, good.steps);
  EXPECT_EQ(trials[7].settings.learning_rate, good.learning_rate);
}

/// One candidate has the smaller error, one the better likelihood: its noise
/// level is its own, that of the other is forced up.
TEST(TableFit, ASearchLooksForWhatItIsAskedFor) {
  const RobotArm arm;
  TableSettings close = short_training();
  close.method = "vmg";  // its noise is not tuned
  close.noise_factor = 10000;
  TableSettings rough = close;
  rough.noise_factor = 1;
  rough.steps = 300;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(arm.train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto best = [&](TuneFor goal) {
    SearchRules rules;
    rules.goal = goal;
    const auto trials = search_settings(
        arm.train, "distance", data::MissingValues::Refuse, rows,
        {close, rough, rough, close}, nullptr, nullptr, nullptr, rules);
    return best_trial(trials);
  };
  const TableTrial likely = best(TuneFor::LogLikelihood);
  const TableTrial exact = best(TuneFor::Rmse);
  EXPECT_GT(likely.candidate % 3, 0u);
  EXPECT_EQ(exact.candidate % 3, 0u);
  EXPECT_LT(exact.error, likely.error);
  EXPECT_LT(exact.log_likelihood, likely.log_likelihood);
  EXPECT_FALSE(exact.loss);
  const TableTrial crps = best(TuneFor::Crps);
  ASSERT_TRUE(crps.loss);
  EXPECT_GT(*crps.loss, 0);
  EXPECT_GT(crps.candidate % 3, 0u);
  EXPECT_EQ(crps.score(), -*crps.loss);
}

TEST(TableFit, AGoalMustBeOneOfTheTarget) {
  const RobotArm arm;
  expect_error<ArgumentError>(
      [&] { check_goal(TuneFor::Brier, arm.encoder); },
      "cannot tune for brier: the target \"distance\" is a number; tune for "
      "log-likelihood, rmse or crps");
  check_goal(TuneFor::Crps, arm.encoder);
  expect_error<ArgumentError>(
      [] { check_tuning(false, TuneFor::Rmse, std::nullopt); },
      "tune-for rmse says what tuning looks for; ask for tuning too");
  expect_error<ArgumentError>(
      [] { check_tuning(false, TuneFor::LogLikelihood, 3.0); },
      "tune-budget limits the time of tuning");
  expect_error<ArgumentError>(
      [] { check_tuning(true, TuneFor::LogLikelihood, 0.0); },
      "above 0 seconds");
}

TEST(TableFit, ASearchComparesNetworksUnlessOneIsGiven) {
  TableSettings settings = short_training();
  settings.hidden = TableSettings{}.hidden;
  const auto networks = search_candidates(settings, true);
  settings.hidden = {7};
  const auto given = search_candidates(settings, true);
  EXPECT_EQ(networks.size(), 3 * given.size());
  EXPECT_EQ(given[0].hidden, settings.hidden);
  EXPECT_EQ(networks.back().hidden, (std::vector<std::int64_t>{100, 100, 100}));
  settings.restarts = 0;
  EXPECT_EQ(searchable(settings).restarts, 4);
  settings.restarts = 1;
  EXPECT_EQ(searchable(settings).restarts, 1);
  settings.method = "hmc";
  expect_error<ArgumentError>([&] { searchable(settings); }, "compares fits");
}

TEST(TableFit, ACandidateWhoseTrainingFailsLoses) {
  const RobotArm arm;
  TableSettings wild = short_training();
  wild.steps = 200;
  wild.learning_rate = 1e30;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(arm.train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto trials = compare_candidates(
      arm.train, "distance", data::MissingValues::Refuse, rows, {wild});
  EXPECT_EQ(trials[0].log_likelihood, -INFINITY);
  expect_error<NumericalError>([&] { best_trial(trials); },
                               "every candidate's training failed");
}

TEST(TableFit, CandidatesCoverBothNoiseModelsOfANumber) {
  const TableSettings base = short_training();
  const auto numbers = tuning_candidates(base, false);
  const auto classes = tuning_candidates(base, true);
  EXPECT_EQ(numbers.size(), 2 * classes.size());
  EXPECT_GT(classes.size(), 1u);
}

TEST(TableFit, TheNoiseFactorIsTunedAndApplied) {
  const RobotArm arm;
  TableSettings settings = short_training();
  settings.method = "map";
  std::vector<std::int64_t> rows(static_cast<std::size_t>(arm.train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto trials = compare_candidates(
      arm.train, "distance", data::MissingValues::Refuse, rows, {settings});
  EXPECT_GT(trials[0].settings.noise_factor, 0);
  EXPECT_NE(trials[0].settings.noise_factor, 1);

  const TableModel plain = fit_networks(arm.encoder, arm.rows, settings);
  settings.noise_factor = 4;
  const TableModel noisy = fit_networks(arm.encoder, arm.rows, settings);
  const train::Model model(plain.spec);
  const auto variance = [&](const TableModel& fitted) {
    const auto q = likelihood::precision_of(
        train::likelihood_parameters(model, fitted.networks[0]).data());
    return q.rate / q.shape;
  };
  EXPECT_NEAR(variance(noisy) / variance(plain), 4, 1e-4);
}

/// Held-out rows show the noise that a close fit takes for smaller.
TEST(TableFit, ASearchFindsTheNoiseOfACloseFit) {
  const data::Table table = data::make_robot_arm_table(100, 3);
  std::vector<std::int64_t> rows(100);
  std::iota(rows.begin(), rows.end(), 0);
  TableSettings close = short_training();
  close.method = "rdp";
  close.kl_weight = 0.01;
  close.restarts = 2;
  const auto trials = compare_candidates(
      table, "distance", data::MissingValues::Refuse, rows, {close});
  EXPECT_GT(trials[0].settings.noise_factor, 1.5);
  EXPECT_EQ(trials[0].settings.restarts, 2);
  EXPECT_TRUE(std::isfinite(trials[0].log_likelihood));
}

TEST(TableFit, RefusesSettingsThatMakeNoSense) {
  const RobotArm arm;
  const auto expect_refused = [&](TableSettings settings, const char* part) {
    expect_error<ArgumentError>(
        [&] { fit_networks(arm.encoder, arm.rows, settings); }, part);
  };
  TableSettings settings;
  settings.hidden = {5, 0};
  expect_refused(settings, "hidden must be >= 1, but is 0");
  settings = {};
  settings.restarts = -1;
  expect_refused(settings, "from 0 to 1000");
  settings = {};
  settings.epochs = -1;
  expect_refused(settings, "epochs");
  settings = {};
  settings.batch = 0;
  expect_refused(settings, "batch");
  settings = {};
  settings.learning_rate = 0;
  expect_refused(settings, "learning_rate must be > 0");
  settings = {};
  settings.direction_gap = 2;
  expect_refused(settings, "direction_gap");
  TableScores none(arm.encoder);
  expect_error<ArgumentError>([&] { none.metrics(); }, "no rows");
}

TEST(TableFit, EveryFamilyLearns) {
  const RobotArm arm;
  const double constant = scores(fit_networks(arm.encoder, arm.rows,
                                              [] {
                                                TableSettings settings =
                                                    short_training();
                                                settings.steps = 1;
                                                return settings;
                                              }()),
                                 arm.test_rows)
                              .at("rmse");
  for (const auto& [family, options] :
       {std::pair("gaussian", "prior_scale=0.5,noise=activations"),
        std::pair("point", ""), std::pair("group-lasso", "strength=0.1")}) {
    SCOPED_TRACE(family);
    TableSettings settings = short_training();
    settings.family = family;
    settings.family_options = options;
    const auto json = to_json(settings);
    EXPECT_EQ(to_json(settings_from_json(json)), json);
    const TableModel model = fit_networks(arm.encoder, arm.rows, settings);
    EXPECT_STREQ(model.spec.weights[0].family().name(), family);
    EXPECT_LT(scores(model, arm.test_rows).at("rmse"), constant / 3);
  }
}

TEST(TableFit, FamiliesAndTheirOptionsAreChecked) {
  TableSettings settings;
  settings.family = "gausian";
  expect_error<UnsupportedError>([&] { check(settings); },
                                 "those known are radial-directional, gaus");
  settings.family = "gaussian";
  settings.family_options = "prior_scal=0.5";
  expect_error<ArgumentError>([&] { check(settings); },
                              "there is no \"prior_scal\"; did you mean");
  settings.family_options = "prior_scale=-1";
  expect_error<ArgumentError>([&] { check(settings); }, "prior_scale");
  settings.family_options = "";
  settings.method = "rdp";
  expect_error<ArgumentError>([&] { check(settings); },
                              "the method rdp has the family radial-direct");
}

TEST(TableFit, TheOutputLayerIsGaussianAsInTheArticle) {
  const auto family_of_last = [](const TableSettings& settings) {
    return std::string(weight_options(settings, true).family().name());
  };
  TableSettings settings = short_training();
  EXPECT_EQ(family_of_last(settings), "gaussian");
  settings.output_layer = OutputLayer::Same;
  EXPECT_EQ(family_of_last(settings), "radial-directional");
  settings.output_layer = OutputLayer::Gaussian;
  settings.family = "point";  // an ordinary network has no noise anywhere
  EXPECT_EQ(family_of_last(settings), "point");
}

/// Settings of version 0.1 say nothing of what came later, and mean what it
/// did.
TEST(TableFit, SettingsOfAnOlderVersionKeepTheirMeaning) {
  nlohmann::json old = nlohmann::json::parse(to_json(TableSettings()));
  for (const char* later :
       {"output_layer", "method", "family", "kl_weight", "chains",
        "direction_prior", "concentration_per_group"}) {
    old.erase(later);
  }
  const TableSettings settings = settings_from_json(old.dump());
  EXPECT_EQ(settings.output_layer, OutputLayer::Same);
  EXPECT_EQ(settings.method, "elbo");
  EXPECT_EQ(settings.direction_prior,
            posterior::DirectionPrior::LocationAgnostic);
}

/// A chain cannot sample a prior that follows the posterior.
TEST(TableFit, ChainsSampleUniformDirections) {
  TableSettings settings;
  settings.method = "hmc";
  EXPECT_EQ(weight_options(settings, false)
                .get<posterior::RadialDirectionalOptions>()
                .direction_prior,
            posterior::DirectionPrior::Uniform);
}

TEST(TableFit, EpochsMakeTheStepsAskedFor) {
  TableSettings settings;
  settings.batch = 100;
  settings.steps = 1000;
  EXPECT_EQ(epochs_of(settings, 950), 100);
  EXPECT_EQ(epochs_of(settings, 1000000), 1);
  settings.epochs = 7;
  EXPECT_EQ(epochs_of(settings, 950), 7);
}

TEST(TableFit, AModelFileThatIsNoTablesIsRefused) {
  const TemporaryFolder folder;
  const RobotArm arm;
  io::SavedModel saved;
  saved.spec = model_spec(short_training(), arm.encoder);
  saved.networks = {
      train::initial_state<float>(train::Model(saved.spec), 1, 9).parameters};
  io::write_model(folder / "m", saved);
  expect_error<IoError>([&] { load_table_model(folder / "m"); },
                        "not trained on a table");
  saved.preprocessing =
      data::TableEncoder::fit(arm.train, "tool").to_json();  // other columns
  io::write_model(folder / "m", saved);
  expect_error<IoError>([&] { load_table_model(folder / "m"); },
                        "does not fit its network");
  saved.preprocessing = arm.encoder.to_json();
  io::write_model(folder / "m", saved);
  EXPECT_EQ(load_table_model(folder / "m").networks, saved.networks);
}

TEST(TableFit, SettingsAndDataLeaveTheirTrace) {
  const RobotArm arm;
  const auto json =
      nlohmann::json::parse(to_json(short_training(), arm.rows.count));
  EXPECT_EQ(json["epochs"], 500);
  EXPECT_EQ(json["grouping"], "double");
  data::EncodedRows other = arm.rows;
  EXPECT_EQ(fingerprint(other), fingerprint(arm.rows));
  other.targets[5] += 1;
  EXPECT_NE(fingerprint(other), fingerprint(arm.rows));
}

TEST(TableSource, ChunksMakeUpTheTable) {
  const TemporaryFolder folder;
  std::string text = "a,unused,b,y\n";
  constexpr std::int64_t kRows = 20000;  // several chunks
  for (std::int64_t i = 0; i < kRows; ++i) {
    text += std::to_string(i) + ",x," + (i % 2 ? "u" : "v") + ",1\n";
  }
  const std::string path = folder.write("t.csv", text);
  const data::Table head = data::read_table(
      files::memory_byte_source("head", "a,b,y\n1,u,2\n2,v,3\n"));
  const data::TableEncoder encoder = data::TableEncoder::fit(head, "y");
  std::int64_t rows = 0;
  int chunks = 0;
  const auto extra = data::for_each_chunk(
      data::TableSource(std::vector<std::string>{path, path}), 0, encoder,
      false, [&](const data::TableChunk& chunk) {
        EXPECT_EQ(chunk.rows_before, rows);
        EXPECT_EQ(chunk.file_rows_before, rows % kRows);
        EXPECT_EQ(chunk.table.column("a").number(0),
                  static_cast<double>(rows % kRows));
        rows += chunk.table.rows();
        ++chunks;
      });
  EXPECT_EQ(rows, 2 * kRows);
  EXPECT_GT(chunks, 2);
  EXPECT_EQ(extra, (std::vector<std::string>{"unused"}));
}

}  // namespace
}  // namespace radir::workflows
