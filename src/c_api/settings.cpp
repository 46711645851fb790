#include "c_api/settings.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "c_api/guard.h"
#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/workflows/presets.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::ordered_json;

/// The text that SettingsAssignment reads.
std::string text_of(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "none";
  if (value.is_number() || value.is_boolean()) return value.dump();
  RADIR_CHECK(value.is_array(), ArgumentError, "settings: ", name,
              " is an object, which no setting is");
  std::string text;
  for (const Json& part : value) {
    text += (text.empty() ? "" : ",") + text_of(name, part);
  }
  return text;
}

std::map<std::string, std::string> parse_object(const std::string& text) {
  Json json = Json::object();
  try {
    json = files::parse_json<Json>("settings", text, {});
  } catch (const IoError& error) {
    throw ArgumentError(error.what());
  }
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : json.items()) {
    result.emplace(name, text_of(name, value));
  }
  return result;
}

std::map<std::string, std::string> parse_lines(const std::string& text) {
  std::map<std::string, std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    RADIR_CHECK(equals != std::string::npos, ArgumentError, "settings: \"",
                line, "\" is not of the form name=value");
    RADIR_CHECK(
        result.emplace(line.substr(0, equals), line.substr(equals + 1)).second,
        ArgumentError, "settings: ", line.substr(0, equals), " is given twice");
  }
  return result;
}

/// Lists every setting it is shown, with its value as the default.
class SettingsList final : public SettingsVisitor {
 public:
  const Json& json() const { return json_; }

  void number(const Setting& setting, double& value) override {
    add(setting, "number", value);
  }
  void integer(const Setting& setting, std::int64_t& value) override {
    add(setting, "integer", value);
  }
  void seed(const Setting& setting, std::uint64_t& value) override {
    add(setting, "seed", value);
  }
  void flag(const Setting& setting, bool& value) override {
    add(setting, "flag", value);
  }
  void text(const Setting& setting, std::string& value) override {
    add(setting, "text", value);
  }
  void integers(const Setting& setting,
                std::vector<std::int64_t>& value) override {
    add(setting, "integers", value);
  }
  void optional_number(const Setting& setting,
                       std::optional<double>& value) override {
    add(setting, "optional number", value ? Json(*value) : Json());
  }
  void optional_integer(const Setting& setting,
                        std::optional<std::int64_t>& value) override {
    add(setting, "optional integer", value ? Json(*value) : Json());
  }
  void choice_index(const Setting& setting,
                    const std::vector<const char*>& names,
                    std::size_t& index) override {
    add(setting, "choice", names[index])["choices"] = names;
  }

 private:
  Json& add(const Setting& setting, const char* type, const Json& value) {
    Json entry = {{"name", setting.name},
                  {"help", setting.help},
                  {"type", type},
                  {"default", value}};
    if (std::isfinite(setting.range.least) ||
        std::isfinite(setting.range.most)) {
      entry["range"] = setting.range.text();
    }
    json_.push_back(std::move(entry));
    return json_.back();
  }

  Json json_ = Json::array();
};

void describe_threads(SettingsVisitor& visit, std::int64_t& threads) {
  visit.integer({"threads", "Threads; 0 for all processors", between(0, 1024)},
                threads);
}

void describe_run(SettingsVisitor& visit, std::string& run) {
  visit.text({"run",
              "Folder for checkpoints and results; a run that was stopped "
              "resumes there",
              {}},
             run);
}

void describe_data_dir(SettingsVisitor& visit, std::string& data_dir) {
  visit.text(
      {"data_dir", "Folder with the data sets (default: RADIR_DATA_DIR)", {}},
      data_dir);
}

void describe_methods(SettingsVisitor& visit, std::string& methods) {
  visit.text({"methods",
              "Methods to compare instead of the benchmark, comma-separated; "
              "all for every one",
              {}},
             methods);
}

void describe_preset(SettingsVisitor& visit, std::string& preset) {
  visit.text({"preset",
              "Settings that belong together, which the others change; "
              "article: the published model",
              {}},
             preset);
}

template <typename Settings>
std::string list_json() {
  Settings settings;
  SettingsList list;
  describe(list, settings);
  return list.json().dump();
}

}  // namespace

void describe(SettingsVisitor& visit, ImageSettings& settings) {
  describe_preset(visit, settings.preset);
  workflows::describe_compression(visit, settings.compress);
  describe_threads(visit, settings.threads);
}

void describe(SettingsVisitor& visit, FitSettings& settings) {
  describe_preset(visit, settings.preset);
  workflows::describe(visit, settings.table);
  visit.choice(
      {"missing",
       "What to do with missing values: refuse them, take the training mean "
       "(indicator: and tell the network), or drop the row",
       {}},
      settings.missing, data::missing_value_choices());
  visit.flag({"tune",
              "Choose prior, noise model and number of epochs on held-out rows",
              {}},
             settings.tune);
  visit.choice({"tune_for",
                "What tuning looks for: log-likelihood, of a number rmse or "
                "crps, of classes error or brier",
                {}},
               settings.tune_for, workflows::tune_for_choices());
  visit.optional_number({"tune_budget",
                         "Seconds in which tuning ends, with fewer candidates "
                         "or steps; none: no limit",
                         above(0)},
                        settings.tune_budget);
  visit.flag({"conformal",
              "Set a fifth of the rows aside, fit the others, and correct the "
              "quantiles by these rows: intervals then hold at least the share "
              "of new rows that they say",
              {}},
             settings.conformal);
  visit.text({"weights",
              "Name of a column of whole numbers: how often a row counts",
              {}},
             settings.weights);
  visit.text(
      {"class_weights",
       "How often the rows of a class count, in whole numbers: balanced, "
       "or CLASS=N,...",
       {}},
      settings.class_weights);
  describe_threads(visit, settings.threads);
  describe_run(visit, settings.run);
}

void describe(SettingsVisitor& visit, PruneSettings& settings) {
  visit.optional_number(
      {"threshold", "Of the scores of units, for all layers", any_number()},
      settings.options.threshold);
  visit.optional_integer(
      {"max_flops", "Most FLOPs of the pruned network", at_least(1)},
      settings.options.budget.max_flops);
  visit.optional_integer(
      {"max_parameters", "Most weights and biases of it", at_least(1)},
      settings.options.budget.max_parameters);
}

void describe(SettingsVisitor& visit, UciSettings& settings) {
  reproduce::UciOptions& options = settings.options;
  describe_data_dir(visit, options.data_dir);
  visit.text({"sets", "Data sets, comma-separated (default: all)", {}},
             settings.sets);
  visit.integer({"splits", "Splits of each set; 0 for all", at_least(0)},
                options.splits);
  visit.flag({"quick", "Five small sets, five splits, shorter training", {}},
             options.quick);
  visit.integer({"steps",
                 "Steps of each training; 0 for a number that depends on the "
                 "set",
                 at_least(0)},
                options.steps);
  visit.seed({"seed", "Seed of all random numbers", {}}, options.seed);
  describe_methods(visit, settings.methods);
  visit.integer({"restarts", "Networks of the mixture of each of these methods",
                 between(1, 1000)},
                options.restarts);
  describe_run(visit, settings.run);
  describe_threads(visit, settings.threads);
}

void describe(SettingsVisitor& visit, LenetSettings& settings) {
  describe_data_dir(visit, settings.data_dir);
  visit.optional_integer(
      {"seeds", "Number of runs, each with a different seed", at_least(1)},
      settings.seeds);
  visit.optional_integer({"epochs", "Epochs of the training", at_least(1)},
                         settings.epochs);
  visit.optional_integer(
      {"prune_every", "Epochs between two removals", at_least(1)},
      settings.prune_every);
  visit.optional_integer(
      {"fine_tune_epochs", "Epochs after the last removal", at_least(0)},
      settings.fine_tune_epochs);
  visit.seed({"seed", "Seed of the first run", {}}, settings.seed);
  describe_methods(visit, settings.methods);
  describe_run(visit, settings.run);
  describe_threads(visit, settings.threads);
}

void describe(SettingsVisitor&, NoSettings&) {}

void start_from(const std::string& preset, FitSettings& settings) {
  if (!preset.empty()) workflows::apply_preset(preset, settings.table);
}

void start_from(const std::string& preset, ImageSettings& settings) {
  if (!preset.empty()) workflows::apply_preset(preset, settings.compress);
}

std::map<std::string, std::string> parse_settings(const char* text) {
  if (text == nullptr) return {};
  const std::string copy = required_text(text, "settings");
  const std::size_t first = copy.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && copy[first] == '{';
  return is_json ? parse_object(copy) : parse_lines(copy);
}

std::string fit_settings_json() { return list_json<FitSettings>(); }
std::string image_settings_json() { return list_json<ImageSettings>(); }

// The functions of the interface.
extern "C" {

radir_status radir_fit_settings(char* text, int64_t capacity, int64_t* length) {
  return guarded(
      [&] { copy_text(fit_settings_json(), text, capacity, length); });
}

}  // extern "C"
}  // namespace radir::c_api
