#include "radir/core/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace radir {
namespace {

// Longer names are never compared: the work grows with the product of lengths.
constexpr std::size_t kLongestName = 256;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) ==
         std::tolower(static_cast<unsigned char>(b));
}

// Damerau's distance restricted to neighbours (optimal string alignment), three
// rows of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
          same_letter(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name,
                         const std::vector<std::string>& candidates) {
  // A third of the letters may differ; more is another word.
  std::size_t best = name.size() / 3 + 1;
  std::string nearest;
  if (name.size() > kLongestName) return nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // Of short names, "a" and "b" have no letter in common.
    if (distance >= std::max(name.size(), candidate.size())) continue;
    if (distance < best || (distance == best && nearest.empty())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name,
                         const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
}

std::string known_names(std::string_view name,
                        const std::vector<std::string>& names) {
  std::string text = "; those known are ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text + did_you_mean(name, names);
}

}  // namespace radir
