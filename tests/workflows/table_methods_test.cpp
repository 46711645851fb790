#include "radir/workflows/table_methods.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using testing::expect_error;

TEST(TableMethods, SmallTablesAreSampled) {
  const TableSettings small = resolved(TableSettings(), 500, 10, 1);
  EXPECT_EQ(small.method, "hmc");
  EXPECT_EQ(small.hmc.leapfrog_steps, train::HmcOptions().leapfrog_steps);
  EXPECT_EQ(small.grouping, posterior::Grouping::Column);
  EXPECT_EQ(method_of(small).trainer, "hmc");
  EXPECT_EQ(family_of(small), "radial-directional");
}

TEST(TableMethods, ChainsBecomeShorterAndThenAFit) {
  const TableSettings middle = resolved(TableSettings(), 6000, 20, 1);
  EXPECT_EQ(middle.method, "hmc");
  EXPECT_LT(middle.hmc.leapfrog_steps, train::HmcOptions().leapfrog_steps);
  const TableSettings large = resolved(TableSettings(), 1000000, 20, 1);
  EXPECT_EQ(large.method, "rdp");
  EXPECT_EQ(large.grouping, posterior::Grouping::Double);
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

TEST(TableMethods, WhatIsChosenStays) {
  TableSettings settings;
  settings.method = "vi";
  settings.grouping = posterior::Grouping::Row;
  const TableSettings same = resolved(settings, 500, 10, 1);
  EXPECT_EQ(to_json(same), to_json(settings));
  EXPECT_EQ(family_of(same), "gaussian");
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
