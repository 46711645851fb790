#include "radir/files/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace radir::files {
namespace {

// Length of the character that starts with this byte; 0 when none does.
std::size_t character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// Smallest code point that needs a character of this length.
constexpr std::uint32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = character_length(lead);
    if (length == 0 || length > text.size() - i) return false;
    if (length > 1) {
      std::uint32_t point = lead & (0x7Fu >> length);
      for (std::size_t j = 1; j < length; ++j) {
        const auto byte = static_cast<unsigned char>(text[i + j]);
        if ((byte & 0xC0) != 0x80) return false;
        point = point << 6 | (byte & 0x3F);
      }
      const bool surrogate = point >= 0xD800 && point < 0xE000;
      if (point < kSmallest[length] || point > 0x10FFFF || surrogate) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

std::string excerpt(std::string_view cell) {
  std::size_t length = std::min<std::size_t>(cell.size(), 40);
  const auto continues_character = [](char c) { return (c & 0xC0) == 0x80; };
  while (length > 0 && length < cell.size() &&
         continues_character(cell[length])) {
    --length;
  }
  std::string text = "\"";
  for (const char c : cell.substr(0, length)) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    text += printable ? c : '?';
  }
  text += length < cell.size() ? "...\"" : "\"";
  return text;
}

}  // namespace radir::files
