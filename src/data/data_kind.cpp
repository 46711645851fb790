#include "radir/data/data_kind.h"

#include <nlohmann/json.hpp>

namespace radir::data {

std::string data_kind(const std::string& preprocessing) {
  const auto json = nlohmann::json::parse(preprocessing, nullptr,
                                          /*allow_exceptions=*/false);
  const auto kind = json.find("kind");
  return kind != json.end() && kind->is_string() ? kind->get<std::string>()
                                                 : "";
}

}  // namespace radir::data
