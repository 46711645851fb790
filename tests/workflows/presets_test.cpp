#include "radir/workflows/presets.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table_encoder.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/workflows/table_fit.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using posterior::RadialDirectionalOptions;
using testing::expect_error;

data::TableEncoder arm_encoder() {
  return data::TableEncoder::fit(data::make_robot_arm_table(20, 1), "distance");
}

TEST(Presets, TheArticlesTableModelIsAsPublished) {
  TableSettings settings;
  apply_preset("article", settings);
  check(settings);
  const train::ModelSpec spec = model_spec(settings, arm_encoder());
  EXPECT_EQ(spec.likelihood.prior_shape, 6);
  EXPECT_EQ(spec.likelihood.prior_rate, 6);
  ASSERT_EQ(spec.weights.size(), 2u);
  const auto& hidden = spec.weights[0].get<RadialDirectionalOptions>();
  EXPECT_EQ(hidden.grouping, posterior::Grouping::Double);
  EXPECT_EQ(hidden.direction_prior,
            posterior::DirectionPrior::LocationAgnostic);
  EXPECT_EQ(hidden.degrees_of_freedom, 1);
  EXPECT_NE(spec.weights[1].get_if<posterior::GaussianOptions>(), nullptr);
}

TEST(Presets, TheNoisePriorIsTheMethodsOwnUnlessGiven) {
  TableSettings settings;
  settings.method = "rdp";
  EXPECT_EQ(model_spec(settings, arm_encoder()).likelihood.prior_rate, 0.01);
  settings.noise_rate = 0.5;
  EXPECT_EQ(model_spec(settings, arm_encoder()).likelihood.prior_rate, 0.5);
  settings.noise_rate.reset();
  settings.method = "pbp";
  EXPECT_EQ(model_spec(settings, arm_encoder()).likelihood.prior_rate, 6);
}

TEST(Presets, TheArticlesCompressionHasHalfCauchyRadiiAndOneRemoval) {
  CompressSettings settings;
  settings.network = network::lenet5();
  apply_preset("article", settings);
  check(settings);
  EXPECT_EQ(settings.epochs, settings.prune_every);
  EXPECT_EQ(settings.fine_tune_epochs, 0);
  EXPECT_EQ(settings.selection_window, 10);
  // However few images there are.
  for (const auto& weight : model_spec(settings, 1000).weights) {
    const auto& options = weight.get<RadialDirectionalOptions>();
    EXPECT_EQ(options.degrees_of_freedom, 1);
    EXPECT_FALSE(options.column_degrees_of_freedom.has_value());
  }
}

TEST(Presets, SettingsOfBothSurviveTheirFiles) {
  TableSettings table;
  apply_preset("article", table);
  EXPECT_EQ(to_json(settings_from_json(to_json(table))), to_json(table));
  CompressSettings images;
  apply_preset("article", images);
  EXPECT_EQ(to_json(compress_settings_from_json(to_json(images))),
            to_json(images));
}

TEST(Presets, UnknownNamesAreRefused) {
  TableSettings settings;
  expect_error<UnsupportedError>([&] { apply_preset("artcle", settings); },
                                 "no preset \"artcle\"");
}

}  // namespace
}  // namespace radir::workflows
