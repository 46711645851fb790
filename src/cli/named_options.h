#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/settings.h"

// Options of the command line from the description of a settings struct, for
// commands whose options have names of their own.

namespace radir::cli {

/// An option that sets a setting.
struct NamedOption {
  const char* setting;   ///< its name in the description
  const char* option;    ///< "--learning-rate"
  char delimiter = ',';  ///< between several numbers
};

/// Learns from a description how to add an option for each setting. The
/// settings must outlive the parsing.
class NamedOptions final : public SettingsVisitor {
 public:
  explicit NamedOptions(CLI::App& command) : command_(command) {}

  void number(const Setting& setting, double& value) override;
  void integer(const Setting& setting, std::int64_t& value) override;
  void seed(const Setting& setting, std::uint64_t& value) override;
  void flag(const Setting& setting, bool& value) override;
  void text(const Setting& setting, std::string& value) override;
  void integers(const Setting& setting,
                std::vector<std::int64_t>& value) override;
  void optional_number(const Setting& setting,
                       std::optional<double>& value) override;
  void optional_integer(const Setting& setting,
                        std::optional<std::int64_t>& value) override;
  /// Has no option: what a visitor is shown does not outlive the visit.
  void choice_index(const Setting&, const std::vector<const char*>&,
                    std::size_t&) override {}

  /// Throws Error for a setting that was not shown, which is a bug.
  void add(const NamedOption& option) const;

 private:
  template <typename T>
  void add_value(const Setting& setting, const char* type, T& value);

  CLI::App& command_;
  std::map<std::string, std::function<void(const NamedOption&)>> adders_;
};

/// Adds the options, in this order, with the help of the description.
template <typename Settings>
void add_named_options(CLI::App& command, Settings& settings,
                       const std::vector<NamedOption>& options) {
  NamedOptions known(command);
  describe(known, settings);
  for (const NamedOption& option : options) known.add(option);
}

}  // namespace radir::cli
