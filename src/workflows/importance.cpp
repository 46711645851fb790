#include "radir/workflows/importance.h"

#include <cmath>

#include "radir/data/table_encoder.h"
#include "radir/network/plain_network.h"
#include "radir/network/wiring.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"

namespace radir::workflows {
namespace {

/// The column of each encoded input.
std::vector<std::size_t> columns_of_inputs(const data::TableEncoder& encoder) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < encoder.inputs().size(); ++c) {
    columns.insert(columns.end(),
                   static_cast<std::size_t>(encoder.inputs()[c].width()), c);
  }
  return columns;
}

}  // namespace

std::vector<double> column_importance(const TableModel& model) {
  const train::Model network(model.spec);
  const network::Wiring wiring(model.spec.network);
  const std::vector<std::int64_t>& makers = wiring.makers(0);
  const std::vector<std::size_t> columns = columns_of_inputs(model.encoder);
  std::vector<double> squares(model.encoder.inputs().size());
  for (const std::vector<float>& parameters : model.networks) {
    const auto plain = train::point_network(network, parameters);
    const std::vector<float>& weight = plain.layers.front().weight;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const auto input = static_cast<std::size_t>(makers[i % makers.size()]);
      const auto value = static_cast<double>(weight[i]);
      squares[columns[input]] += value * value;
    }
  }
  for (double& value : squares) {
    value = std::sqrt(value / static_cast<double>(model.networks.size()));
  }
  return squares;
}

}  // namespace radir::workflows
