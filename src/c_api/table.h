#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "radir/c_api.h"
#include "radir/data/table.h"

namespace radir::c_api {

/// A table that grows by columns until it is used.
class TableObject {
 public:
  explicit TableObject(std::string name) : name_(std::move(name)) {}
  explicit TableObject(data::Table table)
      : name_(table.source()),
        table_(std::make_shared<const data::Table>(std::move(table))) {}

  /// Adds columns, all or none. Throws ArgumentError once the table was used,
  /// and for columns that do not fit the others.
  void add(std::vector<data::Column> columns);

  /// The complete table. Throws ArgumentError when it has no columns.
  std::shared_ptr<const data::Table> table();

 private:
  std::mutex mutex_;
  std::string name_;
  std::vector<data::Column> columns_;
  std::shared_ptr<const data::Table> table_;
};

/// The columns of a matrix of the caller, not copied; without names they are
/// column_1, column_2, ... See radir_table_add_matrix.
std::vector<data::Column> matrix_columns(radir_type type, const void* values,
                                         std::int64_t rows,
                                         std::int64_t columns,
                                         std::int64_t row_stride,
                                         std::int64_t column_stride,
                                         const char* const* names = nullptr);

/// The table behind a handle.
std::shared_ptr<const data::Table> table_of(radir_table handle);

}  // namespace radir::c_api
