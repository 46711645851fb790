#include "radir/workflows/importance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "radir/data/table.h"
#include "radir/files/byte_source.h"
#include "radir/posterior/grouping.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/inspect.h"

namespace radir::workflows {
namespace {

constexpr std::size_t kColumns = 8;

data::Table read(const std::string& text) {
  return data::read_table(files::memory_byte_source("rows", text));
}

/// Columns x1 ... x8: Friedman's function of the first five, or a plane over
/// the first three.
data::Table made_up(bool friedman, int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  std::string text = "x1,x2,x3,x4,x5,x6,x7,x8,y\n";
  for (int i = 0; i < rows; ++i) {
    double x[kColumns];
    for (double& value : x) {
      value = uniform(random);
      text += std::to_string(value) + ",";
    }
    const double y = friedman ? 10 * std::sin(3.14159265 * x[0] * x[1]) +
                                    20 * (x[2] - 0.5) * (x[2] - 0.5) +
                                    10 * x[3] + 5 * x[4]
                              : 6 * x[0] - 4 * x[1] + 3 * x[2];
    text += std::to_string(y + normal(random) / 2) + "\n";
  }
  return read(text);
}

/// The weakest of the relevant columns less the strongest of the others.
template <typename Value>
double margin(std::size_t relevant, const Value& value) {
  double weakest = INFINITY, strongest = -INFINITY;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (c < relevant) {
      weakest = std::min(weakest, value(c));
    } else {
      strongest = std::max(strongest, value(c));
    }
  }
  return weakest - strongest;
}

struct Case {
  const char* method;
  bool friedman;
};

class ColumnImportance : public ::testing::TestWithParam<Case> {};

TEST_P(ColumnImportance, PutsIrrelevantColumnsLastAsShufflingDoes) {
  const bool friedman = GetParam().friedman;
  TableSettings settings;
  settings.method = GetParam().method;
  settings.hidden = {20};
  settings.chains = 2;
  settings.hmc.warmup = 100;
  settings.hmc.draws = 100;
  settings.hmc.leapfrog_steps = 50;
  const TableModel model = fit_table(made_up(friedman, 2000, 1), "y", settings);
  const auto strengths = column_strengths(model);
  ASSERT_EQ(strengths.size(), kColumns);
  const std::size_t relevant = friedman ? 5 : 3;
  EXPECT_GT(margin(relevant, [&](std::size_t c) { return strengths[c].mean; }),
            0);
  for (const ColumnStrength& strength : strengths) {
    EXPECT_GT(strength.sd, 0);
    EXPECT_LE(strength.lower, strength.upper) << strength.column;
  }
  ShuffledColumns shuffled(model.encoder);
  shuffled.add(model, model.encoder.encode(made_up(friedman, 300, 2), true),
               300, 20, 1);
  const auto effects = shuffled.effects();
  ASSERT_EQ(effects.size(), kColumns);
  EXPECT_GT(margin(relevant, [&](std::size_t c) { return effects[c].rise; }),
            0);
  for (std::size_t c = 0; c < relevant; ++c) {
    EXPECT_GT(effects[c].rise, 3 * effects[c].error) << effects[c].column;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, ColumnImportance,
                         ::testing::Values(Case{"rdp", false},
                                           Case{"rdp", true}, Case{"vi", true},
                                           Case{"hmc", false},
                                           Case{"hmc", true}),
                         [](const auto& one) {
                           return std::string(one.param.method) +
                                  (one.param.friedman ? "Friedman" : "Linear");
                         });

TEST(Importance, ACategoryIsOneColumn) {
  std::string text = "city,noise,y\n";
  const char* const names[] = {"Bonn", "Oslo", "Rome"};
  for (int i = 0; i < 150; ++i) {
    text += std::string(names[i % 3]) + "," + std::to_string(i * 31 % 17) +
            "," + std::to_string(5 * (i % 3)) + "\n";
  }
  TableSettings settings;
  settings.method = "rdp";
  settings.hidden = {10};
  settings.steps = 2000;
  const TableModel model = fit_table(read(text), "y", settings);
  const auto strengths = column_strengths(model);
  ASSERT_EQ(strengths.size(), 2u);
  EXPECT_EQ(strengths[0].column, "city");
  EXPECT_GT(strengths[0].mean, 2 * strengths[1].mean);
  EXPECT_EQ(strength_order(strengths), (std::vector<std::size_t>{0, 1}));
}

TEST(DropColumns, APrunedModelNeedsOnlyTheColumnsItReads) {
  const data::Table table = made_up(false, 400, 1);
  TableSettings settings;
  settings.method = "rdp";
  settings.grouping = posterior::Grouping::Column;
  settings.hidden = {20};
  settings.steps = 8000;
  const io::SavedModel pruned =
      prune_model(saved_model(fit_table(table, "y", settings)), {});
  io::SavedModel smaller = pruned;
  const KeptColumns use = drop_unused_columns(smaller);
  EXPECT_EQ(use.kept, (std::vector<std::string>{"x1", "x2", "x3"}));
  EXPECT_EQ(use.removed.size(), 5u);
  const TableModel before = table_model("before", pruned);
  const TableModel after = table_model("after", smaller);
  EXPECT_EQ(after.encoder.input_size(), 3);
  EXPECT_EQ(after.predict(table).mean, before.predict(table).mean);
  EXPECT_EQ(column_strengths(before)[7].mean, 0);
  const data::Table narrow = read("x3,x2,x1\n0.5,0.2,0.1\n0.1,0.7,0.3\n");
  EXPECT_EQ(after.predict(narrow).rows(), 2);
  // Nothing is left to drop.
  EXPECT_TRUE(drop_unused_columns(smaller).removed.empty());
}

}  // namespace
}  // namespace radir::workflows
