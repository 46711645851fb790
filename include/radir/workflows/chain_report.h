#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/train/hmc.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// How well the chains behind a model agree.
struct ChainReport {
  std::int64_t chains = 0;
  /// Of the outputs for training rows: mean and 95 % quantile over the rows.
  double r_hat_mean = 1;
  double r_hat_95 = 1;
  /// Of these outputs too, the median over the rows.
  double effective_draws = 0;
  /// Mean over the chains; none of a method without an acceptance test.
  std::optional<double> acceptance;
  std::int64_t divergences = 0;  ///< of all chains
};

/// From the draws of all chains, one chain after another, on some of the rows.
ChainReport chain_report(const TableModel& model, const data::EncodedRows& rows,
                         const std::vector<train::ChainStatistics>& chains,
                         ThreadPool* pool = nullptr);

nlohmann::ordered_json to_json(const ChainReport& report);

}  // namespace radir::workflows
