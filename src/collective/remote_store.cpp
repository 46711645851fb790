#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "collective/connection.h"
#include "collective/memory_store.h"
#include "collective/requests.h"
#include "radir/collective/store.h"
#include "radir/collective/store_server.h"

namespace radir::collective {
namespace {

using Clock = std::chrono::steady_clock;

/// For an answer, besides the time that the request itself may take: as long as
/// workers wait for each other, within these limits.
constexpr Milliseconds kLeastPatience = std::chrono::seconds(5);
constexpr Milliseconds kMostPatience = std::chrono::seconds(60);
constexpr Milliseconds kRetry{50};

/// A store in another process.
class RemoteStore : public Store {
 public:
  RemoteStore(Connection connection, std::string where, Milliseconds patience)
      : connection_(std::move(connection)),
        where_(std::move(where)),
        patience_(std::clamp(patience, kLeastPatience, kMostPatience)) {}

  void set(const std::string& key, std::string_view value) override {
    ask(Request::Set, key, value);
  }
  std::optional<std::string> get(const std::string& key) override {
    return ask(Request::Get, key);
  }
  SharedText wait(const std::string& key, Milliseconds timeout) override {
    auto value =
        ask(Request::Wait, key, "", timeout.count(), std::nullopt, timeout);
    if (!value) return nullptr;
    return std::make_shared<const std::string>(std::move(*value));
  }
  void erase(const std::string& key) override { ask(Request::Erase, key); }
  void erase_range(const std::string& from, const std::string& to) override {
    ask(Request::EraseRange, from, to);
  }
  bool compare_and_set(const std::string& key,
                       const std::optional<std::string>& expected,
                       std::string_view value) override {
    return ask(Request::CompareAndSet, key, value, 0, expected).has_value();
  }
  std::int64_t add(const std::string& key, std::int64_t number) override {
    return std::stoll(ask(Request::Add, key, "", number).value_or("0"));
  }
  bool lease(const std::string& name, const std::string& owner,
             Milliseconds time) override {
    return ask(Request::Lease, name, owner, time.count()).has_value();
  }
  void end_lease(const std::string& name, const std::string& owner) override {
    ask(Request::EndLease, name, owner);
  }

 private:
  std::optional<std::string> ask(
      Request request, const std::string& key, std::string_view value = "",
      std::int64_t number = 0,
      const std::optional<std::string>& second = std::nullopt,
      Milliseconds longer = Milliseconds(0)) {
    check_limits(key, value.size());
    MessageView message;
    message.kind = static_cast<std::uint8_t>(request);
    message.number = number;
    message.key = key;
    message.value = value;
    message.has_second = second.has_value();
    if (second) message.second = *second;
    const std::lock_guard<std::mutex> lock(mutex_);
    Message answer = exchange(message, longer);
    RADIR_CHECK(answer.kind != static_cast<std::uint8_t>(Answer::Refused),
                ArgumentError, answer.value);
    if (answer.kind == static_cast<std::uint8_t>(Answer::No)) {
      return std::nullopt;
    }
    return std::move(answer.value);
  }

  /// After a failure nobody knows what the next bytes belong to.
  Message exchange(const MessageView& message, Milliseconds longer) {
    RADIR_CHECK(!lost_, collective::ConnectionError, "the store of the job at ",
                where_, " is gone");
    try {
      connection_.send(message, Clock::now() + patience_);
      return connection_.receive(Clock::now() + longer + patience_);
    } catch (const ConnectionError& error) {
      lost_ = true;
      detail::throw_error<ConnectionError>(
          "the store of the job at ", where_, " is gone: ", error.what(),
          "; see why the process that had it ended, and start the job again");
    }
  }

  std::mutex mutex_;
  Connection connection_;
  std::string where_;
  Milliseconds patience_;
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<Store> connect_store(const StoreAddress& address,
                                     Milliseconds timeout) {
  const std::string where = address.host + ":" + std::to_string(address.port);
  const Deadline deadline = Clock::now() + timeout;
  for (;;) {
    std::string why;
    try {
      Connection connection(connect_to(address.host, address.port, deadline));
      greet_server(connection, address.token, "the store at " + where,
                   std::max(deadline, Clock::now() + kRetry));
      return std::make_unique<RemoteStore>(std::move(connection), where,
                                           timeout);
    } catch (const ConnectionError& error) {
      why = error.what();
    }
    RADIR_CHECK(Clock::now() + kRetry < deadline, collective::ConnectionError,
                "there is no store of a job at ", where, " (", why,
                "); check MASTER_ADDR and MASTER_PORT, and that the worker ",
                "with RANK=0 runs");
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace radir::collective
