#include "radir/data/table_source.h"

#include "radir/data/builtin_data.h"

namespace radir::data {
namespace {

constexpr const char* kRobotArm = "builtin:robot-arm";
constexpr std::int64_t kRobotArmRows = 2000;
constexpr std::int64_t kChunkRows = 8192;

bool is_read_at_once(const std::string& source) {
  return source == kRobotArm || is_uci_folder(source);
}

Table read_at_once(const std::string& source, std::uint64_t seed) {
  if (source == kRobotArm) return make_robot_arm_table(kRobotArmRows, seed);
  return to_table(read_uci(source));
}

}  // namespace

Table to_table(const UciSet& set) {
  std::vector<Column> columns;
  for (std::int64_t j = 0; j < set.features; ++j) {
    columns.emplace_back("feature_" + std::to_string(j + 1),
                         ColumnType::Numeric);
  }
  columns.emplace_back("target", ColumnType::Numeric);
  for (std::int64_t i = 0; i < set.rows; ++i) {
    for (std::int64_t j = 0; j < set.features; ++j) {
      columns[static_cast<std::size_t>(j)].append_number(
          set.inputs[static_cast<std::size_t>(i * set.features + j)]);
    }
    columns.back().append_number(set.targets[static_cast<std::size_t>(i)]);
  }
  return Table(set.name, std::move(columns));
}

Table read_source(const std::string& source, const TableOptions& options,
                  std::uint64_t seed) {
  return is_read_at_once(source) ? read_at_once(source, seed)
                                 : read_table(source, options);
}

std::vector<std::string> for_each_chunk(
    const std::string& source, std::uint64_t seed, const TableEncoder& encoder,
    bool with_target,
    const std::function<void(const Table&, std::int64_t)>& visit) {
  if (is_read_at_once(source)) {
    const Table table = read_at_once(source, seed);
    auto extra = encoder.check_columns(table.source(), table.column_names(),
                                       with_target);
    visit(table, 0);
    return extra;
  }
  TableReader reader(source, encoder.reader_options(with_target));
  auto extra =
      encoder.check_columns(source, reader.column_names(), with_target);
  for (std::int64_t first = 0;;) {
    Table chunk = reader.empty_table();
    const std::int64_t rows = reader.read(chunk, kChunkRows);
    if (rows == 0) return extra;
    visit(chunk, first);
    first += rows;
  }
}

}  // namespace radir::data
