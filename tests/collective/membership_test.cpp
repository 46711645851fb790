#include "radir/collective/membership.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "support/expect_error.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;

/// A job whose workers are objects of this process.
class MembershipTest : public ::testing::Test {
 protected:
  MembershipTest() {
    settings_.size = 3;
    settings_.has_store = true;
    settings_.timeout = Milliseconds(5000);
    settings_.lease = std::chrono::seconds(30);
    settings_.address.token = random_token();
    server_ = std::make_unique<StoreServer>(settings_.address);
    settings_.address.port = server_->port();
  }

  std::unique_ptr<Job> worker(int rank) {
    JobSettings settings = settings_;
    settings.rank = rank;
    return std::make_unique<Job>(settings);
  }

  static std::vector<int> ranks(const Membership& members) {
    std::vector<int> result;
    for (const Member& member : members.members()) {
      result.push_back(member.rank);
    }
    return result;
  }

  JobSettings settings_;
  std::unique_ptr<StoreServer> server_;
};

const auto kNothing = [] {};

TEST_F(MembershipTest, TheFirstBeginsAndLetsOthersIn) {
  const auto first = worker(1);
  const auto second = worker(0);
  Membership one(*first);
  EXPECT_FALSE(one.is_in());
  EXPECT_EQ(one.join(kNothing), "");
  EXPECT_TRUE(one.is_in());
  Membership two(*second);
  std::string welcome;
  std::thread joining([&] { welcome = two.join(kNothing); });
  while (one.read() < 2) std::this_thread::yield();
  EXPECT_EQ(ranks(one), std::vector<int>{1});
  const std::vector<Member> added = one.advance(one.read());
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].rank, 0);
  one.welcome(added[0], "step 7\nof all");
  joining.join();
  EXPECT_EQ(welcome, "step 7\nof all");
  EXPECT_TRUE(two.is_in());
  EXPECT_EQ(ranks(one), (std::vector<int>{1, 0}));
  EXPECT_EQ(ranks(two), (std::vector<int>{1, 0}));
}

TEST_F(MembershipTest, WaitsForAllButThoseThatAreLost) {
  settings_.timeout = Milliseconds(500);
  const auto first = worker(0);
  Membership one(*first);
  one.join(kNothing);
  report_lost(server_->store(), 1);
  EXPECT_EQ(one.wait_for_all(kNothing), std::vector<int>{2});
}

TEST_F(MembershipTest, AMemberThatIsGoneIsDropped) {
  const auto first = worker(0);
  auto second = worker(1);
  Membership one(*first);
  one.join(kNothing);
  auto two = std::make_unique<Membership>(*second);
  std::thread joining([&] { two->join(kNothing); });
  while (one.read() < 2) std::this_thread::yield();
  const Member added = one.advance(2).at(0);
  one.welcome(added, "");
  joining.join();
  EXPECT_FALSE(one.is_gone(added));
  // What launch() says of an earlier process of this rank is not about this
  // one.
  server_->store().set("job/lost/1", std::to_string(added.number - 1));
  EXPECT_FALSE(one.is_gone(added));
  report_lost(server_->store(), 1);
  EXPECT_TRUE(one.is_gone(added));
  EXPECT_TRUE(one.drop(added));
  EXPECT_FALSE(one.drop(added));
  EXPECT_TRUE(one.is_dropped(added));
  EXPECT_EQ(ranks(one), (std::vector<int>{0, 1}));  // until all advance
  EXPECT_TRUE(one.advance(one.read()).empty());
  EXPECT_EQ(ranks(one), std::vector<int>{0});
  two->read();
  EXPECT_FALSE(two->is_in());
}

TEST_F(MembershipTest, AMemberThatWasDroppedDropsNobody) {
  const auto first = worker(0);
  const auto second = worker(1);
  Membership one(*first);
  one.join(kNothing);
  Membership two(*second);
  std::thread joining([&] { two.join(kNothing); });
  while (one.read() < 2) std::this_thread::yield();
  const Member added = one.advance(2).at(0);
  one.welcome(added, "");
  joining.join();
  EXPECT_TRUE(two.drop(one.self()));
  EXPECT_FALSE(one.drop(added));  // finds that it is out
  EXPECT_FALSE(one.is_in());
  EXPECT_FALSE(one.is_dropped(added));
  EXPECT_EQ(two.read(), 3);
}

TEST_F(MembershipTest, BeginsAgainWhenAllAreGone) {
  auto first = worker(0);
  auto one = std::make_unique<Membership>(*first);
  one->join(kNothing);
  one->leave();
  const auto second = worker(1);
  Membership two(*second);
  EXPECT_EQ(two.join(kNothing), "");
  EXPECT_EQ(two.generation(), 1);
  EXPECT_EQ(ranks(two), std::vector<int>{1});
}

TEST_F(MembershipTest, SaysThatNobodyAnswers) {
  settings_.timeout = Milliseconds(500);
  const auto first = worker(0);
  const auto second = worker(2);
  Membership one(*first);
  one.join(kNothing);
  Membership two(*second);
  expect_error<ConnectionError>([&] { two.join(kNothing); },
                                "worker 2 waited 1 s for the others to let it "
                                "join");
}

TEST_F(MembershipTest, RefusesALogThatItCannotRead) {
  server_->store().set("members/log/0", "?0.1");
  const auto first = worker(0);
  Membership one(*first);
  expect_error<ConnectionError>([&] { one.read(); }, "is not an entry");
}

}  // namespace
}  // namespace radir::collective
