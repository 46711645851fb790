#include "collective/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace radir::collective {
namespace {

using Clock = std::chrono::steady_clock;

/// A text is received in chunks of at most this size.
constexpr std::size_t kChunk = std::size_t{1} << 22;
/// Texts of up to this size are copied into one packet.
constexpr std::size_t kSmall = std::size_t{1} << 12;
/// A peer that acknowledges nothing for so long is gone.
constexpr int kSilentSeconds = 30;

struct AddressList {
  addrinfo* first = nullptr;
  ~AddressList() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
};

/// Returns the error of the name service, 0 if there is none.
int resolve(const std::string& host, int port, AddressList& list) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  return ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints,
                       &list.first);
}

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// Small messages go at once; a cut connection is noticed without traffic.
void tune(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kSilentSeconds / 3);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kSilentSeconds / 3);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 2);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * kSilentSeconds);
}

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Waits for POLLIN or POLLOUT; false at the deadline.
bool wait_for(int socket, short events, Deadline deadline) {
  pollfd wanted = {socket, events, 0};
  for (;;) {
    const int ready = ::poll(&wanted, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the next call says what is wrong
  }
}

[[noreturn]] void throw_lost(const std::string& why) {
  throw ConnectionError("the connection was lost: " + why);
}

/// Sizes of a message's parts, as they are sent: little-endian.
struct Header {
  std::uint8_t kind;
  std::uint8_t has_second;
  std::uint16_t key;
  std::uint32_t unused;
  std::int64_t number;
  std::uint64_t value;
  std::uint64_t second;
};
static_assert(sizeof(Header) == 32, "no padding");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the header is sent as it is in memory");

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

bool Socket::waits_for_bytes(Milliseconds time) const {
  return wait_for(descriptor_, POLLIN, Clock::now() + time);
}

Socket listen_on(const std::string& host, int port) {
  AddressList list;
  const int unknown = resolve(host, port, list);
  RADIR_CHECK(unknown == 0, ArgumentError, "store: the address \"", host,
              "\" is not known (", ::gai_strerror(unknown),
              "); give a name or an address of this machine");
  Socket result(::socket(list.first->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto usable = [&](int status) {
    const int error = errno;
    RADIR_CHECK(status == 0, IoError, "store: cannot listen on ", host, ":",
                port, ": ", std::strerror(error),
                error == EADDRINUSE
                    ? "; another job or program uses this port, choose another"
                    : "; give an address of this machine");
  };
  usable(result.get() < 0 ? -1 : 0);
  // A job may follow another at once; two at a time are refused all the same.
  set_option(result.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  usable(::bind(result.get(), list.first->ai_addr, list.first->ai_addrlen));
  usable(::listen(result.get(), SOMAXCONN));
  return result;
}

int port_of(const Socket& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const in_port_t port =
      address.ss_family == AF_INET6
          ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
          : reinterpret_cast<const sockaddr_in*>(&address)->sin_port;
  return ntohs(port);
}

Socket connect_to(const std::string& host, int port, Deadline deadline) {
  AddressList list;
  const int unknown = resolve(host, port, list);
  RADIR_CHECK(unknown == 0, collective::ConnectionError, "the address \"", host,
              "\" is not known (", ::gai_strerror(unknown), ")");
  int error = 0;
  for (const addrinfo* one = list.first; one != nullptr; one = one->ai_next) {
    Socket result(::socket(one->ai_family,
                           SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(result.get(), one->ai_addr, one->ai_addrlen) != 0) {
      error = errno;
      if (error != EINPROGRESS) continue;
      error = ETIMEDOUT;
      if (!wait_for(result.get(), POLLOUT, deadline)) continue;
      socklen_t size = sizeof error;
      ::getsockopt(result.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) continue;
    }
    return result;
  }
  throw ConnectionError(std::strerror(error));
}

Connection::Connection(Socket socket) : socket_(std::move(socket)) {
  tune(socket_.get());
}

/// With `more`, the rest of the message follows at once.
void Connection::send_bytes(std::string_view bytes, bool more,
                            Deadline deadline) {
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), flags);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_.get(), POLLOUT, deadline)) {
        throw_lost("nothing was taken in time");
      }
    } else if (errno != EINTR) {
      throw_lost(std::strerror(errno));
    }
  }
}

void Connection::receive_bytes(char* bytes, std::size_t count,
                               Deadline deadline) {
  while (count > 0) {
    const ssize_t got = ::recv(socket_.get(), bytes, count, MSG_DONTWAIT);
    if (got > 0) {
      bytes += got;
      count -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      throw_lost("the other side closed it");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_.get(), POLLIN, deadline)) {
        throw_lost("no answer came in time");
      }
    } else if (errno != EINTR) {
      throw_lost(std::strerror(errno));
    }
  }
}

std::string Connection::receive_text(std::size_t count, Deadline deadline) {
  std::string text;
  while (text.size() < count) {
    const std::size_t before = text.size();
    const std::size_t chunk = std::min(kChunk, count - before);
    text.resize(before + chunk);
    receive_bytes(text.data() + before, chunk, deadline);
  }
  return text;
}

void Connection::send(const MessageView& message, Deadline deadline) {
  const Header header = {message.kind,
                         message.has_second,
                         static_cast<std::uint16_t>(message.key.size()),
                         0,
                         message.number,
                         message.value.size(),
                         message.second.size()};
  // Small messages in one packet.
  std::string start(reinterpret_cast<const char*>(&header), sizeof header);
  start += message.key;
  const bool small = message.value.size() + message.second.size() < kSmall;
  if (small) start.append(message.value).append(message.second);
  send_bytes(start, !small, deadline);
  if (small) return;
  send_bytes(message.value, !message.second.empty(), deadline);
  send_bytes(message.second, false, deadline);
}

Message Connection::receive(Deadline deadline, std::size_t most) {
  std::array<char, sizeof(Header)> bytes;
  receive_bytes(bytes.data(), bytes.size(), deadline);
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.key > std::min(most, kMostKeyBytes) || header.value > most ||
      header.second > most || header.has_second > 1 || header.unused != 0) {
    throw_lost("the other side is not a radir of this version");
  }
  Message message;
  message.kind = header.kind;
  message.number = header.number;
  message.has_second = header.has_second == 1;
  message.key = receive_text(header.key, deadline);
  message.value = receive_text(header.value, deadline);
  message.second = receive_text(header.second, deadline);
  return message;
}

bool Connection::is_closed() const {
  char byte = 0;
  const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 ||
         (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace radir::collective
