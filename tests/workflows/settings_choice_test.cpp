#include "radir/workflows/settings_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

#include "radir/core/thread_pool.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/table_fit.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;

TEST(SettingsChoice, ComparesWhereNothingWasAskedForAndRowsAreEnough) {
  const data::Table table = data::make_robot_arm_table(50, 1);
  const auto encoder = data::TableEncoder::fit(table, "distance");
  TableSettings given;
  given.seed = 7;
  EXPECT_EQ(search_for(given, encoder, 1000), SettingsSearch::Defaults);
  EXPECT_EQ(search_for(given, encoder, 999), SettingsSearch::Given);
  // The own scale of the target leaves the model open, its logarithm does not.
  TableSettings scaled = given;
  scaled.target_scale = TargetScale::Own;
  EXPECT_EQ(search_for(scaled, encoder, 1000), SettingsSearch::Defaults);
  scaled.target_scale = TargetScale::Logarithm;
  EXPECT_EQ(search_for(scaled, encoder, 1000), SettingsSearch::Given);
  TableSettings changed = given;
  changed.noise = likelihood::Kind::Gaussian;
  EXPECT_EQ(search_for(changed, encoder, 1000), SettingsSearch::Given);
  changed = given;
  changed.hidden = {20};
  EXPECT_EQ(search_for(changed, encoder, 1000), SettingsSearch::Given);
  changed = given;
  changed.method = "rdp";
  EXPECT_EQ(search_for(changed, encoder, 1000), SettingsSearch::Given);
}

TEST(SettingsChoice, RowsThatAreHeldOutLaterAreNotCompared) {
  TableSettings settings;
  settings.seed = 5;
  for (const std::int64_t count : {50000, 50001, 51000, 54999, 60000}) {
    SCOPED_TRACE(count);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    const auto compared = compared_rows(rows, settings.seed);
    EXPECT_LE(compared.size(), 50000u);
    EXPECT_GE(compared.size(), 45001u);
    if (count == 50000) continue;
    const auto held = holdout_parts(count, settings, true).front().held_out;
    std::vector<std::int64_t> both;
    std::set_intersection(compared.begin(), compared.end(), held.begin(),
                          held.end(), std::back_inserter(both));
    EXPECT_TRUE(both.empty()) << both.size();
  }
}

double fraction(double x) { return x - std::floor(x); }

/// A table of 1,000 rows.
data::Table table_of(double (*target)(double x, int row)) {
  std::string text = "x,y\n";
  for (int i = 0; i < 1000; ++i) {
    const double x = fraction(i * 0.618034);
    text += std::to_string(x) + "," + std::to_string(target(x, i)) + "\n";
  }
  return data::read_table(files::memory_byte_source("made up", text));
}

/// The sum of twelve uniform numbers less its mean is nearly normal.
double nearly_normal(int i) {
  double sum = -6;
  for (int k = 1; k <= 12; ++k) {
    sum += fraction((i + 1) * std::sqrt(k + 0.5) * 1.324718);
  }
  return sum;
}

/// What is compared: one network of one noise level, trained for a short time.
TableSettings quick_settings() {
  TableSettings settings;
  settings.method = "rdp";
  settings.steps = 3000;
  return settings;
}

ChosenSettings chosen_for(const data::Table& table) {
  const auto encoder = data::TableEncoder::fit(table, "y");
  const auto rows = encoder.encode(table, true);
  ThreadPool pool(2);
  std::int64_t last = 0;
  ChosenSettings chosen =
      choose_settings(SettingsSearch::Defaults, table, encoder, rows.table_rows,
                      resolved(quick_settings(), encoder, rows.count), &pool,
                      [&](std::int64_t done, std::int64_t total) {
                        EXPECT_EQ(done, last + 1);
                        EXPECT_EQ(total, 3);
                        last = done;
                      });
  EXPECT_EQ(last, 3);
  EXPECT_EQ(chosen.trials.size(), 3u);
  return chosen;
}

// Copies are on one side of the comparison, and say nothing more.
TEST(SettingsChoice, CopiesOfFewRowsAreNotCompared) {
  const data::Table table = table_of([](double x, int) { return x; });
  const auto encoder = data::TableEncoder::fit(table, "y");
  std::vector<std::int64_t> copies(1200);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i] = static_cast<std::int64_t>(i / 300);
  }
  const ChosenSettings chosen =
      choose_settings(SettingsSearch::Defaults, table, encoder, copies,
                      resolved(quick_settings(), encoder, 1200));
  EXPECT_TRUE(chosen.trials.empty());
  EXPECT_EQ(chosen.settings.noise, likelihood::Kind::Gaussian);
  EXPECT_EQ(chosen.settings.steps, quick_settings().steps);
}

// Two peaks: one normal distribution wastes most of its probability.
TEST(SettingsChoice, TakesTheMixtureWhereTheNoiseAsksForIt) {
  const ChosenSettings chosen = chosen_for(table_of([](double x, int i) {
    return 2 * x + (i * 7919 % 1009 < 500 ? 1.0 : -1.0) +
           0.02 * std::sin(1.7 * i);
  }));
  EXPECT_EQ(chosen.settings.noise, likelihood::Kind::Mixture);
  EXPECT_GT(chosen.trials[1].log_likelihood,
            chosen.trials[0].log_likelihood + 0.5);
}

TEST(SettingsChoice, KeepsOneNoiseLevelWhereThatIsRight) {
  const ChosenSettings chosen = chosen_for(
      table_of([](double x, int i) { return 2 * x + 0.3 * nearly_normal(i); }));
  EXPECT_EQ(chosen.settings.noise, likelihood::Kind::Gaussian);
  EXPECT_EQ(chosen.settings.steps, quick_settings().steps);
}

// Jumps, which a network of the number itself smooths.
TEST(SettingsChoice, CutsNumbersIntoPiecesWhereTheTargetJumps) {
  const ChosenSettings chosen = chosen_for(table_of([](double x, int i) {
    return fraction(7 * std::floor(16 * x) / 16 + 0.3) +
           0.01 * nearly_normal(i);
  }));
  EXPECT_EQ(chosen.settings.pieces, 16);
  EXPECT_GT(chosen.trials[2].log_likelihood,
            chosen.trials[1].log_likelihood + 0.1);
}

// Next to no noise: what is left is the error of a short training.
TEST(SettingsChoice, TrainsLongerWhereThereIsHardlyAnyNoise) {
  const data::Table table = table_of([](double x, int i) {
    return std::sin(12 * x) + 0.001 * nearly_normal(i);
  });
  const auto encoder = data::TableEncoder::fit(table, "y");
  const auto rows = encoder.encode(table, true);
  ThreadPool pool(2);
  const ChosenSettings chosen =
      choose_settings(SettingsSearch::Defaults, table, encoder, rows.table_rows,
                      resolved(quick_settings(), encoder, rows.count), &pool);
  ASSERT_EQ(chosen.trials.size(), 4u);
  EXPECT_GT(chosen.trials[3].log_likelihood,
            chosen.trials[0].log_likelihood + 0.5);
  EXPECT_EQ(chosen.settings.steps, 22500);
  EXPECT_EQ(chosen.settings.noise, likelihood::Kind::Gaussian);
  EXPECT_EQ(chosen.settings.hidden, (std::vector<std::int64_t>{100, 100}));
}

/// A positive target with a long tail: its logarithm is a line and some noise.
data::Table prices_table(int rows) {
  std::string text = "x,y\n";
  for (int i = 0; i < rows; ++i) {
    const double x = fraction(i * 0.618034);
    text += std::to_string(x) + "," +
            std::to_string(std::exp(5 * x + 0.1 * nearly_normal(i))) + "\n";
  }
  return data::read_table(files::memory_byte_source("made up", text));
}

ChosenSettings chosen_scale(
    const data::Table& table, TableSettings settings,
    const SearchRequest& search = SettingsSearch::Given) {
  const auto encoder = data::TableEncoder::fit(table, "y");
  const auto rows = encoder.encode(table, true);
  return choose_settings(search, table, encoder, rows.table_rows,
                         resolved(settings, encoder, rows.count));
}

TEST(SettingsChoice, TakesTheLogarithmOfATargetWithALongTail) {
  const data::Table table = prices_table(200);
  const ChosenSettings chosen = chosen_scale(table, quick_settings());
  EXPECT_EQ(chosen.settings.target_scale, TargetScale::Logarithm);
  ASSERT_EQ(chosen.trials.size(), 2u);
  EXPECT_EQ(chosen.trials[0].settings.target_scale, TargetScale::Own);
  EXPECT_EQ(chosen.trials[0].round, 0);
  EXPECT_GT(chosen.trials[1].log_likelihood,
            chosen.trials[0].log_likelihood + 0.5);

  // The likelihoods of trials are in original units, as those of models.
  const TableModel model = fit_table(table, "y", quick_settings());
  EXPECT_FALSE(model.encoder.target().transform.is_none());
  const TableMetrics metrics = model.evaluate(prices_table(300));
  EXPECT_EQ(metrics[0].first, "log_likelihood");
  // Of the true distribution: that of the normal noise less the mean of log y.
  const double best = -std::log(0.1) - 0.5 * std::log(2 * M_PI * M_E) - 2.5;
  EXPECT_NEAR(metrics[0].second, best, 0.15);
  EXPECT_NEAR(chosen.trials[1].log_likelihood, best, 0.4);
}

TEST(SettingsChoice, KeepsTheOwnScaleOfOtherTargets) {
  const data::Table table = prices_table(200);
  TableSettings own = quick_settings();
  own.target_scale = TargetScale::Own;
  EXPECT_TRUE(chosen_scale(table, own).trials.empty());
  TableSettings mixture = quick_settings();
  mixture.noise = likelihood::Kind::Mixture;
  const ChosenSettings chosen = chosen_scale(table, mixture);
  EXPECT_EQ(chosen.settings.target_scale, TargetScale::Own);
  EXPECT_TRUE(chosen.trials.empty());
  // No tail.
  const ChosenSettings line = chosen_scale(
      table_of([](double x, int i) { return 2 * x + nearly_normal(i); }),
      quick_settings());
  EXPECT_EQ(line.settings.target_scale, TargetScale::Own);
  EXPECT_TRUE(line.trials.empty());
  // Too few rows.
  EXPECT_TRUE(chosen_scale(prices_table(49), quick_settings()).trials.empty());
}

// A tail of the inputs alone: the noise is the same everywhere.
TEST(SettingsChoice, KeepsTheOwnScaleWhereTheLogarithmIsNoBetter) {
  const data::Table table = table_of([](double x, int i) {
    return 20 * std::pow(x, 8) + 2 + 0.2 * nearly_normal(i);
  });
  const ChosenSettings chosen = chosen_scale(table, quick_settings());
  EXPECT_EQ(chosen.trials.size(), 2u);
  EXPECT_EQ(chosen.settings.target_scale, TargetScale::Own);
}

// The density of a logarithm rewards repeated small values.
TEST(SettingsChoice, KeepsTheOwnScaleOfSmallCounts) {
  const auto zero_or_one = [](double x, int i) {
    return x + 0.2 * nearly_normal(i) > 0.9 ? 1.0 : 0.0;
  };
  const auto count = [](double x, int i) {
    return std::floor(std::exp(2 * x + 0.3 * nearly_normal(i)));
  };
  for (const data::Table& table : {table_of(zero_or_one), table_of(count)}) {
    const ChosenSettings chosen = chosen_scale(table, quick_settings());
    EXPECT_EQ(chosen.settings.target_scale, TargetScale::Own);
    EXPECT_TRUE(chosen.trials.empty());
  }
}

TEST(SettingsChoice, KeepsTheOwnScaleWhereNothingCanBeCompared) {
  // The one other value of the target is among the rows that would judge.
  std::string text = "x,y\n";
  const auto add = [&](int i, const char* y) {
    text += std::to_string(fraction(i * 0.618034)) + "," + y + "\n";
  };
  const TableSettings settings = quick_settings();
  const auto order = train::shuffled(60, validation_seed(settings.seed), 0);
  for (int i = 0; i < 60; ++i) {
    add(i, i == order[0] ? "100" : i == order[1] ? "5.1" : "5");
  }
  const data::Table table =
      data::read_table(files::memory_byte_source("made up", text));
  const ChosenSettings chosen = chosen_scale(table, settings);
  EXPECT_EQ(chosen.settings.target_scale, TargetScale::Own);
  EXPECT_TRUE(chosen.trials.empty());
}

TEST(SettingsChoice, KeepsTheOwnScaleWhereTheSearchLooksForSomethingElse) {
  SearchRequest request = SettingsSearch::Given;
  request.goal = TuneFor::Rmse;
  const data::Table table = prices_table(200);
  EXPECT_TRUE(chosen_scale(table, quick_settings(), request).trials.empty());
  request = SettingsSearch::Given;
  request.budget = 60;
  EXPECT_TRUE(chosen_scale(table, quick_settings(), request).trials.empty());
}

TEST(SettingsChoice, TunesALogarithmThatWasAskedForWithoutMixtures) {
  const data::Table table = prices_table(200);
  TableSettings settings = quick_settings();
  settings.target_scale = TargetScale::Logarithm;
  auto encoder = data::TableEncoder::fit(table, "y");
  auto rows = encoder.encode(table, true);
  encode_for(settings, table, encoder, rows);
  const ChosenSettings chosen =
      choose_settings(SettingsSearch::Tuning, table, encoder, rows.table_rows,
                      resolved(settings, encoder, rows.count));
  EXPECT_FALSE(chosen.trials.empty());
  for (const TableTrial& trial : chosen.trials) {
    EXPECT_EQ(trial.settings.target_scale, TargetScale::Logarithm);
    EXPECT_NE(trial.settings.noise, likelihood::Kind::Mixture);
  }
}

TEST(SettingsChoice, MixturesOfNoisesHaveNoLogarithm) {
  TableSettings settings;
  settings.noise = likelihood::Kind::Mixture;
  settings.target_scale = TargetScale::Logarithm;
  expect_error<ArgumentError>([&] { check(settings); },
                              "supports no target_scale log");
  // Candidates of a search that have such a noise keep the own scale.
  settings.noise.reset();
  settings.method = "rdp";
  for (const TableSettings& one : tuning_candidates(settings, false)) {
    const bool is_mixture = one.noise == likelihood::Kind::Mixture;
    EXPECT_EQ(*one.target_scale,
              is_mixture ? TargetScale::Own : TargetScale::Logarithm);
    check(one);
  }
}

/// A straight line with little noise.
data::Table line_table(int rows) {
  std::string text = "x,y\n";
  for (int i = 0; i < rows; ++i) {
    const double x = fraction(i * 0.618034);
    text += std::to_string(x) + "," +
            std::to_string(3 * x + 0.01 * nearly_normal(i)) + "\n";
  }
  return data::read_table(files::memory_byte_source("made up", text));
}

TEST(SettingsChoice, DefaultModelsAreWhatTrainingTakesByItself) {
  const auto encoder = data::TableEncoder::fit(line_table(30), "y");
  const auto few = default_models(3, encoder, 30);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].method, "hmc");
  EXPECT_EQ(few[0].seed, 3u);
  TableSettings open;
  open.seed = 3;
  EXPECT_EQ(to_json(few[0]), to_json(resolved(open, encoder, 30)));
  const auto more = default_models(3, encoder, 1000);
  ASSERT_EQ(more.size(), 3u);
  EXPECT_EQ(more[0].method, "hmc");
  EXPECT_EQ(more[1].noise, likelihood::Kind::Mixture);
  EXPECT_EQ(more[2].pieces, 16);
  EXPECT_EQ(more[2].steps, 10000);
  // Ten thousand steps are few passes over many rows.
  const auto many = default_models(3, encoder, 30000);
  EXPECT_EQ(many.back().steps, 48000);
  EXPECT_EQ(many.back().pieces, 16);
  EXPECT_EQ(many.size(), more.size() + 1);
  // Too many rows to sample: the fit is among the candidates of a search.
  EXPECT_EQ(default_models(3, encoder, 1000000).front().method, "rdp");
}

// Fits of a few steps lose to samples of the exact posterior.
TEST(SettingsChoice, TuningTakesTheDefaultWhereThatIsBetter) {
  const data::Table table = line_table(30);
  const auto encoder = data::TableEncoder::fit(table, "y");
  const auto rows = encoder.encode(table, true);
  TableSettings given = quick_settings();
  given.steps = 90;
  given.hidden = {5};
  const auto settings = resolved(searchable(given), encoder, rows.count);
  ThreadPool pool(2);
  SearchRequest request = SettingsSearch::Tuning;
  for (const bool with_defaults : {false, true}) {
    request.with_defaults = with_defaults;
    std::int64_t last = 0;
    const ChosenSettings chosen =
        choose_settings(request, table, encoder, rows.table_rows, settings,
                        &pool, [&](std::int64_t done, std::int64_t total) {
                          last = done;
                          EXPECT_LE(done, total);
                        });
    EXPECT_EQ(last, static_cast<std::int64_t>(chosen.trials.size()));
    EXPECT_EQ(chosen.settings.method, with_defaults ? "hmc" : "rdp");
    EXPECT_EQ(chosen.trials.back().round, 3);
    EXPECT_EQ(chosen.trials.back().settings.method,
              with_defaults ? "hmc" : "rdp");
  }
  // Nobody knows before how long chains take.
  request.budget = 3600;
  const ChosenSettings hasty = choose_settings(
      request, table, encoder, rows.table_rows, settings, &pool);
  EXPECT_EQ(hasty.settings.method, "rdp");
}

// Their inputs would make each step slow, or not fit into memory.
TEST(SettingsChoice, PiecesStayFew) {
  for (const int columns : {2, 20, 40}) {
    std::string text;
    for (int c = 0; c <= columns; ++c) {
      text += (c > 0 ? "," : "") + ("x" + std::to_string(c));
    }
    for (int i = 0; i < 60; ++i) {
      text += "\n";
      for (int c = 0; c <= columns; ++c) {
        text += (c > 0 ? "," : "") +
                std::to_string(fraction(i * std::sqrt(c + 2.1)));
      }
    }
    const auto table =
        data::read_table(files::memory_byte_source("made up", text));
    const auto encoder = data::TableEncoder::fit(table, "x0");
    EXPECT_EQ(affordable_pieces(encoder, 1000), columns == 2    ? 16
                                                : columns == 20 ? 6
                                                                : 0);
    EXPECT_EQ(affordable_pieces(encoder, 1000000000), 0);
  }
}

}  // namespace
}  // namespace radir::workflows
