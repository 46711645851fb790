#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace radir::testing {
namespace {

constexpr const char* kEndOfHead = "\r\n\r\n";

std::string read_head(int connection) {
  std::string head;
  char block[4096];
  while (head.find(kEndOfHead) == std::string::npos) {
    const ssize_t count = ::recv(connection, block, sizeof block, 0);
    if (count <= 0) return "";
    head.append(block, static_cast<std::size_t>(count));
  }
  return head;
}

std::string header(const std::string& head, const std::string& name) {
  const std::string key = "\r\n" + name + ": ";
  const std::size_t found = head.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

std::string to_head(const HttpResponse& response) {
  const std::size_t length = response.claimed_length == std::string::npos
                                 ? response.body.size()
                                 : response.claimed_length;
  std::string text = "HTTP/1.1 " + std::to_string(response.status) +
                     " Status\r\nConnection: close\r\nContent-Length: " +
                     std::to_string(length);
  for (const std::string& line : response.headers) text += "\r\n" + line;
  return text + kEndOfHead;
}

/// Whether all of it was sent.
bool send_all(int connection, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = ::send(connection, text.data() + sent,
                                 text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

void send(int connection, const HttpResponse& response) {
  if (response.pause.count() == 0) {
    send_all(connection, to_head(response) + response.body);
    return;
  }
  if (!send_all(connection, to_head(response))) return;
  for (const char byte : response.body) {
    std::this_thread::sleep_for(response.pause);
    if (!send_all(connection, std::string(1, byte))) return;
  }
}

}  // namespace

HttpResponse serve(const HttpRequest& request, const std::string& file) {
  if (request.range.empty()) return {200, {}, file};
  const std::size_t first = std::stoul(request.range.substr(6));  // "bytes="
  const std::string size = std::to_string(file.size());
  if (first >= file.size())
    return {416, {"Content-Range: bytes */" + size}, ""};
  return {206,
          {"Content-Range: bytes " + std::to_string(first) + "-" +
           std::to_string(file.size() - 1) + "/" + size},
          file.substr(first)};
}

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || ::bind(socket_, any, size) != 0 ||
      ::listen(socket_, 16) != 0 || ::getsockname(socket_, any, &size) != 0) {
    throw std::runtime_error("cannot start a server on this machine");
  }
  port_ = ntohs(address.sin_port);
  ::setenv("no_proxy", "127.0.0.1", 1);
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  ::shutdown(socket_, SHUT_RDWR);
  thread_.join();
  ::close(socket_);
}

std::string HttpServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void HttpServer::run() {
  for (;;) {
    const int connection = ::accept(socket_, nullptr, nullptr);
    if (connection < 0) return;
    answer(connection);
    ::close(connection);
  }
}

void HttpServer::answer(int connection) {
  const std::string head = read_head(connection);
  const std::size_t begin = head.find(' ');
  if (begin == std::string::npos) return;
  const HttpRequest request = {
      head.substr(begin + 1, head.find(' ', begin + 1) - begin - 1),
      header(head, "Range")};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
  }
  send(connection, handler_(request));
}

}  // namespace radir::testing
