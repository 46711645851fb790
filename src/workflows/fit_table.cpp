#include "radir/workflows/fit_table.h"

#include <optional>

#include "radir/data/row_order.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/settings_choice.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {

TableModel fit_table(const data::Table& table, const std::string& target,
                     const TableSettings& settings, ThreadPool* pool) {
  check(settings);
  const auto order = data::content_order(table);
  data::TableEncoder encoder = data::TableEncoder::fit(
      table, target, data::MissingValues::Refuse, order);
  data::EncodedRows rows = encoder.encode(table, true, order);
  std::optional<ThreadPool> own;
  if (pool == nullptr) pool = &own.emplace();
  encode_for(settings, table, encoder, rows);
  const ChosenSettings chosen = choose_settings(
      search_for(settings, encoder, rows.count), table, encoder,
      rows.table_rows, resolved(settings, encoder, rows.count), pool);
  encode_for(chosen.settings, table, encoder, rows);
  return fit_networks(encoder, rows, chosen.settings, nullptr, pool);
}

}  // namespace radir::workflows
