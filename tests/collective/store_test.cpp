#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "radir/collective/store_server.h"
#include "support/expect_error.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;
using std::chrono::seconds;

constexpr Milliseconds kSoon{200};

/// The same functions in this process and over a connection.
class StoreContract : public ::testing::TestWithParam<bool> {
 protected:
  StoreContract() {
    address_.token = random_token();
    server_.emplace(address_);
    address_.port = server_->port();
    store_ = GetParam() ? connect_store(address_, seconds(5)) : local_store();
  }

  StoreAddress address_;
  std::optional<StoreServer> server_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(LocalAndRemote, StoreContract, ::testing::Bool());

TEST_P(StoreContract, KeepsValues) {
  EXPECT_EQ(store_->get("a"), std::nullopt);
  store_->set("a", "1");
  store_->set("empty", "");
  EXPECT_EQ(store_->get("a"), "1");
  EXPECT_EQ(store_->get("empty"), "");
  store_->erase("a");
  EXPECT_EQ(store_->get("a"), std::nullopt);
  const std::string large(3 << 20, 'x');
  store_->set("large", large);
  EXPECT_EQ(store_->get("large"), large);
}

TEST_P(StoreContract, ErasesARange) {
  for (const char* key : {"a/1", "a/2", "a/3", "b"}) store_->set(key, "x");
  store_->erase_range("a/", "a/3");
  EXPECT_EQ(store_->get("a/1"), std::nullopt);
  EXPECT_EQ(store_->get("a/2"), std::nullopt);
  EXPECT_EQ(store_->get("a/3"), "x");
  store_->erase_range("b", "a");  // empty
  EXPECT_EQ(store_->get("b"), "x");
}

TEST_P(StoreContract, SetsOnlyWhatIsExpected) {
  EXPECT_FALSE(store_->compare_and_set("a", "0", "1"));
  EXPECT_TRUE(store_->compare_and_set("a", std::nullopt, "1"));
  EXPECT_FALSE(store_->compare_and_set("a", std::nullopt, "2"));
  EXPECT_FALSE(store_->compare_and_set("a", "0", "2"));
  EXPECT_TRUE(store_->compare_and_set("a", "1", "2"));
  EXPECT_EQ(store_->get("a"), "2");
}

TEST_P(StoreContract, Counts) {
  EXPECT_EQ(store_->add("n", 5), 5);
  EXPECT_EQ(store_->add("n", -7), -2);
  store_->set("text", "x");
  expect_error<ArgumentError>([&] { store_->add("text", 1); },
                              "the value of text is not a number");
}

TEST_P(StoreContract, AWaitEndsWithTheValueOrTheTime) {
  EXPECT_EQ(store_->wait("late", Milliseconds(20)), nullptr);
  store_->set("there", "1");
  const SharedText value = store_->wait("there", seconds(5));
  ASSERT_NE(value, nullptr);
  store_->set("there", "2");
  EXPECT_EQ(*value, "1");  // as it was
}

TEST_P(StoreContract, LargeValuesArriveUnchanged) {
  std::string large;
  for (int i = 0; large.size() < 9'000'000; ++i) large += std::to_string(i);
  store_->set("large", large);
  const SharedText value = store_->wait("large", seconds(5));
  ASSERT_NE(value, nullptr);
  EXPECT_TRUE(*value == large);
  const std::string larger = large + large;
  EXPECT_FALSE(store_->compare_and_set("large", larger, large));
  EXPECT_TRUE(store_->compare_and_set("large", large, larger));
  EXPECT_TRUE(store_->get("large") == larger);
}

TEST_P(StoreContract, ALeaseHasOneOwnerUntilItEnds) {
  EXPECT_TRUE(store_->lease("task", "a", kSoon));
  EXPECT_FALSE(store_->lease("task", "b", kSoon));
  EXPECT_TRUE(store_->lease("task", "a", Milliseconds(1)));  // renewed
  std::this_thread::sleep_for(Milliseconds(5));
  EXPECT_TRUE(store_->lease("task", "b", seconds(60)));
  store_->end_lease("task", "a");  // not its own
  EXPECT_FALSE(store_->lease("task", "a", kSoon));
  store_->end_lease("task", "b");
  EXPECT_TRUE(store_->lease("task", "a", kSoon));
}

TEST_P(StoreContract, RefusesWhatIsTooLarge) {
  expect_error<ArgumentError>([&] { store_->set("", "1"); },
                              "a key must have 1 to 1024 bytes, but has 0");
  expect_error<ArgumentError>(
      [&] { store_->set(std::string(kMostKeyBytes + 1, 'k'), "1"); },
      "a key must have 1 to 1024 bytes, but has 1025");
}

class ServedStore : public ::testing::Test {
 protected:
  ServedStore()
      : server_([&] {
          address_.token = random_token();
          return address_;
        }()) {
    address_.port = server_.port();
  }

  /// A socket that is connected but proves nothing.
  int raw_connection() const {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(address_.port));
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(
        ::connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return descriptor;
  }

  StoreAddress address_;
  StoreServer server_;
};

TEST_F(ServedStore, IsTheSameForAll) {
  const auto first = connect_store(address_, seconds(5));
  const auto second = connect_store(address_, seconds(5));
  SharedText seen;
  std::thread waiting([&] { seen = second->wait("key", seconds(30)); });
  first->set("key", "value");
  waiting.join();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen, "value");
  EXPECT_EQ(server_.store().get("key"), "value");
  EXPECT_EQ(server_.clients(), 2);
}

TEST_F(ServedStore, AddsUpWhatManyAddAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto store = connect_store(address_, seconds(5));
      for (int j = 0; j < kTimes; ++j) store->add("n", 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_.store().get("n"), std::to_string(kThreads * kTimes));
}

TEST_F(ServedStore, KeepsOutWhoeverHasAnotherToken) {
  StoreAddress other = address_;
  other.token = random_token();
  expect_error<ArgumentError>([&] { connect_store(other, seconds(5)); },
                              "belongs to another job: it has another token");
  EXPECT_EQ(server_.clients(), 0);
}

TEST_F(ServedStore, SurvivesNonsense) {
  const int noise = raw_connection();
  const std::string bytes(100, '\xff');  // sizes of 2^64 bytes
  EXPECT_GT(::send(noise, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  char answer[1024];
  while (::recv(noise, answer, sizeof answer, 0) > 0) {  // until it is closed
  }
  ::close(noise);
  const int silent = raw_connection();
  const auto store = connect_store(address_, seconds(5));
  store->set("key", "value");
  EXPECT_EQ(store->get("key"), "value");
  ::close(silent);
}

TEST_F(ServedStore, ListensOnItsAddressAlone) {
  // 127.0.0.2 is this machine too, but not the address that was given.
  StoreAddress elsewhere = address_;
  elsewhere.host = "127.0.0.2";
  expect_error<ConnectionError>(
      [&] { connect_store(elsewhere, Milliseconds(100)); },
      "there is no store of a job at 127.0.0.2:");
}

TEST_F(ServedStore, APortHasOneStore) {
  expect_error<IoError>([&] { const StoreServer second(address_); },
                        "another job or program uses this port");
}

TEST(Store, RefusesAddressesAndTokensThatCannotBe) {
  StoreAddress address;
  expect_error<ArgumentError>([&] { const StoreServer server(address); },
                              "the token of a job must have at least 16");
  address.token = random_token();
  address.host = "not a host";
  expect_error<ArgumentError>([&] { const StoreServer server(address); },
                              "the address \"not a host\" is not known");
}

TEST(Store, AClientIsToldWhenTheServerIsGone) {
  StoreAddress address;
  address.token = random_token();
  std::optional<StoreServer> server(std::in_place, address);
  address.port = server->port();
  const auto store = connect_store(address, seconds(5));
  server.reset();
  expect_error<ConnectionError>([&] { store->set("a", "1"); }, "is gone");
  expect_error<ConnectionError>([&] { store->get("a"); }, "is gone");
}

}  // namespace
}  // namespace radir::collective
