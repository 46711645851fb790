#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "radir/collective/store.h"

// Messages between the store of a job and its clients, over TCP.

namespace radir::collective {

using Deadline = std::chrono::steady_clock::time_point;

/// An open socket; closed at the end.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;

  int get() const { return descriptor_; }
  /// Whether bytes, a connection or the end arrive within this time.
  bool waits_for_bytes(Milliseconds time) const;

 private:
  int descriptor_;
};

/// Listens on this address alone. Throws ArgumentError for a host that is not
/// known, IoError when it cannot be used.
Socket listen_on(const std::string& host, int port);
int port_of(const Socket& socket);
/// Throws ConnectionError.
Socket connect_to(const std::string& host, int port, Deadline deadline);

/// What goes over a connection, in both directions.
struct Message {
  std::uint8_t kind = 0;
  std::int64_t number = 0;
  std::string key;
  std::string value;
  std::string second;
  bool has_second = false;
};

/// A message to send, whose parts stay where they are.
struct MessageView {
  MessageView() = default;
  MessageView(const Message& message)  // NOLINT(google-explicit-constructor)
      : kind(message.kind),
        number(message.number),
        key(message.key),
        value(message.value),
        second(message.second),
        has_second(message.has_second) {}

  std::uint8_t kind = 0;
  std::int64_t number = 0;
  std::string_view key;
  std::string_view value;
  std::string_view second;
  bool has_second = false;
};

/// Sends and receives messages. Throws ConnectionError when the other side is
/// gone, sends nonsense or takes longer than the deadline.
class Connection {
 public:
  explicit Connection(Socket socket);

  void send(const MessageView& message, Deadline deadline);
  /// A message of which no part is longer than `most` bytes. Memory grows with
  /// what arrives, not with what is announced.
  Message receive(Deadline deadline, std::size_t most = kMostValueBytes);
  bool waits_for_bytes(Milliseconds time) const {
    return socket_.waits_for_bytes(time);
  }
  /// Whether the other side has closed the connection.
  bool is_closed() const;

 private:
  void send_bytes(std::string_view bytes, bool more, Deadline deadline);
  void receive_bytes(char* bytes, std::size_t count, Deadline deadline);
  std::string receive_text(std::size_t count, Deadline deadline);

  Socket socket_;
};

/// The two sides of the handshake: each proves that it knows the token. The
/// first returns false for a client that does not, after telling it.
bool greet_client(Connection& connection, const std::string& token,
                  Deadline deadline);
/// Throws ArgumentError when the server has another token or version.
void greet_server(Connection& connection, const std::string& token,
                  const std::string& where, Deadline deadline);

/// Random bytes as hexadecimal digits.
std::string random_hex(std::size_t bytes);
/// HMAC-SHA256 (RFC 2104), as 64 hexadecimal digits.
std::string hmac_sha256(const std::string& key, const std::string& text);

}  // namespace radir::collective
