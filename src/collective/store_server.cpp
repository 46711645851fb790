#include "radir/collective/store_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include "collective/connection.h"
#include "collective/memory_store.h"
#include "collective/requests.h"
#include "collective/started_thread.h"

namespace radir::collective {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostClients = 1024;
/// For a client to prove itself, and to take an answer.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::seconds kAnswerPatience{60};
/// No request of a client waits longer.
constexpr std::chrono::hours kLongestWait{1};
constexpr Milliseconds kSlice{100};

Milliseconds bounded(std::int64_t milliseconds) {
  const auto most = std::chrono::duration_cast<Milliseconds>(kLongestWait);
  return std::clamp(Milliseconds(milliseconds), Milliseconds(0), most);
}

struct Reply {
  Answer answer = Answer::Done;
  SharedText value;

  /// Of `value`, which must stay.
  MessageView message() const {
    MessageView view;
    view.kind = static_cast<std::uint8_t>(answer);
    if (value != nullptr) view.value = *value;
    return view;
  }
};

Reply found(SharedText value) {
  return {value == nullptr ? Answer::No : Answer::Done, std::move(value)};
}

Reply done(bool is_done = true) {
  return {is_done ? Answer::Done : Answer::No, nullptr};
}

}  // namespace

class StoreServer::Impl {
 public:
  explicit Impl(const StoreAddress& address)
      : token_(address.token), socket_(listen_on(address.host, address.port)) {
    RADIR_CHECK(token_.size() >= kLeastTokenBytes, ArgumentError,
                "store: the token of a job must have at least ",
                kLeastTokenBytes, " characters, but has ", token_.size(),
                "; make one with: openssl rand -hex 16");
    acceptor_ =
        started_thread("the store of the job", [this] { accept_clients(); });
  }

  ~Impl() {
    ending_ = true;
    acceptor_.join();
    for (Client& client : clients_) client.thread.join();
  }

  int port() const { return port_of(socket_); }
  MemoryStore& store() { return store_; }
  int clients() const { return served_; }

 private:
  struct Client {
    std::thread thread;
    std::atomic<bool> ended{false};
  };

  void accept_clients() {
    while (!ending_) {
      join_ended();
      if (!socket_.waits_for_bytes(kSlice)) continue;
      const int descriptor =
          ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) {
        // Out of descriptors, say: the client still waits, and would be seen
        // again at once.
        std::this_thread::sleep_for(kSlice);
        continue;
      }
      Socket accepted(descriptor);
      if (clients_.size() >= kMostClients) continue;  // closes it
      begin(std::move(accepted));
    }
  }

  void begin(Socket accepted) {
    Client& client = clients_.emplace_back();
    try {
      client.thread = std::thread(
          [this, &client,
           socket = std::make_shared<Socket>(std::move(accepted))]() mutable {
            serve(std::move(*socket));
            client.ended = true;
          });
    } catch (const std::system_error&) {
      clients_.pop_back();  // no thread for it: the client is told by the close
    }
  }

  void join_ended() {
    clients_.remove_if([](Client& client) {
      if (!client.ended) return false;
      client.thread.join();
      return true;
    });
  }

  /// Nothing that a client sends may end the server.
  void serve(Socket socket) {
    try {
      Connection connection(std::move(socket));
      if (!greet_client(connection, token_, Clock::now() + kPatience)) return;
      const Counted counted(served_);
      while (!ending_) {
        if (!connection.waits_for_bytes(kSlice)) continue;
        const Reply reply = answer(
            connection.receive(Clock::now() + kAnswerPatience), connection);
        connection.send(reply.message(), Clock::now() + kAnswerPatience);
      }
    } catch (const std::exception&) {
      // The client is gone or sends nonsense: its connection is closed.
    }
  }

  Reply answer(Message request, const Connection& connection) {
    try {
      check_limits(request.key, request.value.size());
      return answer_valid(request, connection);
    } catch (const ArgumentError& error) {
      return {Answer::Refused,
              std::make_shared<const std::string>(error.what())};
    }
  }

  Reply answer_valid(Message& request, const Connection& connection) {
    const auto value = [&] {
      return std::make_shared<const std::string>(std::move(request.value));
    };
    switch (static_cast<Request>(request.kind)) {
      case Request::Set:
        store_.set(request.key, value());
        return done();
      case Request::Get:
        return found(store_.find(request.key));
      case Request::Wait:
        return found(store_.wait(request.key, bounded(request.number), [&] {
          return !ending_ && !connection.is_closed();
        }));
      case Request::Erase:
        store_.erase(request.key);
        return done();
      case Request::CompareAndSet:
        return done(store_.compare_and_set(
            request.key,
            request.has_second ? std::optional(request.second) : std::nullopt,
            value()));
      case Request::Add:
        return found(std::make_shared<const std::string>(
            std::to_string(store_.add(request.key, request.number))));
      case Request::Lease:
        return done(
            store_.lease(request.key, request.value, bounded(request.number)));
      case Request::EndLease:
        store_.end_lease(request.key, request.value);
        return done();
      case Request::EraseRange:
        store_.erase_range(request.key, request.value);
        return done();
    }
    throw ArgumentError("store: unknown request");
  }

  /// Counts a client while it is served.
  struct Counted {
    explicit Counted(std::atomic<int>& count) : number(count) { ++number; }
    ~Counted() { --number; }
    std::atomic<int>& number;
  };

  std::string token_;
  Socket socket_;
  MemoryStore store_;
  std::atomic<bool> ending_{false};
  std::atomic<int> served_{0};
  std::list<Client> clients_;  // of the acceptor's thread
  std::thread acceptor_;
};

StoreServer::StoreServer(const StoreAddress& address)
    : impl_(std::make_unique<Impl>(address)) {}
StoreServer::~StoreServer() = default;
int StoreServer::port() const { return impl_->port(); }
Store& StoreServer::store() { return impl_->store(); }
int StoreServer::clients() const { return impl_->clients(); }

}  // namespace radir::collective
