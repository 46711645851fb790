#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/files/utf8.h"

// Strict reading of JSON that others may have written.

namespace radir::files {

struct JsonLimits {
  int depth = 32;
  /// Of one object. Objects that keep the order of their keys take quadratic
  /// time.
  std::size_t keys = 1000;
  /// Of the complete text: numbers, strings, objects and so on.
  std::size_t values = 1000000;
};

/// Throws IoError, which begins with `where`, for text that is not well-formed
/// JSON in UTF-8, for repeated keys, which the parser would silently accept,
/// and for text beyond the limits. Takes linear time.
void check_json(const std::string& where, std::string_view text,
                const JsonLimits& limits);

/// Parses a text. Throws IoError as check_json does.
template <typename Json>
Json parse_json(const std::string& where, std::string_view text,
                const JsonLimits& limits) {
  // Not by a callback of the parser: with one it goes through all values of a
  // list at the end of each.
  check_json(where, text, limits);
  return Json::parse(text.begin(), text.end());
}

/// A JSON object read key by key; `finish` rejects keys that were not read.
class JsonObject {
 public:
  using Json = nlohmann::ordered_json;

  JsonObject(const Json& json, std::string where);

  /// Names the object in messages.
  const std::string& where() const { return where_; }

  bool has(const char* key) const { return json_.contains(key); }
  /// The value under a key; IoError when there is none.
  const Json& at(const char* key);

  JsonObject object(const char* key);
  std::string text(const char* key);
  bool boolean(const char* key);
  double number(const char* key);
  std::int64_t integer(const char* key);
  /// A number, or an integer, from `least` to `most`.
  double number(const char* key, double least, double most);
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most);
  // A number or null.
  std::optional<double> optional_number(const char* key);
  std::optional<std::int64_t> optional_integer(const char* key);
  std::uint64_t seed(const char* key);
  const Json& array(const char* key);
  std::vector<std::int64_t> integers(const char* key);
  std::vector<std::string> strings(const char* key);
  /// The objects of a list.
  std::vector<JsonObject> objects(const char* key);
  /// An object whose content is for others, as text.
  std::string section(const char* key);

  /// The value whose name stands under the key; `names` is a Choices<Enum> or
  /// an array of such pairs.
  template <typename Names>
  auto choice(const char* key, const Names& names) {
    const std::string value = text(key);
    for (const auto& [candidate, name] : names) {
      if (value == name) return candidate;
    }
    detail::throw_error<IoError>(where_, ": \"", key, "\" is \"", value,
                                 "\", which this program does not know");
  }

  /// IoError unless `right`; `wanted` says what the value should have been.
  void check_type(bool right, const char* key, const char* wanted) const;

  /// IoError when a key was not read.
  void finish() const;

 private:
  const Json& json_;
  std::string where_;
  std::set<std::string> seen_;
};

}  // namespace radir::files
