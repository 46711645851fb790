#pragma once

#include <string>

namespace radir::io {

/// The folder that holds data sets: `given` (the value of --data-dir) when it
/// is not empty, else the environment variable RADIR_DATA_DIR. Throws IoError
/// when neither is given or the folder is not there.
std::string data_dir(const std::string& given = "");

/// The folder of one data set ("mnist", "uci/yacht") below `dir`. Throws
/// IoError that lists what is there instead and suggests the nearest name.
std::string data_set_dir(const std::string& dir, const std::string& name);

}  // namespace radir::io
