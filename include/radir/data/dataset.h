#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace radir::data {

/// A file of a data set that is downloaded. Its size and SHA-256 are those of
/// its contents: a gzip file counts by what is in it, however it was packed.
struct DataFile {
  std::string path;  ///< below the data folder
  std::int64_t bytes = 0;
  std::string sha256;
  std::vector<std::string> urls;  ///< in the order they are tried
};

/// What the files beside data.txt are made from in the layout of Hernandez-
/// Lobato and Adams (2015): the features come first, then the target, and the
/// splits are drawn as `split_data_train_test.py` of their code draws them.
struct UciRecipe {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  int splits = 20;
  int hidden_units = 50;
  int epochs = 40;
};

/// A public data set that the program can download.
struct DataSet {
  std::string name;     ///< "mnist", "yacht"
  std::string folder;   ///< below the data folder: "mnist", "uci/yacht"
  std::string title;    ///< what it is, in a line
  std::string licence;  ///< as stated by its distributor
  std::string home;     ///< where to read about it
  std::vector<DataFile> files;
  std::optional<UciRecipe> recipe;

  std::int64_t bytes() const;
};

/// MNIST and the nine sets of the UCI benchmark.
const std::vector<DataSet>& data_sets();

/// The sets a name stands for: one of them, "uci" for the nine, or "all".
/// Throws ArgumentError that suggests the nearest name.
std::vector<const DataSet*> find_data_sets(const std::string& name);

enum class DataSetState {
  Absent,
  Incomplete,  ///< a file is missing
  Damaged,     ///< a file is not the one that was published
  Complete
};

/// "absent", "incomplete", "damaged", "complete".
const char* to_string(DataSetState state);

struct DataSetCheck {
  DataSetState state = DataSetState::Absent;
  std::string problem;  ///< the first missing or damaged file, and why
};

/// Reads every file of a set in the data folder `dir` and compares it with
/// what was published. Missing or damaged files do not throw.
DataSetCheck check_data_set(const std::string& dir, const DataSet& set);

struct FetchOptions {
  /// A folder on a server with the same files as a data folder, used instead of
  /// the public sources; "" for those.
  std::string from;
  /// Called with the bytes downloaded so far, the bytes of the set and the
  /// current file; false stops the download (DownloadStopped).
  std::function<bool(std::int64_t done, std::int64_t total,
                     const std::string& file)>
      progress;
};

/// Brings a set into the data folder `dir`, which is made if need be: what is
/// there and right stays, all else is downloaded (see download()) and, for the
/// splits of the UCI sets, made. Throws IoError when no address has the right
/// file; nothing wrong is ever left under a file's name.
void fetch_data_set(const std::string& dir, const DataSet& set,
                    const FetchOptions& options = {});

}  // namespace radir::data
