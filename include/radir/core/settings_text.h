#pragma once

#include <map>
#include <string>
#include <vector>

#include "radir/core/settings.h"

namespace radir {

/// Sets the settings it is shown from texts such as {"prior_scale", "0.5"}.
/// Flags are "true" or "false", lists "4,5", optional numbers may be "none".
/// Throws ArgumentError, which begins with `what`, for a text that is no such
/// value; finish() does for a name that was not shown. Ranges are not checked.
class SettingsAssignment final : public SettingsVisitor {
 public:
  SettingsAssignment(std::string what, std::map<std::string, std::string> texts)
      : what_(std::move(what)), texts_(std::move(texts)) {}

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
  void choice_index(const Setting& setting,
                    const std::vector<const char*>& names,
                    std::size_t& index) override;

  /// The names of all settings it was shown.
  const std::vector<std::string>& names() const { return names_; }
  void finish() const;

 private:
  /// The text for a setting, or null.
  const std::string* find(const Setting& setting);
  template <typename T>
  void parse(const Setting& setting, const char* wanted, T& value);

  std::string what_;
  std::map<std::string, std::string> texts_;
  std::vector<std::string> names_;
};

/// {"a": "1", "b": "x"} from "a=1,b=x"; an empty text gives none. Commas inside
/// a value are not possible. Throws ArgumentError, which begins with `what`,
/// for a part without "=" or a name that occurs twice.
std::map<std::string, std::string> parse_assignments(const std::string& what,
                                                     const std::string& text);

}  // namespace radir
