#include "cli/named_options.h"

#include "radir/core/error.h"

namespace radir::cli {

template <typename T>
void NamedOptions::add_value(const Setting& setting, const char* type,
                             T& value) {
  adders_[setting.name] = [this, type, help = setting.help,
                           &value](const NamedOption& option) {
    command_.add_option(option.option, value, help)
        ->type_name(type)
        ->capture_default_str();
  };
}

void NamedOptions::number(const Setting& setting, double& value) {
  add_value(setting, "N", value);
}

void NamedOptions::integer(const Setting& setting, std::int64_t& value) {
  add_value(setting, "N", value);
}

void NamedOptions::seed(const Setting& setting, std::uint64_t& value) {
  add_value(setting, "N", value);
}

void NamedOptions::flag(const Setting& setting, bool& value) {
  adders_[setting.name] = [this, help = setting.help,
                           &value](const NamedOption& option) {
    command_.add_flag(option.option, value, help);
  };
}

void NamedOptions::text(const Setting& setting, std::string& value) {
  add_value(setting, "TEXT", value);
}

void NamedOptions::integers(const Setting& setting,
                            std::vector<std::int64_t>& value) {
  adders_[setting.name] = [this, help = setting.help,
                           &value](const NamedOption& option) {
    const std::string delimiter(1, option.delimiter);
    command_.add_option(option.option, value, help)
        ->delimiter(option.delimiter)
        ->allow_extra_args(false)
        ->type_name("N" + delimiter + "N" + delimiter + "...");
  };
}

void NamedOptions::optional_number(const Setting& setting,
                                   std::optional<double>& value) {
  add_value(setting, "N", value);
}

void NamedOptions::optional_integer(const Setting& setting,
                                    std::optional<std::int64_t>& value) {
  add_value(setting, "N", value);
}

void NamedOptions::add(const NamedOption& option) const {
  const auto found = adders_.find(option.setting);
  RADIR_ASSERT(found != adders_.end());
  found->second(option);
}

}  // namespace radir::cli
