#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace radir::testing {

struct HttpRequest {
  std::string path;
  std::string range;  ///< value of the header Range, such as "bytes=7-"
};

struct HttpResponse {
  int status = 200;
  std::vector<std::string> headers = {};  ///< such as "Location: /there"
  std::string body = {};
  /// The length that is announced, if it is not that of the body.
  std::size_t claimed_length = std::string::npos;
  /// Before each byte of the body; 0 sends it at once.
  std::chrono::milliseconds pause = std::chrono::milliseconds(0);
};

/// Answers as a good server does that has `file`: all of it, the rest from
/// where it is asked for, or 416 when there is no rest.
HttpResponse serve(const HttpRequest& request, const std::string& file);

/// A server on this machine, for tests of how downloads fail. It answers one
/// request after the other, each on a connection of its own, and is reached
/// past any proxy.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:PORT" and the path.
  std::string url(const std::string& path) const;
  /// What it was asked so far.
  std::vector<HttpRequest> requests() const;

 private:
  void run();
  void answer(int connection);

  Handler handler_;
  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

}  // namespace radir::testing
