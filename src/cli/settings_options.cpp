#include "cli/settings_options.h"

#include "radir/core/error.h"

namespace radir::cli {

template <typename T>
void SettingOptions::add_value(const Setting& setting, const char* type,
                               T& value) {
  adders_[setting.name] = [this, type, help = setting.help,
                           &value](const SettingOption& option) {
    command_.add_option(option.option, value, help)
        ->type_name(type)
        ->capture_default_str();
  };
}

void SettingOptions::number(const Setting& setting, double& value) {
  add_value(setting, "N", value);
}

void SettingOptions::integer(const Setting& setting, std::int64_t& value) {
  add_value(setting, "N", value);
}

void SettingOptions::seed(const Setting& setting, std::uint64_t& value) {
  add_value(setting, "N", value);
}

void SettingOptions::flag(const Setting& setting, bool& value) {
  adders_[setting.name] = [this, help = setting.help,
                           &value](const SettingOption& option) {
    command_.add_flag(option.option, value, help);
  };
}

void SettingOptions::text(const Setting& setting, std::string& value) {
  add_value(setting, "TEXT", value);
}

void SettingOptions::integers(const Setting& setting,
                              std::vector<std::int64_t>& value) {
  adders_[setting.name] = [this, help = setting.help,
                           &value](const SettingOption& option) {
    const std::string delimiter(1, option.delimiter);
    command_.add_option(option.option, value, help)
        ->delimiter(option.delimiter)
        ->allow_extra_args(false)
        ->type_name("N" + delimiter + "N" + delimiter + "...");
  };
}

void SettingOptions::optional_number(const Setting& setting,
                                     std::optional<double>& value) {
  add_value(setting, "N", value);
}

void SettingOptions::optional_integer(const Setting& setting,
                                      std::optional<std::int64_t>& value) {
  add_value(setting, "N", value);
}

void SettingOptions::add(const SettingOption& option) const {
  const auto found = adders_.find(option.setting);
  RADIR_ASSERT(found != adders_.end());
  found->second(option);
}

}  // namespace radir::cli
