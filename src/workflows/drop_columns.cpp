#include <algorithm>
#include <variant>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/data_kind.h"
#include "radir/data/table_encoder.h"
#include "radir/io/model_file.h"
#include "radir/network/spec.h"
#include "radir/network/wiring.h"
#include "radir/workflows/inspect.h"

namespace radir::workflows {
namespace {

/// For each encoded input its place among those of the kept columns.
std::vector<std::int64_t> new_places(const data::TableEncoder& encoder,
                                     const std::vector<bool>& kept) {
  std::vector<std::int64_t> places;
  std::int64_t next = 0;
  for (std::size_t c = 0; c < kept.size(); ++c) {
    for (std::int64_t i = 0; i < encoder.inputs()[c].width(); ++i) {
      places.push_back(next);
      if (kept[c]) ++next;
    }
  }
  return places;
}

}  // namespace

KeptColumns drop_unused_columns(io::SavedModel& model) {
  KeptColumns use;
  if (data::data_kind(model.preprocessing) != data::kTableKind) return use;
  const auto encoder = data::TableEncoder::from_json(model.preprocessing);
  const network::Wiring wiring(model.spec.network);
  std::vector<bool> read(static_cast<std::size_t>(encoder.input_size()));
  for (const std::int64_t input : wiring.makers(0)) {
    read[static_cast<std::size_t>(input)] = true;
  }
  std::vector<bool> kept;
  auto at = read.begin();
  for (const data::ColumnCode& code : encoder.inputs()) {
    const auto end = at + code.width();
    kept.push_back(std::find(at, end, true) != end);
    (kept.back() ? use.kept : use.removed).push_back(code.name);
    at = end;
  }
  if (use.removed.empty()) return use;

  const auto places = new_places(encoder, kept);
  const data::TableEncoder smaller = encoder.with_inputs(kept);
  network::NetworkSpec& network = model.spec.network;
  network.input.channels = smaller.input_size();
  auto* select = std::get_if<network::Select>(&network.layers.front());
  RADIR_ASSERT(select != nullptr);
  for (std::int64_t& index : select->indices) {
    index = places[static_cast<std::size_t>(index)];
  }
  if (static_cast<std::int64_t>(select->indices.size()) ==
      smaller.input_size()) {
    network.layers.erase(network.layers.begin());
  }
  model.preprocessing = smaller.to_json();
  model.training_rows = "{}";  // hashes of all inputs
  return use;
}

}  // namespace radir::workflows
