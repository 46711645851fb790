#include "cli/unseen_levels.h"

#include "cli/progress.h"
#include "radir/files/utf8.h"

namespace radir::cli {

void say_unseen(const std::vector<data::UnseenLevels>& unseen,
                std::set<std::string>& said) {
  for (const data::UnseenLevels& levels : unseen) {
    const bool one = levels.count == 1;
    const std::string text =
        std::to_string(levels.count) + (one ? " row has" : " rows have") +
        " a value of \"" + levels.column +
        "\" that the training saw rarely or never (first: " +
        files::excerpt(levels.first_text) + " in row " +
        std::to_string(levels.first_row + 1) + "); it counts as \"other\"";
    if (said.insert(text).second) say(text);
  }
}

nlohmann::ordered_json unseen_json(
    const std::vector<data::UnseenLevels>& unseen) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const data::UnseenLevels& levels : unseen) {
    json[levels.column] = levels.count;
  }
  return json;
}

}  // namespace radir::cli
