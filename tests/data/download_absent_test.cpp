#include <gtest/gtest.h>

#include "radir/data/download.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

TEST(Download, WithoutLibcurlItSaysSo) {
  EXPECT_FALSE(has_download());
  Download request;
  request.path = "data.bin";
  testing::expect_error<UnsupportedError>(
      [&] { download(request); },
      "data.bin: this program was built without libcurl");
}

}  // namespace
}  // namespace radir::data
