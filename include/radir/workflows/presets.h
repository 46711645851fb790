#pragma once

#include <string>

#include "radir/workflows/compress_settings.h"
#include "radir/workflows/table_settings.h"

// Settings that belong together, under one name. "article" is the model of Oh,
// Adamczewski and Park (2019) as published; where the article is silent, the
// values of its code.

namespace radir::workflows {

/// Sets what the preset is about and leaves the rest. Throws UnsupportedError
/// for an unknown name.
void apply_preset(const std::string& name, TableSettings& settings);
void apply_preset(const std::string& name, CompressSettings& settings);

/// Whether there is a preset of this name.
bool is_preset(const std::string& name);

}  // namespace radir::workflows
