#include "radir/workflows/table_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/evaluate_table.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/predict_table.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

TableSettings quick() {
  TableSettings settings;
  settings.hidden = {10};
  settings.steps = 300;
  return settings;
}

data::Table read(const std::string& text) {
  return data::read_table(files::memory_byte_source("rows", text));
}

TEST(TableModel, PredictsNumbersWithBothPartsAndQuantiles) {
  const data::Table table = data::make_robot_arm_table(200, 1);
  const TableModel model = fit_table(table, "distance", quick());
  EXPECT_TRUE(model.classes().empty());
  TablePredictionOptions options;
  options.quantiles = {0.1, 0.9};
  options.samples = 20;
  const TablePrediction p = model.predict(table, options);
  ASSERT_EQ(p.rows(), 200);
  ASSERT_EQ(p.quantiles.size(), 2u);
  for (std::size_t i = 0; i < p.mean.size(); ++i) {
    EXPECT_NEAR(p.sd[i], std::hypot(p.epistemic_sd[i], p.aleatoric_sd[i]),
                1e-9);
    EXPECT_LT(p.quantiles[0][i], p.mean[i]);
    EXPECT_GT(p.quantiles[1][i], p.mean[i]);
  }
  EXPECT_EQ(model.evaluate(table, options).front().first, "log_likelihood");
  options.quantiles = {1.5};
  expect_error<ArgumentError>([&] { model.predict(table, options); },
                              "above 0 and below 1");
}

TEST(TableModel, KnowsWhichColumnsMatter) {
  std::string text = "useful,useless,y\n";
  for (int i = 0; i < 120; ++i) {
    const int a = i * 7 % 20, b = i * 11 % 23;
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(3 * a) + "\n";
  }
  TableSettings settings = quick();
  settings.method = "rdp";
  settings.steps = 2000;
  const TableModel model = fit_table(read(text), "y", settings);
  const std::vector<double> importance = column_importance(model);
  ASSERT_EQ(importance.size(), 2u);
  EXPECT_GT(importance[0], 2 * importance[1]);
}

// Four levels with jumps between them.
TEST(TableModel, PiecesOfANumberFollowItsJumps) {
  const int levels[] = {0, 3, 1, 2};
  std::string text = "x,y\n";
  for (int i = 0; i < 200; ++i) {
    text += std::to_string(i) + "," + std::to_string(levels[i / 50]) + "\n";
  }
  TableSettings settings = quick();
  settings.method = "rdp";
  settings.steps = 3000;
  settings.kl_weight = 0.1;
  settings.pieces = 20;
  const data::Table table = read(text);
  const TableModel model = fit_table(table, "y", settings);
  EXPECT_EQ(model.encoder.input_size(), 21);
  const TablePrediction p = model.predict(table);
  for (const std::size_t row : {10u, 40u, 60u, 90u, 110u, 140u, 160u, 190u}) {
    EXPECT_NEAR(p.mean[row], levels[row / 50], 0.3) << row;
  }
  const auto curves =
      column_curves(model, model.encoder.encode(table, true), {0});
  ASSERT_EQ(curves.size(), 1u);
  for (std::size_t i = 0; i < curves[0].values.size(); ++i) {
    const double x = curves[0].values[i];
    if (std::abs(std::remainder(x, 50)) < 10) continue;  // a jump
    EXPECT_NEAR(curves[0].mean[i], levels[static_cast<int>(x) / 50], 0.3) << x;
  }
}

TEST(TableModel, CurvesFollowTheWeightsOfNetworks) {
  const data::Table table = data::make_robot_arm_table(200, 1);
  TableSettings settings = quick();
  settings.method = "rdp";
  settings.restarts = 2;
  TableModel model = fit_table(table, "distance", settings);
  const data::EncodedRows rows = model.encoder.encode(table, true);
  const auto curve = [&] { return column_curves(model, rows, {0}).at(0); };
  const ColumnCurve both = curve();
  model.weights = {1, 0};
  const ColumnCurve weighted = curve();
  model.weights.clear();
  model.networks.resize(1);
  const ColumnCurve first = curve();
  ASSERT_EQ(weighted.mean.size(), first.mean.size());
  for (std::size_t i = 0; i < first.mean.size(); ++i) {
    EXPECT_NEAR(weighted.mean[i], first.mean[i], 1e-12);
    EXPECT_NEAR(weighted.epistemic[i], first.epistemic[i], 1e-9);
  }
  EXPECT_GT(std::abs(both.mean.front() - first.mean.front()), 1e-6);
}

TEST(TableModel, PredictsClasses) {
  const data::Table table = data::make_robot_arm_table(200, 1);
  const TableModel model = fit_table(table, "tool", quick());
  const TablePrediction p = model.predict(table);
  ASSERT_EQ(p.rows(), 200);
  ASSERT_EQ(p.probabilities.size(), model.classes().size());
  double sum = 0;
  for (const auto& of_class : p.probabilities) sum += of_class[7];
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_GE(p.entropy[7], p.mutual_information[7]);
}

TEST(TableModel, RowsThatOverflowHaveNoPrediction) {
  const data::Table table = read("a,b,y\n1,u,2\n2,v,3\n3,u,5\n4,v,8\n5,u,13\n");
  const data::Table far = read("a,b,y\n1,u,2\n1e300,v,3\n2,u,5\n-1e39,v,8\n");
  for (const char* target : {"y", "b"}) {
    SCOPED_TRACE(target);
    const TableModel model = fit_table(table, target, quick());
    const TablePrediction p = model.predict(far);
    ASSERT_EQ(p.rows(), 4);
    EXPECT_EQ(p.overflowed, (std::vector<std::int64_t>{1, 3}));
    const std::vector<double>& uncertainty = p.label.empty() ? p.sd : p.entropy;
    for (std::size_t row = 0; row < 4; ++row) {
      EXPECT_EQ(std::isnan(uncertainty[row]), row % 2 == 1) << row;
      if (p.label.empty()) {
        EXPECT_EQ(std::isnan(p.quantiles[1][row]), row % 2 == 1) << row;
      } else {
        EXPECT_EQ(p.label[row].empty(), row % 2 == 1) << row;
      }
    }
    expect_error<NumericalError>([&] { model.evaluate(far); },
                                 "rows 2 and 4 cannot be scored");
  }
  // A target too large for a float cannot be scored either.
  const TableModel model = fit_table(table, "y", quick());
  expect_error<NumericalError>(
      [&] { model.evaluate(read("a,b,y\n1,u,2\n1,u,1e300\n")); },
      "row 2 cannot be scored");
}

TEST(RowList, NamesTheFirstRows) {
  RowList rows;
  rows.add({2}, 0);
  EXPECT_EQ(rows.names(), "row 3");
  rows.add({0, 6}, 10);
  EXPECT_EQ(rows.names(), "rows 3, 11 and 17");
  rows.add({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 20);
  EXPECT_EQ(rows.names(),
            "rows 3, 11, 17, 21, 22, 23, 24, 25, 26, 27 and 3 more");
  EXPECT_EQ(rows.count, 13);
}

TEST(TableModel, ComesBackFromAFile) {
  const TemporaryFolder folder;
  const data::Table table = data::make_robot_arm_table(200, 1);
  TableSettings settings = quick();
  settings.restarts = 2;
  const TableModel model = fit_table(table, "distance", settings);
  model.save(folder / "m.safetensors");
  const TableModel back = load_table_model(folder / "m.safetensors");
  EXPECT_EQ(back.predict(table).mean, model.predict(table).mean);

  // The same through a source that is read in chunks.
  TablePredictionOptions options;
  options.samples = 10;
  std::vector<double> means;
  const auto read_rows =
      predict_table(back, "builtin:robot-arm", options,
                    [&](std::int64_t first, const TablePrediction& p) {
                      EXPECT_EQ(first, static_cast<std::int64_t>(means.size()));
                      means.insert(means.end(), p.mean.begin(), p.mean.end());
                    });
  EXPECT_EQ(read_rows.rows, static_cast<std::int64_t>(means.size()));
  const auto scores = evaluate_table(back, "builtin:robot-arm", options);
  EXPECT_EQ(scores.first_network.size(), scores.metrics.size());
}

TEST(TableModel, TablesThatDoNotFitAreRejected) {
  const data::Table table = read("a,b,y\n1,u,2\n2,v,3\n3,u,5\n4,v,8\n5,u,13\n");
  const TableModel model = fit_table(table, "y", quick());
  expect_error<IoError>([&] { model.predict(read("a,c\n1,2\n2,3\n")); },
                        "the column \"b\" that the model needs is missing");
  expect_error<IoError>([&] { model.predict(read("a,b\n1,2\n2,3\n")); },
                        "\"b\" is numeric, but the model needs it categorical");
  expect_error<IoError>([&] { model.evaluate(read("a,b\n1,u\n2,v\n")); },
                        "\"y\"");
}

}  // namespace
}  // namespace radir::workflows
