#include <gtest/gtest.h>

#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table_encoder.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_settings.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

/// Fits a table on a GPU, of which these tests have none: the module is not
/// beside them.
void fit_on_cuda(const std::string& method) {
  const data::Table table = data::make_robot_arm_table(50, 1);
  const data::TableEncoder encoder =
      data::TableEncoder::fit(table, table.column_names().back());
  TableSettings settings;
  settings.method = method;
  settings.hidden = {5};
  settings.restarts = 3;
  fit_networks(encoder, encoder.encode(table, true), settings, nullptr,
               Execution(Device::Cuda, nullptr));
}

TEST(FitOnADevice, SaysWhereTheModuleIsMissing) {
  testing::expect_error<UnsupportedError>(
      [] { fit_on_cuda("rdp"); },
      "the module radir_cuda.so, which could not be loaded");
  testing::expect_error<UnsupportedError>([] { check_device(Device::Cuda); },
                                          "radir_cuda.so");
  check_device(Device::Cpu);
}

TEST(FitOnADevice, RefusesAMethodThatItDoesNotHave) {
  testing::expect_error<UnsupportedError>(
      [] { fit_on_cuda("pbp"); },
      "training on cuda: the method pbp is not supported yet");
}

}  // namespace
}  // namespace radir::workflows
