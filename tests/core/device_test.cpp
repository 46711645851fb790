#include "radir/core/device.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir {
namespace {

using ::radir::testing::expect_error;

TEST(Device, IsChosenByName) {
  EXPECT_EQ(parse_device("cpu"), Device::Cpu);
  EXPECT_EQ(parse_device("auto"), Device::Cpu);
  EXPECT_EQ(parse_device("cuda"), Device::Cuda);
  EXPECT_STREQ(to_string(Device::Cpu), "cpu");
  EXPECT_STREQ(to_string(Device::Cuda), "cuda");
}

TEST(Device, AnotherNameIsRefused) {
  expect_error<ArgumentError>([] { parse_device("gpu"); },
                              "must be cpu, cuda or auto, but is \"gpu\"");
}

TEST(Execution, OfAPoolIsOnTheCpu) {
  ThreadPool pool(2);
  const Execution execution = &pool;
  EXPECT_EQ(execution.device, Device::Cpu);
  EXPECT_EQ(execution.pool, &pool);
  EXPECT_EQ(Execution().pool, nullptr);
}

}  // namespace
}  // namespace radir
