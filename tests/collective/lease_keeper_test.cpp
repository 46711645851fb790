#include "radir/collective/lease_keeper.h"

#include <gtest/gtest.h>

#include <thread>

#include "radir/collective/store_server.h"
#include "support/expect_error.h"

namespace radir::collective {
namespace {

using std::chrono::seconds;

constexpr Milliseconds kTime{100};

class Leases : public ::testing::Test {
 protected:
  Leases() {
    address_.token = random_token();
    server_.emplace(address_);
    address_.port = server_->port();
  }
  std::unique_ptr<Store> connect() const {
    return connect_store(address_, seconds(5));
  }

  StoreAddress address_;
  std::optional<StoreServer> server_;
};

TEST_F(Leases, AreKeptUntilTheyAreGivenBack) {
  LeaseKeeper keeper(connect(), "a", kTime);
  const auto other = connect();
  ASSERT_TRUE(keeper.take("task"));
  std::this_thread::sleep_for(4 * kTime);
  EXPECT_FALSE(other->lease("task", "b", kTime));
  EXPECT_FALSE(keeper.has_lost("task"));
  keeper.give_back("task");
  EXPECT_TRUE(other->lease("task", "b", seconds(60)));
  EXPECT_FALSE(keeper.take("task"));
}

TEST_F(Leases, EndWithTheirKeeper) {
  {
    LeaseKeeper keeper(connect(), "a", seconds(60));
    ASSERT_TRUE(keeper.take("task"));
  }
  EXPECT_TRUE(connect()->lease("task", "b", kTime));
}

TEST_F(Leases, AreLostWithoutTheStore) {
  LeaseKeeper keeper(connect(), "a", kTime);
  ASSERT_TRUE(keeper.take("task"));
  server_.reset();
  std::this_thread::sleep_for(3 * kTime);
  EXPECT_TRUE(keeper.has_lost("task"));
  EXPECT_TRUE(keeper.has_lost("task-part-1"));
  EXPECT_FALSE(keeper.has_lost("task2"));
}

TEST_F(Leases, AreLostToWhoeverHasThem) {
  LeaseKeeper keeper(connect(), "a", kTime);
  ASSERT_TRUE(keeper.take("task"));
  Store& store = server_->store();
  store.end_lease("task", "a");
  ASSERT_TRUE(store.lease("task", "b", seconds(60)));
  std::this_thread::sleep_for(2 * kTime);
  EXPECT_TRUE(keeper.has_lost("task"));
  keeper.give_back("task");
  EXPECT_FALSE(keeper.has_lost("task"));
  EXPECT_FALSE(store.lease("task", "c", kTime));  // it is still b's
}

}  // namespace
}  // namespace radir::collective
