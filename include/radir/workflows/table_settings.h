#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/train/model.h"

namespace radir::workflows {

/// All settings of a fit to a table.
struct TableSettings {
  std::vector<std::int64_t> hidden = {50};
  /// The family of the weights' posteriors (posterior::find_family), and its
  /// options that differ from their defaults: "prior_scale=0.5,noise=weights".
  std::string family = "radial-directional";
  std::string family_options;
  // Of the radial-directional family:
  posterior::Grouping grouping = posterior::Grouping::Double;
  /// See posterior::RadialDirectionalOptions::direction_gap: how far the prior
  /// lets a direction stray.
  double direction_gap = 3e-3;
  /// Noise of a numeric target; not read for a categorical one.
  likelihood::Kind noise = likelihood::Kind::Gaussian;

  /// Passes over the training rows; 0: as many as make `steps` steps.
  std::int64_t epochs = 0;
  std::int64_t steps = 20000;
  std::int64_t batch = 100;
  double learning_rate = 0.01;
  /// Share of the training over which the weight of the KL term rises to 1. It
  /// lets the mean be found before the noise can explain it away.
  double kl_warmup = 0.6;

  /// Networks from different seeds that predict as a mixture.
  std::int64_t restarts = 1;
  std::uint64_t seed = 0;
};

/// Lists every field: their JSON, command-line options and checks come from it.
void describe(SettingsVisitor& visit, TableSettings& settings);

/// Throws ArgumentError that names the first invalid setting.
void check(const TableSettings& settings);

/// The posterior of the weights of a layer; the last one has no ReLU behind it.
/// Throws UnsupportedError for an unknown family, ArgumentError for an option
/// that the family does not have or that makes no sense.
posterior::Options weight_options(const TableSettings& settings,
                                  bool last_layer);

/// Passes over `rows` training rows that the settings ask for.
std::int64_t epochs_of(const TableSettings& settings, std::int64_t rows);

/// The settings as a JSON object, as they are.
std::string to_json(const TableSettings& settings);
/// The settings as a JSON object, every one resolved.
std::string to_json(const TableSettings& settings, std::int64_t rows);
/// From to_json(settings). Throws IoError when the text or the settings are
/// invalid.
TableSettings settings_from_json(const std::string& text);

}  // namespace radir::workflows
