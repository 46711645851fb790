#include "radir/workflows/trials.h"

#include <gtest/gtest.h>

#include <cmath>

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

TableTrial trial(double log_likelihood, double error, std::int64_t round,
                 std::vector<std::int64_t> hidden) {
  TableTrial result;
  result.settings.hidden = std::move(hidden);
  result.log_likelihood = log_likelihood;
  result.error = error;
  result.round = round;
  return result;
}

/// The chosen one, the third, has the best likelihood of the last round.
Json config_of(double chosen_error) {
  const std::vector<TableTrial> trials = {
      trial(-1.0, 0.5, 1, {10}), trial(-INFINITY, INFINITY, 1, {20}),
      trial(-1.2, chosen_error, 2, {30}), trial(-1.5, 0.6, 2, {40})};
  return {{"tuned", true},
          {"tune_for", "log-likelihood"},
          {"trials", trials_json(trials, 100, false)}};
}

TEST(Trials, TheLastRoundAndTheBestComeFirst) {
  const report::Table table = trials_table(config_of(0.51));
  std::vector<std::string> titles;
  for (const auto& column : table.columns) titles.push_back(column.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"round", "log-likelihood", "RMSE",
                                              "hidden"}));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][3]), "[30]");
  EXPECT_EQ(std::get<std::string>(table.rows[1][3]), "[40]");
  EXPECT_EQ(std::get<std::string>(table.rows[2][3]), "[10]");
  EXPECT_EQ(std::get<double>(table.rows[2][1]), -1.0);
  EXPECT_EQ(trials_table(config_of(0.51), 2).rows.size(), 2u);
  EXPECT_TRUE(trials_table(Json::object()).rows.empty());
}

TEST(Trials, ALargerErrorForABetterLikelihoodIsSaid) {
  EXPECT_EQ(error_note(config_of(0.54)), "");
  EXPECT_EQ(error_note(config_of(2.25)),
            "The chosen settings have the best log-likelihood (-1.2) but not "
            "the smallest RMSE: 2.25, where another trial has 0.5 "
            "(log-likelihood -1). --tune --tune-for rmse looks for the "
            "smallest.");
  Json config = config_of(2.25);
  config["tune_for"] = "rmse";
  EXPECT_EQ(error_note(config), "");
  // Without tuning, the cheapest may be taken though another is a bit better.
  config = config_of(2.25);
  config["tuned"] = false;
  EXPECT_EQ(error_note(config), "");
  // Quick fits for each scale of the target are nothing to choose.
  config = config_of(0.54);
  config["trials"].push_back(
      trials_json({trial(-3, 0.1, 0, {10})}, 100, false)[0]);
  EXPECT_EQ(error_note(config), "");
}

TEST(Trials, ASearchForTheErrorPutsTheSmallestFirst) {
  Json config = config_of(2.25);
  config["tune_for"] = "rmse";
  const report::Table table = trials_table(config);
  EXPECT_EQ(std::get<std::string>(table.rows[0][3]), "[40]");
}

}  // namespace
}  // namespace radir::workflows
