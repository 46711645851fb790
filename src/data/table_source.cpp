#include "radir/data/table_source.h"

#include <algorithm>
#include <limits>

#include "data/named_columns.h"
#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/files/utf8.h"

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

/// Whether the source is one that is read at once.
bool check_parts(const TableSource& source) {
  RADIR_CHECK(!source.parts.empty(), ArgumentError, "no table is given");
  for (const std::string& part : source.parts) {
    RADIR_CHECK(source.parts.size() == 1 || !is_read_at_once(part),
                ArgumentError, part, ": only files can be joined to one table");
  }
  return is_read_at_once(source.parts.front());
}

/// Options under which another file is read as a table was.
TableOptions options_like(const Table& table, const TableOptions& given) {
  TableOptions options = given;
  options.categorical.clear();
  options.skip.clear();
  options.only.clear();
  options.target.clear();
  options.other_types = ColumnType::Skipped;
  options.types.clear();
  for (const Column& column : table.columns()) {
    options.types[column.name()] = column.type();
    if (column.type() == ColumnType::Date) {
      options.date_orders[column.name()] = column.date_order();
    }
  }
  const std::vector<std::string>& names = table.file_columns();
  bool generated = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    generated = generated && names[i] == "column_" + std::to_string(i + 1);
  }
  options.header = !generated;
  return options;
}

void check_same_columns(const std::vector<std::string>& names,
                        const std::string& source, const Table& table) {
  const std::vector<std::string>& wanted = table.file_columns();
  RADIR_CHECK(names.size() == wanted.size(), IoError, source, ": has ",
              names.size(), " columns, but ", table.source(), " has ",
              wanted.size(), "; tables that are joined need the same columns");
  for (std::size_t i = 0; i < names.size(); ++i) {
    RADIR_CHECK(names[i] == wanted[i], IoError, source, ": its column ", i + 1,
                " is ", files::excerpt(names[i]), ", but that of ",
                table.source(), " is ", files::excerpt(wanted[i]),
                "; tables that are joined need the same columns");
  }
}

/// Options under which a table is read for all of the encoders.
TableOptions reader_options(const std::string& source,
                            const std::vector<const TableEncoder*>& encoders,
                            bool with_target) {
  TableOptions options = encoders.front()->reader_options(with_target);
  for (const TableEncoder* encoder : encoders) {
    const TableOptions own = encoder->reader_options(with_target);
    options.types.insert(own.types.begin(), own.types.end());
    options.date_orders.insert(own.date_orders.begin(), own.date_orders.end());
    for (const auto& [name, type] : own.types) {
      const bool as_others =
          options.types.at(name) == type &&
          (type != ColumnType::Date ||
           options.date_orders.at(name) == own.date_orders.at(name));
      RADIR_CHECK(as_others, IoError, source, ": the models read the column ",
                  files::excerpt(name), " in different ways; use one model at ",
                  "a time");
    }
  }
  return options;
}

/// Those that no encoder uses.
std::vector<std::string> unused_columns(
    const std::vector<const TableEncoder*>& encoders, const std::string& source,
    const std::vector<std::string>& names, bool with_target) {
  std::vector<std::string> unused = names;
  for (const TableEncoder* encoder : encoders) {
    const std::string& target = encoder->target().name;
    RADIR_CHECK(
        !with_target || encoders.size() == 1 ||
            std::find(names.begin(), names.end(), target) != names.end(),
        IoError, source, ": the target ", files::excerpt(target),
        " of one of the models is missing; add it, or give the folder ",
        "of each other target by itself");
    const auto extra = encoder->check_columns(source, names, with_target);
    const auto is_used = [&](const std::string& name) {
      return std::find(extra.begin(), extra.end(), name) == extra.end();
    };
    unused.erase(std::remove_if(unused.begin(), unused.end(), is_used),
                 unused.end());
  }
  return unused;
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

std::string TableSource::name() const {
  std::string name = parts.empty() ? "" : parts.front();
  if (parts.size() < 2) return name;
  const std::size_t others = parts.size() - 1;
  return name + " and " + std::to_string(others) +
         (others == 1 ? " other" : " others");
}

Table read_source(const TableSource& source, const TableOptions& given,
                  std::uint64_t seed) {
  if (check_parts(source)) {
    return selected(read_at_once(source.parts.front(), seed), given);
  }
  TableOptions options = given;
  if (source.header) options.header = source.header;
  Table table = read_table(source.parts.front(), options);
  for (std::size_t i = 1; i < source.parts.size(); ++i) {
    TableReader reader(source.parts[i], options_like(table, options));
    check_same_columns(reader.column_names(), source.parts[i], table);
    reader.read(table, std::numeric_limits<std::int64_t>::max());
  }
  return table;
}

std::vector<std::string> column_names(const TableSource& source) {
  if (check_parts(source)) {
    return read_at_once(source.parts.front(), 0).column_names();
  }
  TableOptions options;
  options.header = source.header;
  return TableReader(source.parts.front(), options).column_names();
}

std::vector<std::string> for_each_chunk(
    const TableSource& source, std::uint64_t seed, const TableEncoder& encoder,
    bool with_target, const std::function<void(const TableChunk&)>& visit) {
  return for_each_chunk(source, seed, std::vector{&encoder}, with_target,
                        visit);
}

std::vector<std::string> for_each_chunk(
    const TableSource& source, std::uint64_t seed,
    const std::vector<const TableEncoder*>& encoders, bool with_target,
    const std::function<void(const TableChunk&)>& visit) {
  if (check_parts(source)) {
    const Table table = read_at_once(source.parts.front(), seed);
    auto extra = unused_columns(encoders, table.source(), table.column_names(),
                                with_target);
    visit({table});
    return extra;
  }
  TableOptions options = reader_options(source.name(), encoders, with_target);
  options.header = source.header;
  std::vector<std::string> extra;
  std::int64_t rows_before = 0;
  for (const std::string& part : source.parts) {
    TableReader reader(part, options);
    for (std::string& name :
         unused_columns(encoders, part, reader.column_names(), with_target)) {
      if (std::find(extra.begin(), extra.end(), name) != extra.end()) continue;
      extra.push_back(std::move(name));
    }
    for (std::int64_t first = 0;;) {
      Table chunk = reader.empty_table();
      const std::int64_t rows = reader.read(chunk, kChunkRows);
      if (rows == 0) break;
      visit({chunk, rows_before, first});
      first += rows;
      rows_before += rows;
    }
  }
  return extra;
}

}  // namespace radir::data
