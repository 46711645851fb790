#include "radir/data/table.h"

#include <limits>

#include "fuzz/targets.h"
#include "radir/core/error.h"

namespace radir::fuzz {
namespace {

/// Buffers shorter than the input, rows one at a time, every cell a text.
void read_in_pieces(std::string_view bytes) {
  data::TableOptions options;
  options.other_types = data::ColumnType::Categorical;
  options.limits.row_bytes = 64;
  options.limits.cell_bytes = 16;
  options.limits.columns = 8;
  options.limits.categories = 20;
  data::TableReader reader(files::memory_byte_source("chunks", bytes), options);
  data::Table table = reader.empty_table();
  while (reader.read(table, 1) == 1) {
  }
  for (const data::Column& column : table.columns()) {
    require(column.size() == table.rows(), "columns have one length");
  }
}

}  // namespace

void table(std::string_view bytes) {
  feed(read_in_pieces, bytes);
  const data::Table table =
      data::read_table(files::memory_byte_source("table", bytes));
  require(table.rows() > 0, "a table has a row");
  table.first_missing();
}

}  // namespace radir::fuzz
