#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/error.h"

namespace radir::data {

/// A file to get by HTTP.
struct Download {
  std::string path;               ///< where it goes
  std::vector<std::string> urls;  ///< tried in this order
  std::int64_t most_bytes = 0;    ///< no more than this is taken
  /// Throws IoError when the file at the path it is given, on which nothing
  /// depends yet, is not the one that is wanted. Required.
  std::function<void(const std::string& path)> verify;
  /// Told how many bytes are there and, when known, how many there will be
  /// (else 0); false stops the download.
  std::function<bool(std::int64_t done, std::int64_t total)> progress;
  /// A transfer that is slower than 1000 bytes a second for this long is cut.
  std::chrono::seconds patience = std::chrono::seconds(30);
  std::chrono::milliseconds wait = std::chrono::seconds(1);  ///< before trying
                                                             ///< again
};

/// Thrown when `progress` said no; what has come is kept.
class DownloadStopped : public Error {
 public:
  using Error::Error;
};

/// Whether this program was built with libcurl.
bool has_download();

/// Downloads a file so that no reader sees an incomplete one: the bytes go to
/// `path.part`, which is verified, synced and renamed to `path`; then the
/// folder is synced. An existing `path.part` is resumed (HTTP Range). If it
/// turns out to be part of another file, the download starts again.
///
/// A dropped connection or a busy server is tried again, then the next address.
/// At most five redirections are followed, and from https only to https.
/// Proxies are those of the environment (https_proxy, http_proxy, no_proxy).
///
/// Throws IoError that says what went wrong at every address; `path` is then
/// unchanged, and `path.part` is kept if it can be resumed.
/// UnsupportedError without libcurl.
void download(const Download& request);

}  // namespace radir::data
