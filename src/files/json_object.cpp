#include "radir/files/json_object.h"

#include "radir/core/version.h"

namespace radir::files {
namespace {

/// An integer that an std::int64_t holds.
bool is_integer(const JsonObject::Json& value) {
  if (!value.is_number_unsigned()) return value.is_number_integer();
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargest);
}

/// The beginning of a value, for messages.
std::string beginning(const JsonObject::Json& value) {
  constexpr std::size_t kMost = 60;
  const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

JsonObject::JsonObject(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  RADIR_CHECK(json.is_object(), IoError, where_, " is not an object, but ",
              beginning(json));
}

const JsonObject::Json& JsonObject::at(const char* key) {
  const auto found = json_.find(key);
  RADIR_CHECK(found != json_.end(), IoError, where_, ": \"", key,
              "\" is missing");
  seen_.insert(key);
  return *found;
}

JsonObject JsonObject::object(const char* key) {
  return {at(key), where_ + "." + key};
}

std::string JsonObject::text(const char* key) {
  const Json& value = at(key);
  check_type(value.is_string(), key, "a string");
  return value.get<std::string>();
}

bool JsonObject::boolean(const char* key) {
  const Json& value = at(key);
  check_type(value.is_boolean(), key, "true or false");
  return value.get<bool>();
}

double JsonObject::number(const char* key) {
  const Json& value = at(key);
  check_type(value.is_number(), key, "a number");
  return value.get<double>();
}

std::int64_t JsonObject::integer(const char* key) {
  const Json& value = at(key);
  check_type(is_integer(value), key, "an integer");
  return value.get<std::int64_t>();
}

double JsonObject::number(const char* key, double least, double most) {
  const double value = number(key);
  RADIR_CHECK(value >= least && value <= most, IoError, where_, ": \"", key,
              "\" must be from ", least, " to ", most, ", but is ", value);
  return value;
}

std::int64_t JsonObject::integer(const char* key, std::int64_t least,
                                 std::int64_t most) {
  const std::int64_t value = integer(key);
  RADIR_CHECK(value >= least && value <= most, IoError, where_, ": \"", key,
              "\" must be from ", least, " to ", most, ", but is ", value);
  return value;
}

std::optional<double> JsonObject::optional_number(const char* key) {
  if (at(key).is_null()) return std::nullopt;
  return number(key);
}

std::optional<std::int64_t> JsonObject::optional_integer(const char* key) {
  if (at(key).is_null()) return std::nullopt;
  return integer(key);
}

std::uint64_t JsonObject::seed(const char* key) {
  const Json& value = at(key);
  check_type(value.is_number_unsigned(), key, "an integer >= 0");
  return value.get<std::uint64_t>();
}

const JsonObject::Json& JsonObject::array(const char* key) {
  const Json& value = at(key);
  check_type(value.is_array(), key, "a list");
  return value;
}

std::vector<std::int64_t> JsonObject::integers(const char* key) {
  std::vector<std::int64_t> result;
  for (const Json& value : array(key)) {
    check_type(is_integer(value), key, "a list of integers");
    result.push_back(value.get<std::int64_t>());
  }
  return result;
}

std::vector<std::string> JsonObject::strings(const char* key) {
  std::vector<std::string> result;
  for (const Json& value : array(key)) {
    check_type(value.is_string(), key, "a list of strings");
    result.push_back(value.get<std::string>());
  }
  return result;
}

std::vector<JsonObject> JsonObject::objects(const char* key) {
  std::vector<JsonObject> result;
  for (const Json& value : array(key)) {
    result.emplace_back(
        value, where_ + "." + key + "[" + std::to_string(result.size()) + "]");
  }
  return result;
}

std::string JsonObject::section(const char* key) {
  const Json& value = at(key);
  check_type(value.is_object(), key, "an object");
  return value.dump();
}

void JsonObject::check_type(bool right, const char* key,
                            const char* wanted) const {
  RADIR_CHECK(right, IoError, where_, ": \"", key, "\" must be ", wanted,
              ", but is ", beginning(json_.at(key)));
}

void JsonObject::finish() const {
  for (const auto& [key, value] : json_.items()) {
    RADIR_CHECK(seen_.count(key) == 1, IoError, where_, ": ", excerpt(key),
                " is unknown to this program (version ", version(), ")");
  }
}

}  // namespace radir::files
