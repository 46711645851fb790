#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "radir/files/json_object.h"
#include "radir/workflows/train_table.h"

// The entry "command" of config.json: what `radir train` was asked for.

namespace radir::workflows {

inline constexpr const char* kTrainCommand = "train";

/// An absolute path. Standard input stays what it is.
std::string table_path(const std::string& table);

nlohmann::ordered_json command_json(const TrainTableOptions& options);

/// Throws IoError where it is damaged.
TrainTableOptions command_from_json(files::JsonObject json);

}  // namespace radir::workflows
