#include "radir/core/module.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir {
namespace {

TEST(Module, OneThatIsMissingIsNamedWithWhatToDo) {
  testing::expect_error<UnsupportedError>(
      [] {
        module_symbol({"radir_none.so", "a device", "build it"}, "function");
      },
      "this needs a device and the module radir_none.so, which could not be "
      "loaded; build it (");
}

}  // namespace
}  // namespace radir
