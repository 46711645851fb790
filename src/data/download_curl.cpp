#include <curl/curl.h>
#include <dlfcn.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "data/part_file.h"
#include "radir/core/version.h"
#include "radir/data/download.h"

namespace radir::data {
namespace {

constexpr int kAttempts = 4;  // at each address
constexpr long kMostRedirections = 5;
constexpr long kConnectSeconds = 20;
/// A slower transfer is cut: MNIST would take half a day.
constexpr long kLeastBytesPerSecond = 1000;

constexpr long kPartialContent = 206;
constexpr long kRequestTimeout = 408;
constexpr long kRangeNotSatisfiable = 416;
constexpr long kTooManyRequests = 429;
constexpr long kServerErrors = 500;

/// libcurl, loaded at the first download: if linked, it and its thirty
/// libraries would make every start of the program 6 ms slower.
struct Curl {
  decltype(&curl_easy_init) init;
  decltype(&curl_easy_setopt) set;
  decltype(&curl_easy_perform) perform;
  decltype(&curl_easy_getinfo) get;
  decltype(&curl_easy_strerror) describe;
  decltype(&curl_easy_cleanup) cleanup;
};

void* load_library() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  detail::throw_error<UnsupportedError>(
      "downloading needs libcurl, which could not be loaded (", ::dlerror(),
      "); install libcurl4");
}

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  RADIR_CHECK(function != nullptr, UnsupportedError, "this libcurl has no ",
              name, "; downloading needs version 7.85 or later");
}

Curl load_curl() {
  void* const library = load_library();
  Curl curl;
  look_up(library, "curl_easy_init", curl.init);
  look_up(library, "curl_easy_setopt", curl.set);
  look_up(library, "curl_easy_perform", curl.perform);
  look_up(library, "curl_easy_getinfo", curl.get);
  look_up(library, "curl_easy_strerror", curl.describe);
  look_up(library, "curl_easy_cleanup", curl.cleanup);
  return curl;
}

/// One request for what is still missing of a file.
class Transfer {
 public:
  Transfer(const Curl& curl, const Download& request, PartFile& part)
      : curl_(curl),
        request_(request),
        part_(part),
        handle_(curl.init(), curl.cleanup),
        first_byte_(part.size()) {
    RADIR_CHECK(handle_ != nullptr, IoError, "libcurl cannot be initialised");
  }

  void run(const std::string& url) {
    set_up(url);
    result_ = curl_.perform(handle_.get());
    curl_.get(handle_.get(), CURLINFO_RESPONSE_CODE, &status_);
    if (failure_) std::rethrow_exception(failure_);
  }

  /// All has come; or the server has no more than what was downloaded before.
  bool is_complete() const {
    return result_ == CURLE_OK ||
           (status_ == kRangeNotSatisfiable && first_byte_ > 0);
  }

  /// A failure that may be over in a moment.
  bool is_passing() const {
    switch (result_) {
      case CURLE_HTTP_RETURNED_ERROR:
        return status_ == kRequestTimeout || status_ == kTooManyRequests ||
               status_ >= kServerErrors;
      case CURLE_COULDNT_CONNECT:
      case CURLE_GOT_NOTHING:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
      case CURLE_OPERATION_TIMEDOUT:
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_SEND_ERROR:
        return true;
      default:
        return false;
    }
  }

  std::string problem() const {
    if (too_long_) {
      return "more than " + std::to_string(request_.most_bytes) +
             " bytes received, so it is a different file";
    }
    if (result_ == CURLE_HTTP_RETURNED_ERROR) {
      return "the server says " + std::to_string(status_) +
             (status_ == 404 ? ", not found" : "");
    }
    const bool is_untrusted = result_ == CURLE_PEER_FAILED_VERIFICATION ||
                              result_ == CURLE_SSL_CACERT_BADFILE;
    return std::string(message_[0] != '\0' ? message_
                                           : curl_.describe(result_)) +
           (is_untrusted ? " (install ca-certificates and check the clock)"
                         : "");
  }

 private:
  void set_up(const std::string& url) {
    const bool secure = url.rfind("https:", 0) == 0;
    const char* const protocols = secure ? "https" : "http,https";
    const std::string agent = std::string("radir/") + version();
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_USERAGENT, agent.c_str());
    set(CURLOPT_PROTOCOLS_STR, protocols);
    set(CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kMostRedirections);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerSecond);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request_.patience.count()));
    set(CURLOPT_ERRORBUFFER, message_);
    set(CURLOPT_WRITEFUNCTION, &Transfer::take_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::tell_progress);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    if (first_byte_ > 0) {
      set(CURLOPT_RANGE, (std::to_string(first_byte_) + "-").c_str());
    }
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode status = curl_.set(handle_.get(), option, value);
    RADIR_CHECK(status == CURLE_OK, UnsupportedError,
                "this libcurl does not support option ",
                static_cast<int>(option), " (", curl_.describe(status),
                "); downloading needs version 7.85 or later, with https");
  }

  /// Called by libcurl, through whose frames no exception may pass; taking
  /// less than all stops it.
  static std::size_t take_body(char* bytes, std::size_t, std::size_t size,
                               void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    try {
      return transfer->take({bytes, size}) ? size : 0;
    } catch (...) {
      transfer->failure_ = std::current_exception();
      return 0;
    }
  }

  /// False when more comes than the file can have.
  bool take(std::string_view bytes) {
    if (!answered_ && !continues_the_part()) part_.clear();
    answered_ = true;
    too_long_ = part_.size() + static_cast<std::int64_t>(bytes.size()) >
                request_.most_bytes;
    too_long_ ? part_.clear() : part_.append(bytes);
    return !too_long_;
  }

  /// Whether the server sends what was asked for, and not the complete file.
  bool continues_the_part() {
    long status = 0;
    curl_.get(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status == kPartialContent;
  }

  static int tell_progress(void* self, curl_off_t total, curl_off_t done,
                           curl_off_t, curl_off_t) {
    auto* transfer = static_cast<Transfer*>(self);
    const Download& request = transfer->request_;
    if (!request.progress) return 0;
    try {
      const std::int64_t before = transfer->part_.size() - done;
      const bool go_on = request.progress(transfer->part_.size(),
                                          total > 0 ? before + total : 0);
      if (!go_on) {
        detail::throw_error<DownloadStopped>("stopped after ",
                                             transfer->part_.size(),
                                             " bytes of ", request.path);
      }
      return 0;
    } catch (...) {
      transfer->failure_ = std::current_exception();
      return 1;
    }
  }

  const Curl& curl_;
  const Download& request_;
  PartFile& part_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
  std::int64_t first_byte_;
  bool answered_ = false;
  bool too_long_ = false;
  CURLcode result_ = CURLE_OK;
  long status_ = 0;
  char message_[CURL_ERROR_SIZE] = "";
  std::exception_ptr failure_;
};

class Downloader {
 public:
  explicit Downloader(const Download& request)
      : request_(request), curl_(load_curl()), part_(request.path) {}

  void run() {
    for (const std::string& url : request_.urls) {
      if (!get_from(url)) continue;
      part_.commit();
      return;
    }
    throw_failures();
  }

 private:
  /// Whether the right file came from there.
  bool get_from(const std::string& url) {
    for (int attempt = 1;; ++attempt) {
      const bool continued = part_.size() > 0;
      Transfer transfer(curl_, request_, part_);
      transfer.run(url);
      std::string problem;
      bool again = false;
      if (transfer.is_complete()) {
        problem = what_is_wrong();
        if (problem.empty()) return true;
        part_.clear();
        again = continued;  // what was there before may be of another file
      } else {
        problem = transfer.problem();
        again = transfer.is_passing();
      }
      if (!again || attempt == kAttempts) {
        failures_ += (failures_.empty() ? "" : "; ") + url + ": " + problem;
        return false;
      }
      std::this_thread::sleep_for(request_.wait);
    }
  }

  std::string what_is_wrong() const {
    try {
      request_.verify(part_.name());
      return "";
    } catch (const IoError& error) {
      return error.what();
    }
  }

  [[noreturn]] void throw_failures() const {
    detail::throw_error<IoError>(
        "cannot download ", request_.path, ": ", failures_,
        "; check the network and, behind a proxy, the variable https_proxy",
        part_.size() == 0 ? std::string()
                          : "; the downloaded part is kept in " + part_.name() +
                                "; the next download resumes from it");
  }

  const Download& request_;
  Curl curl_;
  PartFile part_;
  std::string failures_;
};

}  // namespace

bool has_download() { return true; }

void download(const Download& request) { Downloader(request).run(); }

}  // namespace radir::data
