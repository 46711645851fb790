#pragma once

#include <memory>
#include <string>

#include "radir/collective/store.h"

namespace radir::collective {

/// Where the store of a job is.
struct StoreAddress {
  std::string host = "127.0.0.1";  ///< a name or an address
  int port = 0;                    ///< of a server, 0: any that is free
  /// The secret of the job, at least kLeastTokenBytes long. Both sides prove
  /// that they know it; it is not sent.
  std::string token;
};

constexpr std::size_t kLeastTokenBytes = 16;

/// A token that nobody can guess.
std::string random_token();

/// The store of a job, served to its other processes by threads of this one.
/// Only connections to the given address are accepted, not to all addresses of
/// the machine.
class StoreServer {
 public:
  /// Throws ArgumentError for an invalid address, IoError when it cannot be
  /// used, such as when another program has the port.
  explicit StoreServer(const StoreAddress& address);
  /// Ends all connections.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  int port() const;
  /// The same keys and values, without a connection.
  Store& store();
  /// Connections of clients that are open.
  int clients() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Connects to the store of a job; tries for `timeout`, because it may not have
/// been started yet. Throws ConnectionError when there is none, ArgumentError
/// when it belongs to another job or version.
std::unique_ptr<Store> connect_store(const StoreAddress& address,
                                     Milliseconds timeout);

}  // namespace radir::collective
