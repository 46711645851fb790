#include "radir/workflows/table_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/evaluate_table.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/table_fit.h"
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
