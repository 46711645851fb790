#pragma once

#include "radir/core/settings.h"
#include "radir/files/json_object.h"

// Settings as JSON, key by key as their description lists them.

namespace radir::files {

/// Adds every setting it is shown to an object, which a null value becomes.
class SettingsWriter final : public SettingsVisitor {
 public:
  using Json = nlohmann::ordered_json;

  explicit SettingsWriter(Json& json) : json_(json) {
    if (json.is_null()) json = Json::object();
  }

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

 private:
  Json& json_;
};

/// Reads every setting it is shown from an object. All must be there; IoError
/// names what is missing or has the wrong type. Ranges are not checked.
class SettingsReader final : public SettingsVisitor {
 public:
  explicit SettingsReader(JsonObject& json) : json_(json) {}

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

 private:
  JsonObject& json_;
};

}  // namespace radir::files
