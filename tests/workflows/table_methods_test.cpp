#include "radir/workflows/table_methods.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "radir/core/error.h"
#include "radir/posterior/point.h"
#include "radir/workflows/table_search.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using testing::expect_error;

TEST(TableMethods, SmallTablesAreSampled) {
  const TableSettings small = resolved(TableSettings(), 500, 10, 1);
  EXPECT_EQ(small.method, "hmc");
  EXPECT_GT(small.hmc.leapfrog_steps, train::HmcOptions().leapfrog_steps);
  EXPECT_GT(small.chains, TableSettings().chains);
  EXPECT_EQ(small.grouping, posterior::Grouping::Column);
  EXPECT_EQ(method_of(small).trainer, "hmc");
  EXPECT_EQ(family_of(small), "radial-directional");
}

TEST(TableMethods, ChainsBecomeShorterAndThenAFit) {
  const TableSettings middle = resolved(TableSettings(), 7000, 20, 1);
  EXPECT_EQ(middle.method, "hmc");
  EXPECT_LT(middle.hmc.leapfrog_steps, train::HmcOptions().leapfrog_steps);
  const TableSettings large = resolved(TableSettings(), 1000000, 20, 1);
  EXPECT_EQ(large.method, "rdp");
  EXPECT_EQ(large.grouping, posterior::Grouping::Row);
  EXPECT_EQ(large.hmc.draws, train::HmcOptions().draws);
}

TEST(TableMethods, ChangedSettingsSayWhatIsWanted) {
  TableSettings settings;
  settings.epochs = 3;
  EXPECT_EQ(resolved(settings, 500, 10, 1).method, "rdp");
  settings = TableSettings();
  settings.chains = 2;
  EXPECT_EQ(resolved(settings, 1000000, 20, 1).method, "hmc");
  settings = TableSettings();
  settings.family = "gaussian";
  settings = resolved(settings, 500, 10, 1);
  EXPECT_EQ(settings.method, "elbo");
  EXPECT_EQ(family_of(settings), "gaussian");
}

TEST(TableMethods, StepSizeAndFrictionAreThoseOfOneMethod) {
  for (const char* method : {"auto", "hmc", "rdp"}) {
    TableSettings settings;
    settings.method = method;
    settings.hmc.friction = 3;
    expect_error<ArgumentError>([&] { check(settings); },
                                "friction are those of the method sghmc");
    settings.method = "sghmc";
    EXPECT_NO_THROW(check(settings));
  }
}

TEST(TableMethods, FitsTakeAPriorWhoseErrorBarsHold) {
  using posterior::DirectionPrior;
  using posterior::Grouping;
  const auto fit = [](std::optional<Grouping> grouping, double gap,
                      std::optional<DirectionPrior> prior = std::nullopt) {
    TableSettings settings;
    settings.method = "rdp";
    settings.grouping = grouping;
    settings.direction_gap = gap;
    settings.direction_prior = prior;
    return resolved(settings, 500, 10, 1);
  };
  const TableSettings usual = fit(std::nullopt, 3e-3);
  EXPECT_EQ(usual.grouping, Grouping::Row);
  EXPECT_EQ(usual.direction_prior, DirectionPrior::Uniform);
  EXPECT_TRUE(usual.concentration_per_group);
  const TableSettings column = fit(Grouping::Column, 3e-3);
  EXPECT_EQ(column.grouping, Grouping::Column);
  EXPECT_EQ(column.direction_prior, DirectionPrior::Uniform);
  // What the article's prior is asked for by.
  for (const TableSettings& around :
       {fit(Grouping::Double, 3e-3), fit(std::nullopt, 1e-3),
        fit(std::nullopt, 3e-3, DirectionPrior::LocationAgnostic)}) {
    EXPECT_EQ(around.grouping, Grouping::Double);
    EXPECT_EQ(around.direction_prior, DirectionPrior::LocationAgnostic);
    EXPECT_FALSE(around.concentration_per_group);
  }
}

TEST(TableMethods, WhatIsChosenStays) {
  TableSettings settings;
  settings.method = "vi";
  settings.grouping = posterior::Grouping::Row;
  settings.restarts = 1;
  settings.noise = likelihood::Kind::Gaussian;
  const TableSettings same = resolved(settings, 500, 10, 1);
  EXPECT_EQ(to_json(same), to_json(settings));
  EXPECT_EQ(family_of(same), "gaussian");
}

TEST(TableMethods, AllFitsAreTunedAlike) {
  for (const TableMethod& method : table_methods()) {
    SCOPED_TRACE(method.name);
    TableSettings settings;
    settings.method = method.name;
    check(settings);
    const auto numbers = tuning_candidates(settings, false);
    EXPECT_EQ(numbers.size(), 16u);
    std::set<std::string> different;
    for (const TableSettings& candidate : numbers) {
      check(candidate);
      EXPECT_EQ(candidate.method, method.name);
      different.insert(to_json(candidate));
    }
    EXPECT_EQ(different.size(), 16u);
    EXPECT_EQ(tuning_candidates(settings, {likelihood::Kind::Gaussian}).size(),
              8u);
  }
}

TEST(TableMethods, OptionsThatAreGivenAreNotTuned) {
  TableSettings settings;
  settings.method = "vi";
  settings.family_options = "initial_noise=0.2,noise=activations";
  for (const TableSettings& candidate : tuning_candidates(settings, true)) {
    EXPECT_NE(candidate.family_options.find("noise=activations"),
              std::string::npos);
    EXPECT_NE(candidate.family_options.find("initial_noise=0.2"),
              std::string::npos);
    EXPECT_NE(candidate.family_options.find("prior_scale="), std::string::npos);
  }
}

TEST(TableMethods, AnEnsembleIsFiveNetworksOrAsManyAsAsked) {
  TableSettings settings;
  settings.method = "ensemble";
  TableSettings five = resolved(settings, 500, 10, 1);
  EXPECT_EQ(five.restarts, 5);
  const TableSettings one = resolved(single_network(five), 500, 10, 1);
  EXPECT_EQ(one.method, "map");
  EXPECT_EQ(one.restarts, 1);
  EXPECT_EQ(family_of(one), family_of(five));
  settings.restarts = 3;
  EXPECT_EQ(resolved(settings, 500, 10, 1).restarts, 3);
}

TEST(TableMethods, TheirOptionsComeBeforeTheGivenOnes) {
  TableSettings settings;
  settings.method = "map";
  const auto prior = [&] {
    return weight_options(settings, true).get<posterior::PointOptions>();
  };
  EXPECT_EQ(prior().prior_scale, 0.2);
  settings.family_options = "prior_scale=none";
  EXPECT_EQ(prior().prior_scale, std::nullopt);
}

TEST(TableMethods, PassesAreTheirOwnWhereNoneAreGiven) {
  TableSettings settings;
  settings.method = "pbp";
  EXPECT_EQ(epochs_of(settings, 1000), 40);
  settings.epochs = 3;
  EXPECT_EQ(epochs_of(settings, 1000), 3);
}

TEST(TableMethods, UnknownOnesAreRefused) {
  TableSettings settings;
  settings.method = "hcm";
  expect_error<UnsupportedError>([&] { check(settings); },
                                 "there is no method \"hcm\"");
  settings.method = "auto";
  check(settings);
  expect_error<ArgumentError>([&] { method_of(settings); },
                              "auto depends on the table");
}

}  // namespace
}  // namespace radir::workflows
