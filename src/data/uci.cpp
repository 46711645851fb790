#include "radir/data/uci.h"

#include <cmath>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/data/table.h"

namespace radir::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostSplits = 10'000;
constexpr std::int64_t kMostHiddenUnits = 1'000'000;

// A white-space table of numbers with no header and nothing missing.
Table read_numbers(const fs::path& file) {
  TableOptions options;
  options.separator = ' ';
  options.header = false;
  options.other_types = ColumnType::Numeric;
  Table table = read_table(file.string(), options);
  if (const auto missing = table.first_missing()) {
    detail::throw_error<IoError>(table.source(), ": row ", missing->row + 1,
                                 ", column ", missing->column + 1,
                                 " is missing; this layout has no missing "
                                 "values");
  }
  return table;
}

// The integers in [smallest, largest] that a file of one column (or one
// row) holds.
std::vector<std::int64_t> read_whole_numbers(const fs::path& file,
                                             std::int64_t smallest,
                                             std::int64_t largest) {
  const Table table = read_numbers(file);
  std::vector<std::int64_t> numbers;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const double value = table.columns()[column].number(row);
      RADIR_CHECK(value == std::floor(value) &&
                      value >= static_cast<double>(smallest) &&
                      value <= static_cast<double>(largest),
                  IoError, table.source(), ": row ", row + 1, ", column ",
                  column + 1, ": ", value, " must be an integer from ",
                  smallest, " to ", largest);
      numbers.push_back(static_cast<std::int64_t>(value));
    }
  }
  return numbers;
}

std::int64_t read_whole_number(const fs::path& file, std::int64_t smallest,
                               std::int64_t largest) {
  const auto numbers = read_whole_numbers(file, smallest, largest);
  RADIR_CHECK(numbers.size() == 1, IoError, file.string(), " holds ",
              numbers.size(), " numbers, but exactly one is needed");
  return numbers[0];
}

// Marks the indices as used; none may be used already.
void mark_used(const fs::path& file, const std::vector<std::int64_t>& indices,
               std::vector<bool>& used) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<std::size_t>(indices[i]);
    RADIR_CHECK(!used[index], IoError, file.string(), ": row ", i + 1,
                ": the index ", index,
                " is used a second time; each may be used once");
    used[index] = true;
  }
}

UciSplit read_split(const fs::path& folder, std::int64_t number,
                    std::int64_t rows) {
  const std::string ending = "_" + std::to_string(number) + ".txt";
  const fs::path train = folder / ("index_train" + ending);
  const fs::path test = folder / ("index_test" + ending);
  UciSplit split{read_whole_numbers(train, 0, rows - 1),
                 read_whole_numbers(test, 0, rows - 1)};
  std::vector<bool> used(static_cast<std::size_t>(rows), false);
  mark_used(train, split.train, used);
  mark_used(test, split.test, used);
  return split;
}

void take_columns(const Table& table, const std::vector<std::int64_t>& features,
                  std::int64_t target, UciSet& set) {
  set.rows = table.rows();
  set.features = static_cast<std::int64_t>(features.size());
  set.inputs.resize(static_cast<std::size_t>(set.rows * set.features));
  set.targets.resize(static_cast<std::size_t>(set.rows));
  for (std::size_t j = 0; j < features.size(); ++j) {
    const auto column = static_cast<std::size_t>(features[j]);
    table.columns()[column].copy_numbers(0, set.rows, set.inputs.data() + j,
                                         set.features);
  }
  table.columns()[static_cast<std::size_t>(target)].copy_numbers(
      0, set.rows, set.targets.data());
}

}  // namespace

const std::vector<std::string>& uci_set_names() {
  static const std::vector<std::string> names = {"bostonHousing",
                                                 "concrete",
                                                 "energy",
                                                 "kin8nm",
                                                 "naval-propulsion-plant",
                                                 "power-plant",
                                                 "protein-tertiary-structure",
                                                 "wine-quality-red",
                                                 "yacht"};
  return names;
}

bool is_uci_folder(const std::string& folder) {
  std::error_code error;
  return fs::is_regular_file(fs::path(folder) / "data.txt", error) &&
         fs::is_regular_file(fs::path(folder) / "index_target.txt", error);
}

UciSet read_uci(const std::string& folder) {
  const fs::path path(folder);
  const Table table = read_numbers(path / "data.txt");
  const auto columns = static_cast<std::int64_t>(table.columns().size());

  const fs::path features_file = path / "index_features.txt";
  const fs::path target_file = path / "index_target.txt";
  const auto features = read_whole_numbers(features_file, 0, columns - 1);
  const auto target = read_whole_number(target_file, 0, columns - 1);
  std::vector<bool> used(static_cast<std::size_t>(columns), false);
  mark_used(features_file, features, used);
  mark_used(target_file, {target}, used);

  UciSet set;
  // Both "uci/yacht" and "uci/yacht/" are the set yacht.
  set.name = (path / "data.txt").parent_path().filename().string();
  take_columns(table, features, target, set);
  set.hidden_units =
      read_whole_number(path / "n_hidden.txt", 1, kMostHiddenUnits);
  const auto splits = read_whole_number(path / "n_splits.txt", 1, kMostSplits);
  for (std::int64_t k = 0; k < splits; ++k) {
    set.splits.push_back(read_split(path, k, set.rows));
  }
  return set;
}

}  // namespace radir::data
