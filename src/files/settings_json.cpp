#include "radir/files/settings_json.h"

namespace radir::files {

void SettingsWriter::number(const Setting& setting, double& value) {
  json_[setting.name] = value;
}

void SettingsWriter::integer(const Setting& setting, std::int64_t& value) {
  json_[setting.name] = value;
}

void SettingsWriter::seed(const Setting& setting, std::uint64_t& value) {
  json_[setting.name] = value;
}

void SettingsWriter::flag(const Setting& setting, bool& value) {
  json_[setting.name] = value;
}

void SettingsWriter::text(const Setting& setting, std::string& value) {
  json_[setting.name] = value;
}

void SettingsWriter::integers(const Setting& setting,
                              std::vector<std::int64_t>& value) {
  json_[setting.name] = value;
}

void SettingsWriter::optional_number(const Setting& setting,
                                     std::optional<double>& value) {
  json_[setting.name] = value ? Json(*value) : Json(nullptr);
}

void SettingsWriter::optional_integer(const Setting& setting,
                                      std::optional<std::int64_t>& value) {
  json_[setting.name] = value ? Json(*value) : Json(nullptr);
}

void SettingsWriter::choice_index(const Setting& setting,
                                  const std::vector<const char*>& names,
                                  std::size_t& index) {
  json_[setting.name] = names[index];
}

void SettingsReader::number(const Setting& setting, double& value) {
  value = json_.number(setting.name);
}

void SettingsReader::integer(const Setting& setting, std::int64_t& value) {
  value = json_.integer(setting.name);
}

void SettingsReader::seed(const Setting& setting, std::uint64_t& value) {
  value = json_.seed(setting.name);
}

void SettingsReader::flag(const Setting& setting, bool& value) {
  value = json_.boolean(setting.name);
}

void SettingsReader::text(const Setting& setting, std::string& value) {
  value = json_.text(setting.name);
}

void SettingsReader::integers(const Setting& setting,
                              std::vector<std::int64_t>& value) {
  value = json_.integers(setting.name);
}

void SettingsReader::optional_number(const Setting& setting,
                                     std::optional<double>& value) {
  value = json_.optional_number(setting.name);
}

void SettingsReader::optional_integer(const Setting& setting,
                                      std::optional<std::int64_t>& value) {
  value = json_.optional_integer(setting.name);
}

void SettingsReader::choice_index(const Setting& setting,
                                  const std::vector<const char*>& names,
                                  std::size_t& index) {
  const std::string name = json_.text(setting.name);
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) {
      index = i;
      return;
    }
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  detail::throw_error<IoError>(
      json_.where(), ": \"", setting.name, "\" is \"", name,
      "\", which this program does not know; it ", "knows ", known);
}

}  // namespace radir::files
