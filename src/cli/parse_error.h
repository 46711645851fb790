#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace radir::cli {

/// "radir bench math"
std::string full_name(const CLI::App& app);

/// What the parser found wrong with the words of `command`, in the words of the
/// other messages.
std::string text_of(const CLI::ParseError& error, const CLI::App& command);

}  // namespace radir::cli
