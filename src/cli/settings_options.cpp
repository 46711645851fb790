#include "cli/settings_options.h"

#include <algorithm>
#include <cmath>

#include "radir/core/nearest_name.h"

namespace radir::cli {
namespace {

/// "--learning-rate"
std::string default_option(const Setting& setting) {
  std::string name = setting.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string help(const Setting& setting) {
  const Range& range = setting.range;
  const bool limited = std::isfinite(range.least) || std::isfinite(range.most);
  return setting.help + (limited ? " (" + range.text() + ")" : std::string());
}

std::string joined(const std::vector<const char*>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return text;
}

/// Gives one choice its value and leaves all other settings as they are.
class SetChoice final : public SettingsVisitor {
 public:
  SetChoice(std::string name, std::string option, std::string text)
      : name_(std::move(name)),
        option_(std::move(option)),
        text_(std::move(text)) {}

  void number(const Setting&, double&) override {}
  void integer(const Setting&, std::int64_t&) override {}
  void seed(const Setting&, std::uint64_t&) override {}
  void flag(const Setting&, bool&) override {}
  void text(const Setting&, std::string&) override {}
  void integers(const Setting&, std::vector<std::int64_t>&) override {}
  void optional_number(const Setting&, std::optional<double>&) override {}
  void optional_integer(const Setting&, std::optional<std::int64_t>&) override {
  }
  void choice_index(const Setting& setting,
                    const std::vector<const char*>& names,
                    std::size_t& index) override {
    if (name_ != setting.name) return;
    index = parse_choice(option_, names, text_);
  }

 private:
  std::string name_;
  std::string option_;
  std::string text_;
};

}  // namespace

std::size_t parse_choice(const std::string& option,
                         const std::vector<const char*>& names,
                         const std::string& text) {
  const auto found = std::find(names.begin(), names.end(), text);
  RADIR_CHECK(found != names.end(), ArgumentError, option, " must be ",
              joined(names), ", but is \"", text, "\"",
              did_you_mean(text, {names.begin(), names.end()}));
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<SettingsOptions::Name> SettingsOptions::name_of(
    const Setting& setting) const {
  if (named_.empty()) return Name{default_option(setting), ','};
  for (const NamedOption& named : named_) {
    if (std::string(named.setting) == setting.name) {
      return Name{named.option, named.delimiter};
    }
  }
  return std::nullopt;
}

template <typename T>
void SettingsOptions::add(const Setting& setting, const char* type, T& value) {
  const auto name = name_of(setting);
  if (!name) return;
  command_.add_option(name->option, value, help(setting))
      ->type_name(type)
      ->capture_default_str();
}

void SettingsOptions::number(const Setting& setting, double& value) {
  add(setting, "X", value);
}

void SettingsOptions::integer(const Setting& setting, std::int64_t& value) {
  add(setting, "N", value);
}

void SettingsOptions::flag(const Setting& setting, bool& value) {
  if (const auto name = name_of(setting)) {
    command_.add_flag(name->option, value, help(setting));
  }
}

void SettingsOptions::text(const Setting& setting, std::string& value) {
  add(setting, "TEXT", value);
}

void SettingsOptions::integers(const Setting& setting,
                               std::vector<std::int64_t>& value) {
  const auto name = name_of(setting);
  if (!name) return;
  const std::string delimiter(1, name->delimiter);
  CLI::Option* option =
      command_.add_option(name->option, value, help(setting))
          ->delimiter(name->delimiter)
          ->allow_extra_args(false)
          ->type_name("N" + delimiter + "N" + delimiter + "...");
  if (!value.empty()) option->capture_default_str();
}

void SettingsOptions::optional_number(const Setting& setting,
                                      std::optional<double>& value) {
  add(setting, "X", value);
}

void SettingsOptions::optional_integer(const Setting& setting,
                                       std::optional<std::int64_t>& value) {
  add(setting, "N", value);
}

void SettingsOptions::choice_index(const Setting& setting,
                                   const std::vector<const char*>& names,
                                   std::size_t& index) {
  const auto name = name_of(setting);
  if (!name) return;
  command_
      .add_option_function<std::string>(
          name->option,
          [revisit = revisit_, setting_name = std::string(setting.name),
           option = name->option](const std::string& text) {
            SetChoice visitor(setting_name, option, text);
            revisit(visitor);
          },
          help(setting) + ": " + joined(names))
      ->type_name("NAME")
      ->default_str(names[index]);
}

}  // namespace radir::cli
