#pragma once

#include "radir/files/json_object.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::io {

/// The description of a network as it stands in model files and in files of its
/// own (network_file.h), every key written.
nlohmann::ordered_json to_json(const network::NetworkSpec& network);

/// The reverse. Throws IoError that names the layer; whether the layers fit
/// each other is not checked.
network::NetworkSpec read_network(files::JsonObject json);

}  // namespace radir::io
