#pragma once

#include <string>
#include <vector>

namespace radir {

/// A word as a shell reads it, for command lines in messages: as it is where
/// that is safe, else in single quotes.
std::string shell_word(const std::string& word);

/// A command line of the program: these words after "radir". Those that begin
/// with "--" are options and stay as they are.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace radir
