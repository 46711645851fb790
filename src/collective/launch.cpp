#include "radir/collective/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "collective/connection.h"
#include "radir/collective/membership.h"
#include "radir/collective/shared_memory.h"
#include "radir/files/posix_file.h"

extern char** environ;

namespace radir::collective {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 50;
constexpr int kSignalCode = 128;  // plus its number, as shells do
constexpr std::size_t kMostLineBytes = 1 << 16;

/// Strings as execve wants them.
class StringList {
 public:
  explicit StringList(std::vector<std::string> texts)
      : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

/// The environment of this process with some variables replaced.
StringList environment_of(const JobSettings& job, int rank) {
  const auto own = job_environment(job, rank);
  std::vector<std::string> texts;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    bool replaced = false;
    for (const auto& [name, value] : own) {
      replaced = replaced || text.rfind(name + "=", 0) == 0;
    }
    if (!replaced) texts.push_back(text);
  }
  for (const auto& [name, value] : own) texts.push_back(name + "=" + value);
  return StringList(std::move(texts));
}

struct Worker {
  pid_t process = -1;              ///< -1: ended
  std::unique_ptr<Socket> errors;  ///< its standard error; null: at its end
  std::string line;                ///< the incomplete one
  int code = 0;                    ///< how it ended
  bool killed = false;
};

class Launch {
 public:
  explicit Launch(const LaunchOptions& options)
      : options_(options), job_(options.job) {
    RADIR_CHECK(options.workers >= 1 && options.workers <= 1000, ArgumentError,
                "launch: the number of workers must be from 1 to 1000, but is ",
                options.workers);
    job_.size = options.workers;
    if (job_.address.token.empty()) job_.address.token = random_token();
    server_ = std::make_unique<StoreServer>(job_.address);
    job_.address.port = server_->port();
    memory_ = SharedMemory::create(options.workers);
    job_.memory = memory_ ? memory_->place() : "";
    restarts_left_ = options.restarts;
  }

  /// Only when something failed are workers still there.
  ~Launch() { send(SIGKILL); }

  int run() {
    for (int rank = 0; rank < options_.workers; ++rank) {
      workers_.push_back(start(rank));
    }
    while (some_run()) {
      read_errors();
      collect_ended();
      pass_signal_on();
      kill_late();
    }
    return code();
  }

 private:
  Worker start(int rank) {
    std::vector<std::string> words = {options_.program};
    words.insert(words.end(), options_.arguments.begin(),
                 options_.arguments.end());
    const StringList arguments(std::move(words));
    const StringList environment = environment_of(job_, rank);
    int ends[2];
    RADIR_CHECK(::pipe2(ends, O_CLOEXEC) == 0, IoError,
                "launch: cannot make a pipe: ", std::strerror(errno));
    Worker worker;
    worker.errors = std::make_unique<Socket>(ends[0]);
    const Socket writing(ends[1]);
    const pid_t parent = ::getpid();
    worker.process = ::fork();
    if (worker.process == 0)
      become_worker(arguments, environment, ends[1], parent);
    RADIR_CHECK(worker.process > 0, IoError,
                "launch: cannot start a worker: ", std::strerror(errno));
    return worker;
  }

  /// In the new process: only what is safe after a fork of several threads. A
  /// group of its own, so that Ctrl-C reaches it once, through launch().
  [[noreturn]] void become_worker(const StringList& arguments,
                                  const StringList& environment, int errors,
                                  pid_t parent) const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent && ::dup2(errors, STDERR_FILENO) >= 0) {
      ::execve(options_.program.c_str(), arguments.get(), environment.get());
    }
    ::_exit(127);
  }

  bool some_run() const {
    for (const Worker& worker : workers_) {
      if (worker.process > 0) return true;
    }
    return false;
  }

  void read_errors() {
    std::vector<pollfd> wanted;
    for (const Worker& worker : workers_) {
      wanted.push_back({worker.errors ? worker.errors->get() : -1, POLLIN, 0});
    }
    ::poll(wanted.data(), wanted.size(), kPollMilliseconds);
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (wanted[rank].revents != 0) read_some(static_cast<int>(rank));
    }
  }

  void read_some(int rank) {
    Worker& worker = workers_[static_cast<std::size_t>(rank)];
    char bytes[4096];
    const ssize_t got = files::repeat_interrupted(
        [&] { return ::read(worker.errors->get(), bytes, sizeof bytes); });
    if (got <= 0) {
      worker.errors.reset();
      return;
    }
    for (ssize_t i = 0; i < got; ++i) {
      if (bytes[i] == '\n' || worker.line.size() >= kMostLineBytes) {
        end_line(rank);
      }
      if (bytes[i] != '\n') worker.line += bytes[i];
    }
  }

  void end_line(int rank) {
    std::string& line = workers_[static_cast<std::size_t>(rank)].line;
    if (options_.on_line) options_.on_line(rank, rank == first_, line);
    line.clear();
  }

  void collect_ended() {
    for (std::size_t at = 0; at < workers_.size(); ++at) {
      Worker& worker = workers_[at];
      int status = 0;
      if (worker.process <= 0 ||
          ::waitpid(worker.process, &status, WNOHANG) != worker.process) {
        continue;
      }
      worker.process = -1;
      const int rank = static_cast<int>(at);
      read_rest(rank);
      worker.killed = WIFSIGNALED(status);
      worker.code =
          worker.killed ? kSignalCode + WTERMSIG(status) : WEXITSTATUS(status);
      if (worker.code != 0) treat_failed(rank);
      find_first();
    }
  }

  void find_first() {
    first_ = 0;
    for (const Worker& worker : workers_) {
      if (worker.process > 0) return;
      ++first_;
    }
  }

  /// What a worker wrote before it ended; not what others that have its pipe
  /// may write later.
  void read_rest(int rank) {
    Worker& worker = workers_[static_cast<std::size_t>(rank)];
    while (worker.errors && worker.errors->waits_for_bytes(Milliseconds(0))) {
      read_some(rank);
    }
    if (!worker.line.empty()) end_line(rank);
    worker.errors.reset();
  }

  void treat_failed(int rank) {
    Worker& worker = workers_[static_cast<std::size_t>(rank)];
    const std::string name = "worker " + std::to_string(rank);
    report_lost(server_->store(), rank);
    if (worker.killed && !kill_at_ && restarts_left_ > 0) {
      --restarts_left_;
      tell(name + " was killed by signal " +
           std::to_string(worker.code - kSignalCode) + "; it is started again");
      worker = start(rank);
    } else if (worker.killed) {
      tell(name + " was killed by signal " +
           std::to_string(worker.code - kSignalCode));
    } else {
      tell(name + " ended with exit code " + std::to_string(worker.code));
    }
  }

  void tell(const std::string& event) const {
    if (options_.on_event) options_.on_event(event);
  }

  void pass_signal_on() {
    const int signal = options_.signal ? options_.signal() : 0;
    if (signal != 0 && passed_on_ == 0) {
      passed_on_ = signal;
      kill_at_ = Clock::now() + options_.grace;
      send(signal);
    }
  }

  /// A worker that hangs is not waited for once the others have finished.
  void kill_late() {
    if (!kill_at_ && finished()) kill_at_ = Clock::now() + options_.grace;
    if (kill_at_ && Clock::now() > *kill_at_) send(SIGKILL);
  }

  void send(int signal) const {
    for (const Worker& worker : workers_) {
      if (worker.process > 0) ::kill(worker.process, signal);
    }
  }

  bool finished() const {
    return server_->store().get(kFinishedKey).has_value();
  }

  int code() const {
    for (const Worker& worker : workers_) {
      if (worker.code != 0 && !(worker.killed && finished())) {
        return worker.code;
      }
    }
    return 0;
  }

  const LaunchOptions& options_;
  JobSettings job_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<SharedMemory> memory_;  // of the workers
  std::vector<Worker> workers_;
  int restarts_left_ = 0;
  int first_ = 0;  // the lowest rank that runs
  int passed_on_ = 0;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

int launch(const LaunchOptions& options) { return Launch(options).run(); }

}  // namespace radir::collective
