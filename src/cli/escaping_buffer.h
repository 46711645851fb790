#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace radir::cli {

/// While it exists, a stream shows characters that could change what a terminal
/// displays as text, such as \x1b or \u202e: control characters but tab and
/// newline, C1 controls and those that change the direction of writing. Names
/// of files and columns come from anywhere.
///
/// Newlines pass, as tables have some; one_line() is for sentences.
class EscapingBuffer final : public std::streambuf {
 public:
  explicit EscapingBuffer(std::ostream& stream);
  ~EscapingBuffer() override;
  EscapingBuffer(const EscapingBuffer&) = delete;
  EscapingBuffer& operator=(const EscapingBuffer&) = delete;

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  bool put(const std::string& text);
  bool put_held();

  std::ostream& stream_;
  std::streambuf* target_;
  std::string held_;  // the first bytes of a character that may be one of them
};

/// The text with newlines written as \n: a name that holds one could otherwise
/// begin a line that looks like a message of the program.
std::string one_line(const std::string& text);

}  // namespace radir::cli
