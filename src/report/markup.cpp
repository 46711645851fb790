#include "report/markup.h"

#include <fmt/core.h>

#include <vector>

namespace radir::report {
namespace {

enum class Level { Normal, Subscript, Superscript };

struct Run {
  Level level;
  std::string_view text;
};

/// Cuts the text at its marks; a mark without a closing brace is plain text.
std::vector<Run> parse(std::string_view text) {
  std::vector<Run> runs;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool mark = (text[i] == '_' || text[i] == '^') && text[i + 1] == '{';
    const std::size_t end =
        mark ? text.find('}', i + 2) : std::string_view::npos;
    if (end == std::string_view::npos) continue;
    if (i > begin) {
      runs.push_back({Level::Normal, text.substr(begin, i - begin)});
    }
    runs.push_back({text[i] == '_' ? Level::Subscript : Level::Superscript,
                    text.substr(i + 2, end - i - 2)});
    begin = end + 1;
    i = end;
  }
  if (begin < text.size()) runs.push_back({Level::Normal, text.substr(begin)});
  return runs;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const Run& run : parse(text)) {
    switch (run.level) {
      case Level::Normal:
        out += escape(run.text);
        break;
      case Level::Subscript:
        out += "<sub>" + escape(run.text) + "</sub>";
        break;
      case Level::Superscript:
        out += "<sup>" + escape(run.text) + "</sup>";
        break;
    }
  }
  return out;
}

std::string svg_text(std::string_view text) {
  // dy moves the baseline for all that follows, so each run first takes back
  // the shift of the one before.
  constexpr double kSubscriptShift = 0.25;
  constexpr double kSuperscriptShift = -0.45;
  constexpr double kScriptSize = 0.75;
  std::string out;
  double shift = 0;
  for (const Run& run : parse(text)) {
    const double wanted = run.level == Level::Normal      ? 0
                          : run.level == Level::Subscript ? kSubscriptShift
                                                          : kSuperscriptShift;
    const bool script = run.level != Level::Normal;
    if (!script && shift == 0) {
      out += escape(run.text);
      continue;
    }
    // An em inside the run is that of its own, smaller, font.
    const double em = script ? kScriptSize : 1;
    out += fmt::format("<tspan dy=\"{:.3g}em\"{}>{}</tspan>",
                       (wanted - shift) / em,
                       script ? " font-size=\"75%\"" : "", escape(run.text));
    shift = wanted;
  }
  return out;
}

std::string plain_text(std::string_view text) {
  std::string out;
  for (const Run& run : parse(text)) {
    if (run.level == Level::Subscript) out += '_';
    if (run.level == Level::Superscript) out += '^';
    out += run.text;
  }
  return out;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continuation) ++count;
  }
  return count;
}

double text_width(std::string_view text) {
  constexpr double kAverageCharacter = 0.55;
  constexpr double kScriptSize = 0.75;
  double width = 0;
  for (const Run& run : parse(text)) {
    const double size = run.level == Level::Normal ? 1 : kScriptSize;
    width += kAverageCharacter * size *
             static_cast<double>(character_count(run.text));
  }
  return width;
}

std::string fitted_text(const std::string& text, double most) {
  if (text_width(text) <= most) return text;
  std::string cut = plain_text(text);
  const auto continues = [&] {
    return (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80;
  };
  // The ellipsis is as wide as two characters.
  while (!cut.empty() && text_width(cut + "--") > most) {
    // A UTF-8 character goes with all of its bytes.
    while (cut.size() > 1 && continues()) cut.pop_back();
    cut.pop_back();
  }
  return cut + "…";
}

}  // namespace radir::report
