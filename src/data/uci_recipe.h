#pragma once

#include <string>
#include <vector>

#include "radir/data/dataset.h"

namespace radir::data {

struct NamedText {
  std::string name;
  std::string text;
};

/// The files beside data.txt of a UCI set, byte for byte as published.
std::vector<NamedText> make_uci_files(const UciRecipe& recipe);

}  // namespace radir::data
