#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "radir/data/images.h"

namespace radir::workflows {

/// What config.json of every run says: its data, the program and machine that
/// started it, and the command that resumes it.
nlohmann::ordered_json run_config(const nlohmann::ordered_json& data,
                                  const nlohmann::ordered_json& command);

/// The entry "data" of a run on images; `source` is what was asked for.
nlohmann::ordered_json image_data_entry(const std::string& source,
                                        const data::ImageSplit& images);

/// The entry "command" of a command with these options, a JSON object.
nlohmann::ordered_json command_entry(const std::string& name,
                                     const std::string& options);

}  // namespace radir::workflows
