#include "radir/core/settings_text.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "radir/core/nearest_name.h"

namespace radir {
namespace {

constexpr const char* kNone = "none";

std::vector<std::string> split(const std::string& text, char delimiter) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, delimiter);) {
    parts.push_back(part);
  }
  return parts;
}

/// Whether all of the text is a number of this type.
template <typename T>
bool read_number(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

const std::string* SettingsAssignment::find(const Setting& setting) {
  names_.emplace_back(setting.name);
  const auto found = texts_.find(setting.name);
  return found == texts_.end() ? nullptr : &found->second;
}

template <typename T>
void SettingsAssignment::parse(const Setting& setting, const char* wanted,
                               T& value) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  RADIR_CHECK(read_number(*text, value), ArgumentError, what_, ": ",
              setting.name, " must be ", wanted, ", but is \"", *text, "\"");
}

void SettingsAssignment::number(const Setting& setting, double& value) {
  parse(setting, "a number", value);
}

void SettingsAssignment::integer(const Setting& setting, std::int64_t& value) {
  parse(setting, "an integer", value);
}

void SettingsAssignment::seed(const Setting& setting, std::uint64_t& value) {
  parse(setting, "an integer >= 0", value);
}

void SettingsAssignment::flag(const Setting& setting, bool& value) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  RADIR_CHECK(*text == "true" || *text == "false", ArgumentError, what_, ": ",
              setting.name, " must be true or false, but is \"", *text, "\"");
  value = *text == "true";
}

void SettingsAssignment::text(const Setting& setting, std::string& value) {
  if (const std::string* const text = find(setting)) value = *text;
}

void SettingsAssignment::integers(const Setting& setting,
                                  std::vector<std::int64_t>& value) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  value.clear();
  for (const std::string& part : split(*text, ',')) {
    RADIR_CHECK(read_number(part, value.emplace_back()), ArgumentError, what_,
                ": ", setting.name, " must be integers, but is \"", *text,
                "\"");
  }
}

void SettingsAssignment::optional_number(const Setting& setting,
                                         std::optional<double>& value) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  if (*text == kNone) {
    value.reset();
    return;
  }
  RADIR_CHECK(read_number(*text, value.emplace()), ArgumentError, what_, ": ",
              setting.name, " must be a number or none, but is \"", *text,
              "\"");
}

void SettingsAssignment::optional_integer(const Setting& setting,
                                          std::optional<std::int64_t>& value) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  if (*text == kNone) {
    value.reset();
    return;
  }
  RADIR_CHECK(read_number(*text, value.emplace()), ArgumentError, what_, ": ",
              setting.name, " must be an integer or none, but is \"", *text,
              "\"");
}

void SettingsAssignment::choice_index(const Setting& setting,
                                      const std::vector<const char*>& names,
                                      std::size_t& index) {
  const std::string* const text = find(setting);
  if (text == nullptr) return;
  const auto found = std::find(names.begin(), names.end(), *text);
  RADIR_CHECK(found != names.end(), ArgumentError, what_, ": ", setting.name,
              " must be one of ", joined({names.begin(), names.end()}),
              ", but is \"", *text, "\"");
  index = static_cast<std::size_t>(found - names.begin());
}

void SettingsAssignment::finish() const {
  for (const auto& [name, text] : texts_) {
    RADIR_CHECK(std::find(names_.begin(), names_.end(), name) != names_.end(),
                ArgumentError, what_, ": there is no \"", name, "\"",
                did_you_mean(name, names_), "; there are ", joined(names_));
  }
}

std::map<std::string, std::string> parse_assignments(const std::string& what,
                                                     const std::string& text) {
  std::map<std::string, std::string> result;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    RADIR_CHECK(equals != std::string::npos && equals > 0, ArgumentError, what,
                ": \"", part, "\" must be NAME=VALUE");
    const std::string name = part.substr(0, equals);
    RADIR_CHECK(result.emplace(name, part.substr(equals + 1)).second,
                ArgumentError, what, ": ", name, " is given twice");
  }
  return result;
}

}  // namespace radir
