#include "radir/bench/bench_methods.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/posterior/family.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

TEST(BenchMethods, TimesEveryFamilyAgainstTheFirst) {
  BenchMethodsOptions options;
  options.rounds = 1;
  const auto rows = bench_methods(options);
  ASSERT_EQ(rows.size(), posterior::families().size());
  EXPECT_EQ(rows.front().family, "radial-directional");
  EXPECT_EQ(rows.front().ratio, 1);
  for (const BenchMethodsRow& row : rows) {
    EXPECT_GT(row.min_us, 0) << row.family;
    EXPECT_GE(row.median_us, row.min_us) << row.family;
  }
  EXPECT_EQ(bench_methods_table(rows).rows.size(), rows.size());
  options.rounds = 0;
  testing::expect_error<ArgumentError>([&] { bench_methods(options); },
                                       "must be positive");
}

}  // namespace
}  // namespace radir::bench
