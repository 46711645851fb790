#include "cli/parse_error.h"

namespace radir::cli {
namespace {

/// The part of a text before `mark`; all of it where there is none.
std::string before(const std::string& text, const std::string& mark) {
  return text.substr(0, text.find(mark));
}

std::string after(const std::string& text, const std::string& mark) {
  const std::size_t found = text.find(mark);
  return found == std::string::npos ? "" : text.substr(found + mark.size());
}

/// "TABLE" of a positional argument, "--out FILE" of an option.
std::string shown(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr) return name;
  const std::string type = option->get_type_name();
  return name.rfind('-', 0) == 0 ? name + " " + type : type;
}

/// "--target: 1 required COLUMN missing", "--seed: At Most 1 required but
/// received 2".
std::string wrong_count(const CLI::App& command, const std::string& text) {
  const std::string name = before(text, ":");
  const std::string received = after(text, "but received ");
  return received.empty() ? name + " needs a value: " + shown(command, name)
                          : name + " takes one value, but is given " + received;
}

std::string explained(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  const std::string kind = error.get_name();
  if (kind == "RequiredError") {
    return shown(command, before(text, " is required")) + " is missing";
  }
  if (kind == "ArgumentMismatch") return wrong_count(command, text);
  if (kind == "ExcludesError") {
    return before(text, " excludes ") + " cannot be used with " +
           after(text, " excludes ");
  }
  if (kind == "RequiresError") {
    return before(text, " requires ") + " needs " + after(text, " requires ");
  }
  const std::string converted = after(text, "Could not convert: ");
  if (kind == "ConversionError" && !converted.empty()) {
    return before(converted, " = ") + " takes no value, but has \"" +
           after(converted, " = ") + "\"";
  }
  return text;
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr
             ? app.get_name()
             : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string text_of(const CLI::ParseError& error, const CLI::App& command) {
  return explained(error, command) + " (see " + full_name(command) + " --help)";
}

}  // namespace radir::cli
