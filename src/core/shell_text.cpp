#include "radir/core/shell_text.h"

namespace radir {

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_./:=@%+,-";
  const bool plain = !word.empty() && word.front() != '-' &&
                     word.find_first_not_of(kPlain) == std::string::npos;
  if (plain) return word;
  // A word that begins with a dash would be an option.
  std::string quoted = word.rfind('-', 0) == 0 ? "'./" : "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string line = "radir";
  for (const std::string& word : words) {
    line += " " + (word.rfind("--", 0) == 0 ? word : shell_word(word));
  }
  return line;
}

}  // namespace radir
