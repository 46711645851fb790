#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/report/page.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/unpublished.h"

// Private to the benchmarks.

namespace radir::reproduce {

/// The page of a comparison of methods.
inline constexpr const char* kMethodsPage = "methods.html";

/// {"mean": ..., "stderr": ...}
inline nlohmann::ordered_json json_of(const UciMean& mean) {
  return {{"mean", mean.mean}, {"stderr", mean.standard_error}};
}

/// An object for each set.
inline nlohmann::ordered_json json_of(const std::vector<UnpublishedSet>& sets) {
  auto json = nlohmann::ordered_json::array();
  for (const UnpublishedSet& set : sets) {
    json.push_back({{"set", set.name}, {"problem", set.problem}});
  }
  return json;
}

/// A line of its own under the tables, if there is anything to say.
inline std::string note_line(const std::vector<UnpublishedSet>& unpublished) {
  const std::string note = note_on_unpublished(unpublished);
  return note.empty() ? note : "\n" + note + "\n";
}

/// Says it under the title of a page too.
inline report::Page with_note(report::Page page,
                              const std::vector<UnpublishedSet>& unpublished) {
  const std::string note = note_on_unpublished(unpublished);
  if (!note.empty()) page.lead += " Here " + note + ".";
  return page;
}

}  // namespace radir::reproduce
