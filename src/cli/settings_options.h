#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/settings.h"
#include "radir/workflows/presets.h"

namespace radir::cli {

/// An option that has another name than its setting.
struct NamedOption {
  const char* setting;   ///< its name in the description
  const char* option;    ///< "--learning-rate"
  char delimiter = ',';  ///< between several numbers
};

/// Adds an option for every setting it is shown: --learning-rate for
/// learning_rate, with its help, default and range. Not for seeds: every
/// command has --seed. Ranges are checked later, by check_settings.
class SettingsOptions final : public SettingsVisitor {
 public:
  /// `revisit` shows the settings to another visitor. With `named`, only those
  /// settings have an option, under that name.
  using Revisit = std::function<void(SettingsVisitor&)>;

  SettingsOptions(CLI::App& command, Revisit revisit,
                  std::vector<NamedOption> named)
      : command_(command),
        revisit_(std::move(revisit)),
        named_(std::move(named)) {}

  void number(const Setting& setting, double& value) override;
  void integer(const Setting& setting, std::int64_t& value) override;
  void seed(const Setting&, std::uint64_t&) override {}
  void flag(const Setting& setting, bool& value) override;
  void text(const Setting& setting, std::string& value) override;
  void integers(const Setting& setting,
                std::vector<std::int64_t>& value) override;
  void optional_number(const Setting& setting,
                       std::optional<double>& value) override;
  void optional_integer(const Setting& setting,
                        std::optional<std::int64_t>& value) override;
  void choice_index(const Setting& setting,
                    const std::vector<const char*>& names,
                    std::size_t& index) override;

 private:
  struct Name {
    std::string option;
    char delimiter;
  };

  /// None: the setting has no option.
  std::optional<Name> name_of(const Setting& setting) const;
  template <typename T>
  void add(const Setting& setting, const char* type, T& value);

  CLI::App& command_;
  Revisit revisit_;
  std::vector<NamedOption> named_;
};

/// Adds an option for every field that `describe` lists but the seed, or for
/// those in `named` alone. The settings must live until the command line is
/// parsed.
template <typename Settings>
void add_settings_options(CLI::App& command, Settings& settings,
                          std::vector<NamedOption> named = {}) {
  SettingsOptions options(
      command,
      [&settings](SettingsVisitor& visitor) { describe(visitor, settings); },
      std::move(named));
  describe(options, settings);
}

/// Adds --preset. To be added before the options of the settings: these change
/// what it sets.
template <typename Settings>
void add_preset_option(CLI::App& command, Settings& settings) {
  command
      .add_option_function<std::string>(
          "--preset",
          [&settings](const std::string& name) {
            workflows::apply_preset(name, settings);
          },
          "Settings under one name: article, the published model; options "
          "given beside it change it")
      ->type_name("NAME");
}

/// The index of `text` in `names`. Throws ArgumentError, which begins with
/// `option`, when it is none of them.
std::size_t parse_choice(const std::string& option,
                         const std::vector<const char*>& names,
                         const std::string& text);

/// Adds an option whose value is one of `choices`.
template <typename Enum>
void add_choice_option(CLI::App& command, const std::string& option,
                       Enum& value, const Choices<Enum>& choices,
                       const std::string& help) {
  command
      .add_option_function<std::string>(
          option,
          [option, &value, &choices](const std::string& text) {
            std::vector<const char*> names;
            for (const auto& choice : choices) names.push_back(choice.second);
            value = choices[parse_choice(option, names, text)].first;
          },
          help)
      ->type_name("NAME")
      ->default_str(choice_name(choices, value));
}

}  // namespace radir::cli
