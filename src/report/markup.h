#pragma once

#include <string>
#include <string_view>

namespace radir::report {

/// Text with _{subscripts} and ^{superscripts} as HTML.
std::string html_text(std::string_view text);

/// The same as the content of an SVG <text> element.
std::string svg_text(std::string_view text);

/// The same without marks, for terminals and attributes; not escaped.
std::string plain_text(std::string_view text);

/// Estimated width in units of the font size.
double text_width(std::string_view text);

/// The text, cut with an ellipsis and without its marks where its estimated
/// width is above `most`, in units of the font size.
std::string fitted_text(const std::string& text, double most);

/// `text` with &, <, > and quotes replaced by their entities.
std::string escape(std::string_view text);

/// Number of characters (not bytes) of UTF-8 text.
std::size_t character_count(std::string_view text);

}  // namespace radir::report
