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

/// Hears what a text holds and throws where it should not.
class JsonChecker {
 public:
  JsonChecker(const std::string& where, const JsonLimits& limits)
      : where_(where), limits_(limits) {}

  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(std::int64_t) { return value(); }
  bool number_unsigned(std::uint64_t) { return value(); }
  bool number_float(double, const std::string&) { return value(); }
  bool string(const std::string&) { return value(); }
  bool binary(const std::vector<std::uint8_t>&) { return value(); }

  bool start_object(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }

  bool key(const std::string& key) {
    check_depth();
    std::set<std::string>& keys = keys_.back();
    RADIR_CHECK(keys.insert(key).second, IoError, where_, " has the key ",
                excerpt(key), " twice");
    RADIR_CHECK(keys.size() <= limits_.keys, IoError, where_,
                " has an object with more than ", limits_.keys, " keys");
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) {
    using nlohmann::detail::parse_error;
    const auto* where = dynamic_cast<const class parse_error*>(&error);
    RADIR_CHECK(where != nullptr, IoError, where_,
                " contains a number that is too large");
    detail::throw_error<IoError>(where_, " is not well-formed JSON in UTF-8 ",
                                 "(byte ", where->byte, ")");
  }

 private:
  bool value() {
    check_depth();
    RADIR_CHECK(++values_ <= limits_.values, IoError, where_, " has more than ",
                limits_.values, " values");
    return true;
  }

  bool open() {
    value();
    keys_.emplace_back();
    return true;
  }

  bool close() {
    keys_.pop_back();
    return true;
  }

  void check_depth() const {
    RADIR_CHECK(keys_.size() <= static_cast<std::size_t>(limits_.depth),
                IoError, where_, " is nested deeper than ", limits_.depth,
                " levels");
  }

  const std::string& where_;
  const JsonLimits& limits_;
  std::vector<std::set<std::string>> keys_;  // of the open objects and lists
  std::size_t values_ = 0;
};

}  // namespace

void check_json(const std::string& where, std::string_view text,
                const JsonLimits& limits) {
  JsonChecker checker(where, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &checker);
}

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
