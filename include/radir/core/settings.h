#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/error.h"

// One list of the fields of a settings struct, from which its JSON, its
// command-line options, its checks and the tables of the documentation come.
//
//   struct Settings { double rate = 0.01; };
//   void describe(SettingsVisitor& visit, Settings& s) {
//     visit.number({"rate", "Learning rate of Adam", above(0)}, s.rate);
//   }
//   check_settings("training", settings);

namespace radir {

/// The values a number may take.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool least_included = true;
  bool most_included = true;

  bool contains(double value) const;
  /// "> 0", ">= 1", "between 0 and 1".
  std::string text() const;
};

Range any_number();
Range above(double bound);
Range at_least(double bound);
/// Both ends included.
Range between(double least, double most);
/// Neither end included.
Range inside(double least, double most);
/// Only the lower end included.
Range half_open(double least, double most);

/// What people and files call a setting, what it means and what it may be.
struct Setting {
  const char* name;  ///< "learning_rate"; the option is --learning-rate
  const char* help;  ///< a noun phrase
  Range range;       ///< of a number, or of each of several
};

/// The names of the values of an enumeration.
template <typename Enum>
using Choices = std::vector<std::pair<Enum, const char*>>;

/// The name of a value. Throws Error for one that has none, which is a bug.
template <typename Enum>
const char* choice_name(const Choices<Enum>& choices, Enum value) {
  const auto found =
      std::find_if(choices.begin(), choices.end(),
                   [&](const auto& choice) { return choice.first == value; });
  RADIR_ASSERT(found != choices.end());
  return found->second;
}

/// Is shown every field of a settings struct, in order; may read or write it.
class SettingsVisitor {
 public:
  virtual ~SettingsVisitor() = default;

  virtual void number(const Setting& setting, double& value) = 0;
  virtual void integer(const Setting& setting, std::int64_t& value) = 0;
  virtual void seed(const Setting& setting, std::uint64_t& value) = 0;
  virtual void flag(const Setting& setting, bool& value) = 0;
  virtual void text(const Setting& setting, std::string& value) = 0;
  virtual void integers(const Setting& setting,
                        std::vector<std::int64_t>& value) = 0;
  virtual void optional_number(const Setting& setting,
                               std::optional<double>& value) = 0;
  virtual void optional_integer(const Setting& setting,
                                std::optional<std::int64_t>& value) = 0;
  /// `index` counts `names`.
  virtual void choice_index(const Setting& setting,
                            const std::vector<const char*>& names,
                            std::size_t& index) = 0;

  template <typename Enum>
  void choice(const Setting& setting, Enum& value,
              const Choices<Enum>& choices) {
    std::vector<const char*> names;
    std::size_t index = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      names.push_back(choices[i].second);
      if (choices[i].first == value) index = i;
    }
    choice_index(setting, names, index);
    value = choices[index].first;
  }
};

/// Throws ArgumentError, which begins with `what`, for the first number that is
/// not finite or outside its range.
class SettingsCheck final : public SettingsVisitor {
 public:
  explicit SettingsCheck(std::string what) : what_(std::move(what)) {}

  void number(const Setting& setting, double& value) override;
  void integer(const Setting& setting, std::int64_t& value) override;
  void seed(const Setting&, std::uint64_t&) override {}
  void flag(const Setting&, bool&) override {}
  void text(const Setting&, std::string&) override {}
  void integers(const Setting& setting,
                std::vector<std::int64_t>& value) override;
  void optional_number(const Setting& setting,
                       std::optional<double>& value) override;
  void optional_integer(const Setting& setting,
                        std::optional<std::int64_t>& value) override;
  void choice_index(const Setting&, const std::vector<const char*>&,
                    std::size_t&) override {}

 private:
  std::string what_;
};

/// Checks every field; `describe(SettingsVisitor&, Settings&)` lists them.
template <typename Settings>
void check_settings(const std::string& what, const Settings& settings) {
  Settings copy = settings;
  SettingsCheck check(what);
  describe(check, copy);
}

}  // namespace radir
