#include <sys/random.h>

#include <cerrno>

#include "collective/connection.h"
#include "radir/collective/store_server.h"
#include "radir/files/sha256.h"

namespace radir::collective {
namespace {

/// Changes when the messages do.
constexpr const char* kProtocol = "radir store 2";
/// No part of a handshake is longer.
constexpr std::size_t kMostHandshakeBytes = 256;
constexpr std::size_t kNonceBytes = 32;

enum Greeting : std::uint8_t { Welcome = 1, OtherToken = 2, OtherProtocol = 3 };

std::string bytes_of_hex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(16 * digit(hex[i]) + digit(hex[i + 1]));
  }
  return bytes;
}

/// In a time that does not depend on where they differ.
bool equal(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::string proof(const std::string& token, const char* side,
                  const std::string& server_nonce,
                  const std::string& client_nonce) {
  return hmac_sha256(token, std::string(kProtocol) + " " + side + " " +
                                server_nonce + " " + client_nonce);
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::string random(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::getrandom(random.data() + done, bytes - done, 0);
    if (got > 0) done += static_cast<std::size_t>(got);
    RADIR_CHECK(got > 0 || errno == EINTR, IoError,
                "the system gives no random numbers");
  }
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : random) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte / 16];
    hex += kDigits[byte % 16];
  }
  return hex;
}

std::string hmac_sha256(const std::string& key, const std::string& text) {
  constexpr std::size_t kBlock = 64;
  std::string block =
      key.size() > kBlock ? bytes_of_hex(files::sha256(key)) : key;
  block.resize(kBlock, '\0');
  std::string inner = block;
  std::string outer = block;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return files::sha256(outer + bytes_of_hex(files::sha256(inner + text)));
}

std::string random_token() { return random_hex(kLeastTokenBytes); }

// The server speaks first, so that a client soon knows whom it has reached.
bool greet_client(Connection& connection, const std::string& token,
                  Deadline deadline) {
  const std::string own = random_hex(kNonceBytes);
  Message hello;
  hello.key = kProtocol;
  hello.value = own;
  connection.send(hello, deadline);
  const Message reply = connection.receive(deadline, kMostHandshakeBytes);
  Message answer;
  if (reply.key != kProtocol) {
    answer.kind = OtherProtocol;
  } else if (!equal(reply.second, proof(token, "client", own, reply.value))) {
    answer.kind = OtherToken;
  } else {
    answer.kind = Welcome;
    answer.value = proof(token, "server", own, reply.value);
  }
  connection.send(answer, deadline);
  return answer.kind == Welcome;
}

void greet_server(Connection& connection, const std::string& token,
                  const std::string& where, Deadline deadline) {
  const Message hello = connection.receive(deadline, kMostHandshakeBytes);
  RADIR_CHECK(hello.key == kProtocol, ArgumentError, where,
              " is the store of another version of radir; start all workers ",
              "with the same program");
  Message reply;
  reply.key = kProtocol;
  reply.value = random_hex(kNonceBytes);
  reply.second = proof(token, "client", hello.value, reply.value);
  connection.send(reply, deadline);
  const Message answer = connection.receive(deadline, kMostHandshakeBytes);
  RADIR_CHECK(
      answer.kind == Welcome &&
          equal(answer.value, proof(token, "server", hello.value, reply.value)),
      ArgumentError, where, " belongs to another job: it has another ",
      "token; give all workers of a job the same RADIR_JOB_TOKEN, and ",
      "each job a port of its own");
}

}  // namespace radir::collective
