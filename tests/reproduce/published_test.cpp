#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/data/uci.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/table_fit.h"
#include "reproduce/uci_fit.h"
#include "support/data_dir.h"

// Figures of the published tables, on the real data, where it is there.

namespace radir::reproduce {
namespace {

/// Test log-likelihoods over the first splits of a set, nothing tuned.
UciMean measured(const std::string& set_name, std::size_t splits,
                 const workflows::TableSettings& settings) {
  const data::UciSet set = data::read_uci(testing::data_set("uci/" + set_name));
  const data::Table table = data::to_table(set);
  std::vector<double> values(splits);
  ThreadPool pool;
  pool.run(static_cast<std::int64_t>(splits), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const data::UciSplit& rows = set.splits.at(at);
    const data::TableEncoder encoder = data::TableEncoder::fit(
        table, "target", data::MissingValues::Refuse, rows.train);
    const workflows::TableModel model = workflows::fit_networks(
        encoder, encoder.encode(table, true, rows.train), settings);
    values[at] = uci_score(model, encoder.encode(table, true, rows.test), 0)
                     .log_likelihood;
  });
  return mean_and_error(values);
}

TEST(PublishedFigures, ProbabilisticBackpropagationOnBoston) {
  RADIR_SKIP_WITHOUT_DATA("uci/bostonHousing");
  workflows::TableSettings settings;
  settings.method = "pbp";
  const UciMean mean = measured("bostonHousing", 20, settings);
  // Hernandez-Lobato and Adams (2015), table 2.
  EXPECT_NEAR(mean.mean, -2.574, 2 * std::hypot(0.089, mean.standard_error));
}

}  // namespace
}  // namespace radir::reproduce
