#include "radir/bench/bench_step.h"

#include <string>

#include "radir/core/error.h"
#include "radir/workflows/torch_module.h"

namespace radir::bench {
namespace {

constexpr char kModule[] = "radir_baselines.so";

template <typename Row, typename Matches>
const Row& find_row(const std::vector<Row>& rows, Matches matches) {
  for (const Row& row : rows) {
    if (matches(row)) return row;
  }
  throw ArgumentError("benchmark: no such row");
}

}  // namespace

const BenchStepRow& BenchStepResult::row(const std::string& network,
                                         std::int64_t batch,
                                         const std::string& variant,
                                         int threads) const {
  return find_row(rows, [&](const BenchStepRow& row) {
    return row.network == network && row.batch == batch &&
           row.variant == variant && row.threads == threads;
  });
}

const BenchPredictRow& BenchPredictResult::row(
    std::int64_t count, const std::string& variant) const {
  return find_row(rows, [&](const BenchPredictRow& row) {
    return row.rows == count && row.variant == variant;
  });
}

BenchStepResult bench_step(const BenchStepOptions& options) {
  for (const std::string& network : options.networks) {
    RADIR_CHECK(network == "uci" || network == "lenet5", ArgumentError,
                "bench step: the networks are uci and lenet5, but got \"",
                network, "\"");
  }
  RADIR_CHECK(options.rounds > 0, ArgumentError,
              "bench step: rounds must be positive, but is ", options.rounds);
  for (int threads : options.threads) {
    RADIR_CHECK(threads > 0, ArgumentError,
                "bench step: threads must be positive, but is ", threads);
  }
  BenchStepResult result;
  workflows::module_function<void(const BenchStepOptions&, BenchStepResult&)>(
      kModule, "radir_bench_step")(options, result);
  return result;
}

BenchPredictResult bench_predict(const BenchPredictOptions& options) {
  RADIR_CHECK(options.rounds > 0 && options.samples > 0 && options.threads > 0,
              ArgumentError,
              "bench predict: rounds, samples and threads must be positive");
  for (std::int64_t rows : options.rows) {
    RADIR_CHECK(rows > 0, ArgumentError,
                "bench predict: rows must be positive, but is ", rows);
  }
  BenchPredictResult result;
  workflows::module_function<void(const BenchPredictOptions&,
                                  BenchPredictResult&)>(
      kModule, "radir_bench_predict")(options, result);
  return result;
}

}  // namespace radir::bench
