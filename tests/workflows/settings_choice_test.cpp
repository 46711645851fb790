#include "radir/workflows/settings_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "radir/core/thread_pool.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {
namespace {

TEST(SettingsChoice, ComparesWhereNothingWasAskedForAndRowsAreEnough) {
  const data::Table table = data::make_robot_arm_table(50, 1);
  const auto encoder = data::TableEncoder::fit(table, "distance");
  TableSettings given;
  given.seed = 7;
  EXPECT_EQ(search_for(given, encoder, 1000), SettingsSearch::Defaults);
  EXPECT_EQ(search_for(given, encoder, 999), SettingsSearch::Given);
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
