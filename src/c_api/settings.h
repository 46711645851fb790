#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "radir/core/settings.h"
#include "radir/core/settings_text.h"
#include "radir/data/table_encoder.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/inspect.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

namespace radir::c_api {

/// What radir_model_fit is asked for.
struct FitSettings {
  std::string preset;  ///< what the others start from; empty: the defaults
  workflows::TableSettings table;
  data::MissingValues missing = data::MissingValues::Refuse;
  bool tune = false;
  workflows::TuneFor tune_for = workflows::TuneFor::LogLikelihood;
  std::optional<double> tune_budget;  ///< seconds
  bool conformal = false;
  std::string weights;        ///< as TrainTableOptions::weights
  std::string class_weights;  ///< as TrainTableOptions::class_weights
  std::int64_t threads = 0;
  std::string run;  ///< folder of checkpoints; empty: none
};
void describe(SettingsVisitor& visit, FitSettings& settings);

/// What radir_compress is asked for, without the network.
struct ImageSettings {
  std::string preset;  ///< likewise
  workflows::CompressSettings compress;
  std::int64_t threads = 0;
};
void describe(SettingsVisitor& visit, ImageSettings& settings);

/// What radir_model_prune is asked for.
struct PruneSettings {
  workflows::PruneOptions options;
};
void describe(SettingsVisitor& visit, PruneSettings& settings);

/// What radir_reproduce is asked for: "uci", "lenet5" and "lenet300",
/// "figures".
struct UciSettings {
  reproduce::UciOptions options;
  std::string sets;     ///< comma-separated
  std::string methods;  ///< comma-separated
  std::string run;
  std::int64_t threads = 0;
};
void describe(SettingsVisitor& visit, UciSettings& settings);

struct LenetSettings {
  std::string data_dir;
  std::string methods;  ///< comma-separated
  std::optional<std::int64_t> seeds;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> prune_every;
  std::optional<std::int64_t> fine_tune_epochs;
  std::uint64_t seed = 0;
  std::string run;
  std::int64_t threads = 0;
};
void describe(SettingsVisitor& visit, LenetSettings& settings);

struct NoSettings {};
void describe(SettingsVisitor& visit, NoSettings& settings);

/// Names and values of a JSON object, or of lines "name=value"; none of a null
/// pointer. Throws ArgumentError for anything else.
std::map<std::string, std::string> parse_settings(const char* text);

/// Sets what a preset is about. Throws UnsupportedError for an unknown one.
void start_from(const std::string& preset, FitSettings& settings);
void start_from(const std::string& preset, ImageSettings& settings);
/// The others have no presets.
template <typename Settings>
void start_from(const std::string&, Settings&) {}

/// The settings of such a text. Throws ArgumentError for one that there is not
/// or that has an impossible value.
template <typename Settings>
Settings settings_of(const char* text) {
  const auto texts = parse_settings(text);
  Settings settings;
  const auto preset = texts.find("preset");
  if (preset != texts.end()) start_from(preset->second, settings);
  SettingsAssignment assignment("settings", texts);
  describe(assignment, settings);
  assignment.finish();
  check_settings("settings", settings);
  return settings;
}

/// Every setting of a fit or a compression, see radir_fit_settings.
std::string fit_settings_json();
std::string image_settings_json();

}  // namespace radir::c_api
