#include "radir/workflows/chain_report.h"

#include <algorithm>
#include <utility>

#include "radir/train/chain_diagnostics.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"

namespace radir::workflows {
namespace {

/// Rows whose outputs are compared.
constexpr std::int64_t kMostRows = 200;
/// What chain_agreement() needs.
constexpr std::int64_t kLeastDraws = 4;

/// The value with this share of the others below it.
double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(
      share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

ChainReport chain_report(const TableModel& model, const data::EncodedRows& rows,
                         const std::vector<train::ChainStatistics>& chains,
                         ThreadPool* pool) {
  ChainReport report;
  report.chains = static_cast<std::int64_t>(chains.size());
  for (const train::ChainStatistics& chain : chains) {
    if (chain.acceptance) {
      report.acceptance =
          report.acceptance.value_or(0) +
          *chain.acceptance / static_cast<double>(chains.size());
    }
    report.divergences += chain.divergences;
  }
  const auto draws = static_cast<std::int64_t>(model.networks.size());
  const std::int64_t length = draws / report.chains;
  const std::int64_t count = std::min(rows.count, kMostRows);
  if (length < kLeastDraws || count == 0) return report;

  const train::Model network(model.spec);
  train::Predictor<float> predictor(network, model.networks, 1, 0, pool);
  const std::int64_t width = network.output_size();
  std::vector<float> outputs(static_cast<std::size_t>(draws * count * width));
  predictor.run(rows.inputs.data(), count, outputs.data());
  std::vector<double> r_hats;
  std::vector<double> effective;
  std::vector<std::vector<double>> values(
      chains.size(), std::vector<double>(static_cast<std::size_t>(length)));
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t d = 0; d < report.chains * length; ++d) {
      values[static_cast<std::size_t>(d / length)]
            [static_cast<std::size_t>(d % length)] = static_cast<double>(
                outputs[static_cast<std::size_t>((d * count + row) * width)]);
    }
    const train::ChainAgreement agreement = train::chain_agreement(values);
    r_hats.push_back(agreement.r_hat);
    effective.push_back(agreement.effective_draws);
  }
  report.r_hat_mean = 0;
  for (double value : r_hats) {
    report.r_hat_mean += value / static_cast<double>(count);
  }
  report.r_hat_95 = quantile(r_hats, 0.95);
  report.effective_draws = quantile(effective, 0.5);
  return report;
}

nlohmann::ordered_json to_json(const ChainReport& report) {
  nlohmann::ordered_json json = {{"chains", report.chains},
                                 {"r_hat_mean", report.r_hat_mean},
                                 {"r_hat_95", report.r_hat_95},
                                 {"effective_draws", report.effective_draws}};
  if (report.acceptance) json["acceptance"] = *report.acceptance;
  json["divergences"] = report.divergences;
  return json;
}

}  // namespace radir::workflows
