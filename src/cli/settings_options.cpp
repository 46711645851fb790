#include "cli/settings_options.h"

#include <algorithm>
#include <cmath>

#include "radir/core/nearest_name.h"

namespace radir::cli {
namespace {

/// "--learning-rate"
std::string option_name(const Setting& setting) {
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
  SetChoice(std::string name, std::string text)
      : name_(std::move(name)), text_(std::move(text)) {}

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
    index = parse_choice(option_name(setting), names, text_);
  }

 private:
  std::string name_;
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

void SettingsOptions::number(const Setting& setting, double& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->type_name("X")
      ->capture_default_str();
}

void SettingsOptions::integer(const Setting& setting, std::int64_t& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->type_name("N")
      ->capture_default_str();
}

void SettingsOptions::flag(const Setting& setting, bool& value) {
  command_.add_flag(option_name(setting), value, help(setting));
}

void SettingsOptions::text(const Setting& setting, std::string& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->type_name("TEXT")
      ->capture_default_str();
}

void SettingsOptions::integers(const Setting& setting,
                               std::vector<std::int64_t>& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->delimiter(',')
      ->type_name("N,N")
      ->capture_default_str();
}

void SettingsOptions::optional_number(const Setting& setting,
                                      std::optional<double>& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->type_name("X");
}

void SettingsOptions::optional_integer(const Setting& setting,
                                       std::optional<std::int64_t>& value) {
  command_.add_option(option_name(setting), value, help(setting))
      ->type_name("N");
}

void SettingsOptions::choice_index(const Setting& setting,
                                   const std::vector<const char*>& names,
                                   std::size_t& index) {
  command_
      .add_option_function<std::string>(
          option_name(setting),
          [revisit = revisit_,
           name = std::string(setting.name)](const std::string& text) {
            SetChoice visitor(name, text);
            revisit(visitor);
          },
          help(setting) + ": " + joined(names))
      ->type_name("NAME")
      ->default_str(names[index]);
}

}  // namespace radir::cli
