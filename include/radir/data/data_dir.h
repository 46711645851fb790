#pragma once

#include <string>

namespace radir::data {

/// The name of the data folder, existing or not: `given` (the value
/// of --data-dir) when it is not empty, else the environment variable
/// RADIR_DATA_DIR; "" when neither is given.
std::string data_dir_name(const std::string& given);

/// The folder that holds data sets: `given` (the value of --data-dir) when it
/// is not empty, else the environment variable RADIR_DATA_DIR. Throws IoError
/// when neither is given or the folder does not exist.
std::string data_dir(const std::string& given = "");

/// The folder of one data set ("mnist", "uci/yacht") below `dir`. Throws
/// IoError that lists what is there instead, suggests the nearest name, and
/// says how to fetch a set of the catalogue.
std::string data_set_dir(const std::string& dir, const std::string& name);

}  // namespace radir::data
