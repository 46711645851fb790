#include "radir/data/download.h"

// The downloader of a program built without libcurl.

namespace radir::data {

bool has_download() { return false; }

void download(const Download& request) {
  detail::throw_error<UnsupportedError>(
      request.path, ": this program was built without libcurl and cannot ",
      "download; install libcurl4-openssl-dev and build it with ",
      "RADIR_WITH_CURL=ON, or put the file there yourself");
}

}  // namespace radir::data
