#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/io/onnx.h"
#include "support/expect_error.h"

namespace radir::io {
namespace {

using ::radir::testing::expect_error;

TEST(Onnx, WithoutTheLibraryItSaysSo) {
  EXPECT_FALSE(has_onnx());
  expect_error<UnsupportedError>([] { write_onnx("n.onnx", {}); },
                                 "n.onnx: this program was built without ONNX");
  expect_error<UnsupportedError>([] { read_onnx("n.onnx"); },
                                 "RADIR_WITH_ONNX=ON");
  expect_error<UnsupportedError>([] { read_onnx("name", "bytes"); },
                                 "name: this program was built without ONNX");
}

}  // namespace
}  // namespace radir::io
