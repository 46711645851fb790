#include "radir/workflows/holdout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/files/byte_source.h"
#include "radir/train/trainer.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_search.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;

TableSettings quick(const char* method = "rdp") {
  TableSettings settings;
  settings.method = method;
  settings.hidden = {10};
  settings.steps = 3000;
  return settings;
}

/// y = 2 a + 1 with noise of standard deviation 0.5, or its three ranges; b
/// does nothing.
HeldOut linear_case(int rows, bool classes, std::int64_t pieces = 0) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::string text = "a,b,y\n";
  for (int i = 0; i < rows; ++i) {
    const double a = normal(random), b = normal(random);
    const double y = 2 * a + 1 + normal(random) / 2;
    text += std::to_string(a) + "," + std::to_string(b) + ",";
    text += classes ? (y > 2   ? "high"
                       : y > 0 ? "mid"
                               : "low")
                    : std::to_string(y);
    text += "\n";
  }
  const data::Table table =
      data::read_table(files::memory_byte_source("rows", text));
  auto encoder = data::TableEncoder::fit(table, "y");
  auto encoded = encoder.encode(table, true);
  TableSettings settings = quick();
  settings.pieces = pieces;
  encode_for(settings, table, encoder, encoded);
  settings = resolved(settings, encoder, encoded.count);
  return hold_out(encoder, encoded,
                  holdout_parts(encoded.count, settings, false), settings);
}

double metric(const TableMetrics& metrics, const std::string& name) {
  return std::map<std::string, double>(metrics.begin(), metrics.end()).at(name);
}

TEST(Holdout, TheLinearModelKnowsNoPieces) {
  EXPECT_EQ(linear_case(60, false, 8).linear, linear_case(60, false).linear);
}

TEST(Holdout, EveryRowIsHeldOutOnceWhereFitsAreCheap) {
  const auto parts = holdout_parts(103, quick(), false);
  ASSERT_EQ(parts.size(), 5u);
  std::multiset<std::int64_t> held;
  for (const HoldoutPart& part : parts) {
    EXPECT_EQ(part.fitted.size() + part.held_out.size(), 103u);
    held.insert(part.held_out.begin(), part.held_out.end());
  }
  EXPECT_EQ(held.size(), 103u);
  EXPECT_EQ(std::set<std::int64_t>(held.begin(), held.end()).size(), 103u);
  EXPECT_EQ(holdout_parts(103, quick("hmc"), false).size(), 5u);
  EXPECT_EQ(holdout_parts(300, quick("hmc"), false).size(), 1u);
  EXPECT_TRUE(holdout_parts(9, quick(), false).empty());
}

TEST(Holdout, AFifthOfALongTableIsHeldOutAndFiveThousandAtMost) {
  EXPECT_EQ(holdout_parts(2000, quick(), false).front().held_out.size(), 400u);
  EXPECT_EQ(holdout_parts(80000, quick(), false).front().held_out.size(),
            5000u);
}

TEST(Holdout, TunedSettingsAreScoredOnOtherRowsThanTheyWereChosenOn) {
  const TableSettings settings = quick();
  const auto parts = holdout_parts(100, settings, true);
  ASSERT_EQ(parts.size(), 1u);
  const auto order = train::shuffled(100, validation_seed(settings.seed), 0);
  const auto& held = parts[0].held_out;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(std::count(held.begin(), held.end(), order[i]), 0) << order[i];
  }
}

TEST(Holdout, ScoresANumberAgainstSimpleModels) {
  const HeldOut found = linear_case(300, false);
  EXPECT_EQ(found.parts, 5);
  EXPECT_EQ(found.assessment.rows, 300);
  const TableMetrics& model = found.assessment.metrics;
  // The truth is a line with noise 0.5.
  EXPECT_NEAR(metric(found.linear, "rmse"), 0.5, 0.05);
  EXPECT_NEAR(metric(model, "rmse"), 0.5, 0.1);
  EXPECT_NEAR(metric(found.constant, "rmse"), 2.06, 0.2);
  EXPECT_NEAR(metric(found.linear, "coverage_90"), 0.9, 0.05);
  EXPECT_NEAR(metric(model, "coverage_90"), 0.9, 0.08);
  EXPECT_NEAR(metric(found.linear, "width_90"), 2 * 1.645 * 0.5, 0.2);
  EXPECT_NEAR(metric(model, "median_absolute_error"), 0.6745 * 0.5, 0.08);
  EXPECT_GT(metric(model, "log_likelihood"),
            metric(found.constant, "log_likelihood"));
  EXPECT_EQ(columns_that_matter(found), std::vector<std::string>{"a"});
  const std::string words = headline(found);
  EXPECT_EQ(words.rfind("Typical error ± 0.", 0), 0u) << words;
  EXPECT_NE(words.find("of 300 held-out rows; 1 input matters: a."),
            std::string::npos)
      << words;
  EXPECT_EQ(describe(found),
            "all 300 rows, each predicted by a fit without it (5 fits of 1 "
            "network, rdp)");
}

TEST(Holdout, ScoresClassesAgainstSimpleModels) {
  const HeldOut found = linear_case(300, true);
  const TableMetrics& model = found.assessment.metrics;
  EXPECT_GT(metric(model, "accuracy"), 0.75);
  EXPECT_GT(metric(model, "auc"), 0.85);
  EXPECT_GT(metric(found.linear, "accuracy"), 0.7);
  EXPECT_LT(metric(found.constant, "accuracy"), 0.5);
  ASSERT_TRUE(found.assessment.classes);
  EXPECT_EQ(found.assessment.classes->confusion.size(), 3u);
  EXPECT_EQ(headline(found).rfind("The right class for ", 0), 0u);
}

TEST(Holdout, ComesBackFromJson) {
  for (const bool classes : {false, true}) {
    const std::string text = to_json(linear_case(60, classes)).dump();
    const HeldOut back = held_out_from_json("holdout.json", text);
    EXPECT_EQ(to_json(back).dump(), text);
  }
  expect_error<IoError>([] { held_out_from_json("holdout.json", "{}"); },
                        "holdout.json");
  expect_error<IoError>([] { held_out_from_json("holdout.json", "{"); },
                        "holdout.json");
}

}  // namespace
}  // namespace radir::workflows
