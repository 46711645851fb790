#include "cli/escaping_buffer.h"

#include <cstdio>

namespace radir::cli {
namespace {

/// Bytes of the UTF-8 character that a byte begins, for those that matter here.
std::size_t length_of(unsigned char first) {
  if (first == 0xC2 || first == 0xD8) return 2;
  return first == 0xE2 ? 3 : 1;
}

unsigned code_of(const std::string& character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
  };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    default:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  }
}

bool is_harmful(unsigned code, std::size_t length) {
  if (length == 1) {
    return (code < 0x20 && code != '\n' && code != '\t') || code == 0x7F;
  }
  const bool is_c1 = code >= 0x80 && code <= 0x9F;
  const bool turns_writing =
      code == 0x061C || code == 0x200E || code == 0x200F ||
      (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return is_c1 || turns_writing;
}

}  // namespace

EscapingBuffer::EscapingBuffer(std::ostream& stream)
    : stream_(stream), target_(stream.rdbuf(this)) {}

EscapingBuffer::~EscapingBuffer() {
  put_held();
  stream_.rdbuf(target_);
}

bool EscapingBuffer::put(const std::string& text) {
  const auto size = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), size) == size;
}

bool EscapingBuffer::put_held() {
  const bool done = put(held_);
  held_.clear();
  return done;
}

EscapingBuffer::int_type EscapingBuffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
  const char byte = traits_type::to_char_type(character);
  const bool continues = (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
  if (!held_.empty() && !continues && !put_held()) return traits_type::eof();
  held_ += byte;
  const std::size_t length =
      length_of(static_cast<unsigned char>(held_.front()));
  if (held_.size() < length) return character;
  const unsigned code = code_of(held_);
  if (is_harmful(code, length)) {
    char text[8];
    std::snprintf(text, sizeof text, length == 1 ? "\\x%02x" : "\\u%04x", code);
    held_ = text;
  }
  return put_held() ? character : traits_type::eof();
}

int EscapingBuffer::sync() { return target_->pubsync(); }

std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : std::string(1, c);
  return line;
}

}  // namespace radir::cli
