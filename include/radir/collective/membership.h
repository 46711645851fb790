#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "radir/collective/job.h"
#include "radir/collective/store.h"

namespace radir::collective {

/// A worker that takes part in work that all do together. One that comes again
/// has another number.
struct Member {
  int rank = 0;
  std::int64_t number = 0;
};

/// Who takes part, while workers come and go. The store has a log of who came
/// and who was dropped; members that have read it up to the same length agree.
/// Where the length changes is the business of their work: advance().
class Membership {
 public:
  /// `job` must outlive the object.
  explicit Membership(Job& job) : job_(&job) {}
  /// Leaves.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// Whether this worker joined and was not dropped, as far as it has read.
  bool is_in() const;
  /// Joins. Returns what the others gave to welcome(), or an empty text in the
  /// worker that begins because there are no others, or all of them are gone.
  /// `check` is called while it waits and may throw. Throws ConnectionError
  /// when the others do not answer in time.
  std::string join(const std::function<void()>& check);
  /// Gives up its place; join() gets another.
  void leave();
  /// In the worker that begins: waits until all workers of the job have come or
  /// are known to be lost. Returns the ranks of those that did not come in
  /// time.
  std::vector<int> wait_for_all(const std::function<void()>& check);

  /// Reads the log to its end and returns its length.
  std::int64_t read();
  /// Makes members() those at this length of the log; returns those that are
  /// new.
  std::vector<Member> advance(std::int64_t length);
  /// In the order in which they came.
  const std::vector<Member>& members() const { return members_; }
  const Member& self() const { return self_; }
  /// How often all were gone and somebody began again.
  std::int64_t generation() const { return generation_; }
  /// Lets a new member begin at the present length of the log.
  void welcome(const Member& member, const std::string& text);

  /// Whether it died, as launch() or the end of its lease says.
  bool is_gone(const Member& member);
  /// Tells all that a member is out; false if another worker did before, or if
  /// this one is out itself.
  bool drop(const Member& member);
  /// Whether it is out, as far as the log was read.
  bool is_dropped(const Member& member) const {
    return out_.count(member.number) == 1;
  }

 private:
  struct Entry {
    char kind;  ///< '+': comes; '-': is out; '!': begins alone
    Member member;
  };

  static Entry read_entry(const std::string& text);
  bool append(char kind, const Member& member);
  void note(const Entry& entry);
  bool has_come(int rank) const;
  bool some_can_answer();

  Job* job_;
  Member self_;  // number 0: none
  std::vector<Entry> log_;
  std::vector<Member> present_;  // at the end of the log
  std::set<std::int64_t> out_;   // numbers
  std::size_t advanced_ = 0;
  std::vector<Member> members_;
  std::int64_t generation_ = 0;
};

/// For launch(): the process of this rank has ended.
void report_lost(Store& store, int rank);

}  // namespace radir::collective
