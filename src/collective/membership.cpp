#include "radir/collective/membership.h"

#include <algorithm>
#include <charconv>
#include <thread>

namespace radir::collective {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a wait looks whether it still makes sense.
constexpr Milliseconds kLook{100};
constexpr Milliseconds kPause{10};
/// Counts the members that there ever were.
constexpr const char* kNumberKey = "members/number";

std::string log_key(std::size_t index) {
  return "members/log/" + std::to_string(index);
}
std::string welcome_key(const Member& member) {
  return "members/welcome/" + std::to_string(member.number);
}
std::string lost_key(int rank) { return "job/lost/" + std::to_string(rank); }
std::string lease_name(const Member& member) {
  return "member " + std::to_string(member.number);
}

std::int64_t number_in(const std::string& text, std::size_t from,
                       std::size_t to) {
  std::int64_t number = -1;
  const char* const end = text.data() + to;
  const auto read = std::from_chars(text.data() + from, end, number);
  RADIR_CHECK(read.ec == std::errc() && read.ptr == end && number >= 0,
              collective::ConnectionError, "members of the job: \"", text,
              "\" is not an entry of this version");
  return number;
}

bool contains(const std::vector<Member>& members, const Member& member) {
  return std::any_of(members.begin(), members.end(), [&](const Member& one) {
    return one.number == member.number;
  });
}

void remove(const Member& member, std::vector<Member>& members) {
  members.erase(std::remove_if(members.begin(), members.end(),
                               [&](const Member& one) {
                                 return one.number == member.number;
                               }),
                members.end());
}

}  // namespace

void report_lost(Store& store, int rank) {
  store.set(lost_key(rank), std::to_string(store.add(kNumberKey, 0)));
}

Membership::~Membership() {
  try {
    leave();
  } catch (const Error&) {
    // Without the store nobody waits for this worker.
  }
}

void Membership::leave() {
  if (self_.number == 0) return;
  const Member left = self_;
  self_ = {};
  job_->leases().give_back(lease_name(left));
}

bool Membership::is_in() const {
  return self_.number != 0 && !is_dropped(self_) && contains(members_, self_);
}

Membership::Entry Membership::read_entry(const std::string& text) {
  const std::size_t dot = text.find('.');
  RADIR_CHECK(dot != std::string::npos && dot > 1 &&
                  std::string("+-!").find(text.front()) != std::string::npos,
              collective::ConnectionError, "members of the job: \"", text,
              "\" is not an entry of this version");
  Entry entry{text.front(), {}};
  entry.member.rank = static_cast<int>(number_in(text, 1, dot));
  entry.member.number = number_in(text, dot + 1, text.size());
  return entry;
}

void Membership::note(const Entry& entry) {
  log_.push_back(entry);
  if (entry.kind == '!') {
    for (const Member& member : present_) out_.insert(member.number);
    present_.clear();
  }
  if (entry.kind == '-') {
    out_.insert(entry.member.number);
    remove(entry.member, present_);
  } else {
    present_.push_back(entry.member);
  }
}

std::int64_t Membership::read() {
  while (const auto text = job_->store().get(log_key(log_.size()))) {
    note(read_entry(*text));
  }
  return static_cast<std::int64_t>(log_.size());
}

bool Membership::append(char kind, const Member& member) {
  const std::string text =
      kind + std::to_string(member.rank) + "." + std::to_string(member.number);
  if (job_->store().compare_and_set(log_key(log_.size()), std::nullopt, text)) {
    note({kind, member});
    return true;
  }
  read();
  return false;
}

std::vector<Member> Membership::advance(std::int64_t length) {
  const auto end = static_cast<std::size_t>(length);
  if (end > log_.size()) read();
  RADIR_CHECK(end <= log_.size(), collective::ConnectionError,
              "members of the job: the log has ", log_.size(), " entries, not ",
              length);
  std::vector<Member> added;
  for (; advanced_ < end; ++advanced_) {
    const Entry& entry = log_[advanced_];
    if (entry.kind == '-') {
      remove(entry.member, members_);
      remove(entry.member, added);
      continue;
    }
    if (entry.kind == '!') {
      members_.clear();
      added.clear();
      generation_ = static_cast<std::int64_t>(advanced_);
    }
    members_.push_back(entry.member);
    if (entry.member.number != self_.number) added.push_back(entry.member);
  }
  return added;
}

void Membership::welcome(const Member& member, const std::string& text) {
  job_->store().set(welcome_key(member),
                    std::to_string(advanced_) + "\n" + text);
}

bool Membership::is_gone(const Member& member) {
  const auto lost = job_->store().get(lost_key(member.rank));
  if (lost && number_in(*lost, 0, lost->size()) >= member.number) return true;
  // Whoever gets the lease knows that its owner did not renew it.
  return job_->store().lease(lease_name(member), "nobody", Milliseconds(1));
}

bool Membership::drop(const Member& member) {
  while (!is_dropped(member) && !is_dropped(self_)) {
    if (append('-', member)) return true;
  }
  return false;
}

bool Membership::has_come(int rank) const {
  return std::any_of(log_.begin(), log_.end(), [&](const Entry& entry) {
    return entry.member.rank == rank && entry.kind != '-';
  });
}

bool Membership::some_can_answer() {
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const Member member = present_[i];
    if (member.number == self_.number) continue;
    const bool is_active =
        i == 0 || job_->store().get(welcome_key(member)).has_value();
    if (is_active && !is_gone(member)) return true;
  }
  return false;
}

std::string Membership::join(const std::function<void()>& check) {
  leave();
  // Those inside wait for late workers that long before they begin.
  const Milliseconds longest = 2 * job_->settings().timeout;
  const Clock::time_point end = Clock::now() + longest;
  for (;;) {
    read();
    if (self_.number == 0 || is_dropped(self_)) {
      leave();
      self_ = {job_->rank(), job_->store().add(kNumberKey, 1)};
      job_->leases().take(lease_name(self_));
    }
    if (!some_can_answer()) {
      if (!append('!', self_)) continue;
      advance(static_cast<std::int64_t>(log_.size()));
      return "";
    }
    if (!contains(present_, self_) && !append('+', self_)) continue;
    const auto text = job_->store().wait(welcome_key(self_), kLook);
    if (text) {
      const std::size_t line = std::min(text->find('\n'), text->size());
      advance(number_in(*text, 0, line));
      return text->substr(std::min(line + 1, text->size()));
    }
    check();
    RADIR_CHECK(Clock::now() < end, collective::ConnectionError, "worker ",
                job_->rank(), " waited ", longest.count() / 1000,
                " s for the others to let it join; see what they do");
  }
}

std::vector<int> Membership::wait_for_all(const std::function<void()>& check) {
  const Clock::time_point end = Clock::now() + job_->settings().timeout;
  std::vector<int> missing;
  for (int rank = 0; rank < job_->size(); ++rank) {
    while (!has_come(rank) && !job_->store().get(lost_key(rank))) {
      if (Clock::now() >= end) {
        missing.push_back(rank);
        break;
      }
      std::this_thread::sleep_for(kPause);
      check();
      read();
    }
  }
  return missing;
}

}  // namespace radir::collective
