#include "radir/workflows/job_sharded_sum.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "radir/collective/launch.h"
#include "radir/collective/store.h"
#include "radir/core/error.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/shared_run.h"
#include "workflows/received_sum.h"

namespace radir::workflows {
namespace {

using collective::Member;

/// How often a wait looks whether it still makes sense.
constexpr collective::Milliseconds kLook{100};
/// How often a worker may find another state than that of the others.
constexpr int kMostMisses = 5;
/// How often it may join without taking part in a step.
constexpr int kMostJoins = 20;
/// Before the sum of the first half: how far to read the log of the members.
constexpr std::size_t kLengthBytes = sizeof(std::int64_t);

const std::string kSums = "sum/";

/// In the order of the numbers.
std::string padded(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(12 - std::min<std::size_t>(12, digits.size()), '0') +
         digits;
}

std::string done_key(std::int64_t generation, const std::string& training) {
  return "trained/" + std::to_string(generation) + "/" + training;
}

std::string place_of(const std::string& training, std::int64_t step) {
  return std::to_string(step) + " " + training;
}

}  // namespace

JobShardedSum::JobShardedSum(collective::Job& job, std::int64_t shards,
                             std::function<bool()> stop_requested,
                             std::function<void(const std::string&)> warn)
    : ShardedSum(shards),
      job_(&job),
      members_(job),
      stop_requested_(std::move(stop_requested)),
      warn_(std::move(warn)) {
  RADIR_CHECK(job.size() <= shards, ArgumentError, "--shards ", shards,
              " can be shared by up to ", shards, " workers, but the job has ",
              job.size());
}

bool JobShardedSum::is_here(const Member& member) const {
  return member.number == members_.self().number;
}

bool JobShardedSum::writes() const {
  if (!members_.is_in()) return false;
  for (const Member& member : members_.members()) {
    if (!members_.is_dropped(member)) return is_here(member);
  }
  return false;
}

bool JobShardedSum::may_write() {
  check_not_finished();
  members_.read();
  return writes();
}

void JobShardedSum::check_wanted() const {
  if (stop_requested_ && stop_requested_()) {
    throw Interrupted("the training was stopped on request");
  }
  check_not_finished();
}

void JobShardedSum::check_not_finished() const {
  if (job_->store().get(collective::kFinishedKey)) {
    throw FinishedElsewhere("the other workers have finished the run");
  }
}

void JobShardedSum::drop(const Member& member, const std::string& why) {
  if (members_.drop(member) && warn_) {
    warn_("worker " + std::to_string(member.rank) + " " + why +
          "; the others continue without it");
  }
}

// Members and steps.

/// Joins; the members that this worker has to let in, if it is the first.
std::vector<Member> JobShardedSum::enter() {
  const auto check = [this] { check_wanted(); };
  const std::string welcome = members_.join(check);
  expected_.reset();
  misses_ = 0;
  ++joins_;
  if (welcome.empty()) {
    if (members_.generation() == 0) {
      for (const int rank : members_.wait_for_all(check)) {
        if (!warn_) break;
        warn_("worker " + std::to_string(rank) + " of the job did not come " +
              "within " +
              std::to_string(job_->settings().timeout.count() / 1000) +
              " s; the others begin without it");
      }
    }
    round_ = 0;
    return members_.advance(members_.read());
  }
  const char* const end = welcome.data() + welcome.size();
  const auto read = std::from_chars(welcome.data(), end, round_);
  RADIR_CHECK(read.ec == std::errc() && read.ptr != end,
              collective::ConnectionError,
              "the other workers are not of this version");
  expected_ = std::string(read.ptr + 1, end);
  return {};
}

void JobShardedSum::check_place(const std::string& training,
                                std::int64_t step) {
  if (!expected_) return;
  if (*expected_ == place_of(training, step)) {
    expected_.reset();
    return;
  }
  ++misses_;
  RADIR_CHECK(joins_ <= kMostJoins, IoError, "worker ", job_->rank(),
              " was dropped ", joins_ - 1, " times before it took part in a ",
              "step; it is too slow or --lease is too short");
  RADIR_CHECK(misses_ <= kMostMisses, IoError, "worker ", job_->rank(),
              " cannot join: the others are at step ", *expected_,
              ", but the run folder has step ", step, " ", training,
              "; give all workers the same folder");
  // A file system of several machines may show the saved step a little later.
  if (misses_ > 1) std::this_thread::sleep_for(job_->settings().lease / 4);
  // What the folder had before the others saved their step is older.
  throw Rejoin("the other workers are at another step", misses_ > 1);
}

void JobShardedSum::begin_step(const std::string& training, std::int64_t step,
                               const std::function<void()>& save) {
  std::vector<Member> added;
  if (expected_ && *expected_ != place_of(training, step)) {
    members_.read();  // the others may train without it by now
  } else if (members_.is_in() && !expected_) {
    added = members_.advance(log_length_);
  }
  if (!members_.is_in()) added = enter();
  check_place(training, step);
  training_ = training;
  step_ = step;
  sum_of_step_ = 0;
  if (added.empty() || !writes()) return;
  try {
    save();
  } catch (const IoError& error) {
    turn_away(added, error.what());
    return;
  }
  turns_away_ = false;
  for (const Member& member : added) {
    members_.welcome(member,
                     std::to_string(round_) + "\n" + place_of(training, step));
    if (round_ > 0 && warn_) {
      warn_("worker " + std::to_string(member.rank) + " has joined");
    }
  }
}

/// Those without a checkpoint to begin from; they ask again.
void JobShardedSum::turn_away(const std::vector<Member>& added,
                              const std::string& why) {
  for (const Member& member : added) {
    if (!members_.drop(member) || turns_away_) continue;
    turns_away_ = true;
    if (warn_) {
      warn_("worker " + std::to_string(member.rank) + " cannot join: " + why);
    }
  }
}

void JobShardedSum::end(const std::string& training,
                        const std::function<void()>& save) {
  if (!members_.is_in() || expected_) return;  // it was finished before
  const std::string done = done_key(members_.generation(), training);
  Clock::time_point since = Clock::now();
  const Subtree all{0, shards()};
  while (!may_write()) {
    if (job_->store().wait(done, kLook) || !members_.is_in()) return;
    check_wanted();
    look_after(all, since);
  }
  save();
  job_->store().set(done, "");
}

// Who has which shards. The members have them in the order in which they came.

std::int64_t JobShardedSum::share_begin(std::size_t index) const {
  const auto size = static_cast<std::int64_t>(members_.members().size());
  return static_cast<std::int64_t>(index) * shards() / size;
}

const Member& JobShardedSum::owner(std::int64_t shard) const {
  std::size_t index = 0;
  while (share_begin(index + 1) <= shard) ++index;
  return members_.members()[index];
}

std::vector<Member> JobShardedSum::owners(const Subtree& tree) const {
  std::vector<Member> result;
  for (std::size_t i = 0; i < members_.members().size(); ++i) {
    const std::int64_t begin = std::max(share_begin(i), tree.first);
    if (begin < std::min(share_begin(i + 1), tree.first + tree.number)) {
      result.push_back(members_.members()[i]);
    }
  }
  return result;
}

bool JobShardedSum::has_part(const std::vector<Member>& having) const {
  return std::any_of(having.begin(), having.end(),
                     [&](const Member& member) { return is_here(member); });
}

std::string JobShardedSum::round_key() const {
  return kSums + padded(members_.generation()) + "/" + padded(round_) + "/";
}

std::string JobShardedSum::key(const Subtree& tree) const {
  return round_key() + place_of(training_, step_) + "/" +
         std::to_string(sum_of_step_) + "/" + std::to_string(tree.first) + "-" +
         std::to_string(tree.number);
}

/// The half with the first shard; its sum comes with the length of the log.
bool JobShardedSum::is_head(const Subtree& tree) const {
  return tree.first == 0 &&
         tree.number == std::max<std::int64_t>(1, shards() / 2);
}

std::vector<float>& JobShardedSum::buffer(const Subtree& tree) {
  std::size_t level = 0;
  while ((std::int64_t{1} << level) < tree.number) ++level;
  if (buffers_.size() <= level) buffers_.resize(level + 1);
  buffers_[level].resize(static_cast<std::size_t>(count_));
  return buffers_[level];
}

// The sum of one round.

void JobShardedSum::add_up(std::int64_t count,
                           const train::ShardFunction& compute, float* sum) {
  const Clock::time_point start = Clock::now();
  count_ = count;
  compute_ = &compute;
  computing_ = {};
  alone_ = false;
  if (members_.members().size() == 1) {
    compute(0, shards(), sum);
    log_length_ = members_.read();
  } else {
    try {
      add_up_together(sum);
    } catch (const Rejoin&) {
      members_.leave();
      throw;
    }
  }
  last_round_ = Clock::now() - start;
  joins_ = 0;
  ++sum_of_step_;
  ++round_;
}

void JobShardedSum::add_up_together(float* sum) {
  const Subtree all{0, shards()};
  if (shards() == 1) {
    if (!contribute(all, sum)) fetch(all, sum);
  } else {
    add_halves(all, sum);
  }
  // All members have begun this round: they need nothing of earlier ones. A
  // worker that computes alone, because it was stopped, has not seen that.
  if (writes() && !alone_) job_->store().erase_range(kSums, round_key());
}

/// Others wait for what is made here: first that, then waiting.
void JobShardedSum::add_halves(const Subtree& all, float* sum) {
  float* const other = buffer(all).data();
  const bool has_left = contribute(all.left(), sum);
  const bool has_right = contribute(all.right(), has_left ? other : sum);
  if (has_left && has_right) return train::add_to(other, count_, sum);
  if (!has_left && !has_right) fetch(all.left(), sum);
  add_fetched(has_right ? all.left() : all.right(), sum);
}

/// Posts the sums in a subtree that this worker owes to others; whether `sum`
/// is that of all of it. It belongs to the worker with its first shard.
bool JobShardedSum::contribute(const Subtree& tree, float* sum) {
  const std::vector<Member> having = owners(tree);
  if (!has_part(having)) return false;
  if (is_here(having.front())) {
    make(tree, sum);
    post(tree, sum);
    return true;
  }
  contribute(tree.left(), sum);
  contribute(tree.right(), sum);
  return false;
}

/// The sum of one half, for which all workers wait.
void JobShardedSum::fetch(const Subtree& tree, float* sum) {
  if (const auto received = receive(tree)) return received->copy_to(sum);
  make(tree, sum);
  post(tree, sum);
}

/// The same, added to `sum`.
void JobShardedSum::add_fetched(const Subtree& tree, float* sum) {
  if (const auto received = receive(tree)) return received->add_to(sum);
  float* const made = buffer({0, shards()}).data();
  make(tree, made);
  post(tree, made);
  train::add_to(made, count_, sum);
}

void JobShardedSum::obtain(const Subtree& tree, float* sum) {
  if (!is_here(owner(tree.first))) {
    if (const auto received = receive(tree)) return received->copy_to(sum);
  }
  make(tree, sum);
}

void JobShardedSum::make(const Subtree& tree, float* sum) {
  const std::vector<Member> having = owners(tree);
  const bool all_here =
      std::all_of(having.begin(), having.end(), [&](const Member& member) {
        return is_here(member) || alone_ || members_.is_dropped(member);
      });
  if (all_here) {
    const Clock::time_point start = Clock::now();
    (*compute_)(tree.first, tree.number, sum);
    computing_ += Clock::now() - start;
    return;
  }
  obtain(tree.left(), sum);
  float* const right = buffer(tree).data();
  obtain(tree.right(), right);
  train::add_to(right, count_, sum);
}

/// What the owner of a subtree has posted; nothing when it is gone.
std::optional<ReceivedSum> JobShardedSum::receive(const Subtree& tree) {
  const Member from = owner(tree.first);
  Clock::time_point since = Clock::now();
  while (!alone_ && !members_.is_dropped(from)) {
    auto value = job_->store().wait(key(tree), kLook);
    if (value != nullptr) {
      ReceivedSum received = open(tree, std::move(value));
      if (is_head(tree)) {
        std::memcpy(&log_length_, received.text().data(), kLengthBytes);
      }
      return received;
    }
    // The worker that writes the checkpoint finishes the step first.
    alone_ = writes() && stop_requested_ && stop_requested_();
    if (alone_) break;
    check_wanted();
    look_after(tree, since);
    if (!members_.is_in()) throw Rejoin(kWentOn);
  }
  return std::nullopt;
}

/// Drops the owners of a subtree that are gone, and its first when it takes too
/// long.
void JobShardedSum::look_after(const Subtree& tree, Clock::time_point& since) {
  members_.read();
  if (!members_.is_in()) return;
  const std::vector<Member> having = owners(tree);
  for (const Member& member : having) {
    if (is_here(member) || members_.is_dropped(member)) continue;
    if (!members_.is_gone(member)) continue;
    drop(member, "is gone");
    since = Clock::now();  // others may need time for its shards
  }
  const auto waited = Clock::now() - since;
  // This worker may have had less to compute than the others.
  const auto round = std::max(computing_, last_round_);
  if (waited > 2 * job_->settings().lease + 4 * round) {
    for (const Member& member : having) {
      if (is_here(member) || members_.is_dropped(member)) continue;
      drop(member,
           "has not answered for " +
               std::to_string(
                   std::chrono::duration_cast<std::chrono::seconds>(waited)
                       .count()) +
               " s");
      since = Clock::now();
      break;
    }
  }
}

std::size_t JobShardedSum::byte_count() const {
  return static_cast<std::size_t>(count_) * sizeof(float);
}

/// Checks what came for a subtree.
ReceivedSum JobShardedSum::open(const Subtree& tree,
                                collective::SharedText text) const {
  ReceivedSum received(job_->memory(), std::move(text),
                       is_head(tree) ? kLengthBytes : 0, count_);
  RADIR_CHECK(received.has_right_size(), collective::ConnectionError, "worker ",
              owner(tree.first).rank, " sends ", received.size(),
              " bytes instead of ", byte_count(),
              "; all workers must train the same network");
  return received;
}

/// Sums in a subtree that contribute() posts.
std::int64_t JobShardedSum::posts_in(const Subtree& tree) const {
  const std::vector<Member> having = owners(tree);
  if (!has_part(having)) return 0;
  if (is_here(having.front())) return 1;
  return posts_in(tree.left()) + posts_in(tree.right());
}

/// A reference to the sum in the memory that the workers share, where there is
/// any. What others may wait for is of this round and the one before; some more
/// are made for those who are gone.
std::optional<std::string> JobShardedSum::put_into_memory(const float* sum) {
  if (job_->memory() == nullptr) return std::nullopt;
  constexpr std::int64_t kMore = 4;
  const Subtree all{0, shards()};
  const std::int64_t own =
      shards() == 1 ? 1 : posts_in(all.left()) + posts_in(all.right());
  return job_->memory()->put({reinterpret_cast<const char*>(sum), byte_count()},
                             2 * own + kMore);
}

void JobShardedSum::post(const Subtree& tree, const float* sum) {
  if (is_head(tree)) return post_head(tree, sum);
  if (const auto reference = put_into_memory(sum)) {
    return job_->store().set(key(tree), *reference);
  }
  job_->store().set(key(tree),
                    {reinterpret_cast<const char*>(sum), byte_count()});
}

/// The first to post it decides how far all read the log.
void JobShardedSum::post_head(const Subtree& tree, const float* sum) {
  const std::int64_t length = members_.read();
  std::string& value = head_;
  value.assign(reinterpret_cast<const char*>(&length), kLengthBytes);
  if (const auto reference = put_into_memory(sum)) {
    value += *reference;
  } else {
    value.append(reinterpret_cast<const char*>(sum), byte_count());
  }
  log_length_ = length;
  if (job_->store().compare_and_set(key(tree), std::nullopt, value)) return;
  collective::SharedText text =
      job_->store().wait(key(tree), collective::Milliseconds(0));
  if (text == nullptr) throw Rejoin(kWentOn);
  const ReceivedSum first = open(tree, std::move(text));
  RADIR_CHECK(first.equals(sum), NumericalError, "worker ", job_->rank(),
              " and another one computed different sums of the same shards (",
              key(tree), "); see whether the memory of one is faulty");
  std::memcpy(&log_length_, first.text().data(), kLengthBytes);
}

}  // namespace radir::workflows
