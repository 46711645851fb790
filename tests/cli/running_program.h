#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace radir::testing {

/// A `radir` that is running, for tests of signals. It is killed if the test
/// ends before it does.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  bool has_ended() const;
  /// Whether the file appears while the program runs.
  bool waits_for(const std::string& path) const;
  /// Waits until that file is being written; false when the program ended.
  bool waits_for_temporary_of(const std::string& path) const;
  void send(int signal) const;
  /// Waits for the end: the exit code, or minus the signal that killed it.
  int wait();
  /// What it wrote to standard error so far.
  std::string err() const;

 private:
  TemporaryFolder folder_;
  pid_t process_ = -1;
};

}  // namespace radir::testing
