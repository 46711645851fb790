#pragma once

#include <string>
#include <string_view>

namespace radir::files {

/// Whether the bytes are well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// At most forty characters of a text for a message, in quotes, with anything
/// unprintable shown as '?'.
std::string excerpt(std::string_view cell);

}  // namespace radir::files
