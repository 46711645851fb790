#pragma once

#include "io/json_object.h"
#include "radir/train/model.h"

namespace radir::io {

/// The description of a network as it stands in model files and in files of its
/// own (network_file.h), every key written.
nlohmann::ordered_json to_json(const train::NetworkSpec& network);

/// The reverse. Throws IoError that names the layer; whether the layers fit
/// each other is not checked.
train::NetworkSpec read_network(JsonObject json);

}  // namespace radir::io
