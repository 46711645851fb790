#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace radir::data {

/// Row numbers, from 0, of the training and the test part.
struct UciSplit {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> test;
};

/// A regression set in the folder layout of Hernandez-Lobato and Adams (2015):
/// data.txt, index_features.txt, index_target.txt, n_splits.txt, n_hidden.txt,
/// index_train_K.txt and index_test_K.txt.
struct UciSet {
  std::string name;  ///< of the folder
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<double> inputs;   ///< rows x features, row by row
  std::vector<double> targets;  ///< one per row
  std::vector<UciSplit> splits;
  std::int64_t hidden_units = 0;  ///< others used for this set
};

/// The nine sets of the benchmark, in the order of the published tables.
const std::vector<std::string>& uci_set_names();

/// Whether a folder has this layout (it holds data.txt and index_target.txt).
bool is_uci_folder(const std::string& folder);

/// Reads a set. Throws IoError with file, row and column when a file is
/// missing, a value is missing or not a number, an index is not an integer or
/// out of range, a feature is named twice or is the target, or a row appears
/// twice in a split.
UciSet read_uci(const std::string& folder);

}  // namespace radir::data
