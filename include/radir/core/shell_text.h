#pragma once

#include <string>

namespace radir {

/// A word as a shell reads it, for command lines in messages: as it is where
/// that is safe, else in single quotes.
std::string shell_word(const std::string& word);

}  // namespace radir
