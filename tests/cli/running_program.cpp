#include "cli/running_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace radir::testing {

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(RADIR_PROGRAM)};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const std::string log = folder_ / "err";
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot start the program");
  if (process_ > 0) return;
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  ::dup2(file, STDERR_FILENO);
  ::dup2(file, STDOUT_FILENO);
  ::execv(RADIR_PROGRAM, argv.data());
  ::_exit(127);
}

RunningProgram::~RunningProgram() {
  if (process_ < 0) return;
  send(SIGKILL);
  wait();
}

bool RunningProgram::has_ended() const {
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(process_), &info,
                  WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

bool RunningProgram::waits_for(const std::string& path) const {
  while (!std::filesystem::exists(path)) {
    if (has_ended()) return std::filesystem::exists(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool RunningProgram::waits_for_temporary_of(const std::string& path) const {
  const std::filesystem::path file(path);
  const std::string begin = file.filename().string() + ".";
  while (!has_ended()) {
    std::error_code error;  // it may not be there yet
    for (const auto& entry :
         std::filesystem::directory_iterator(file.parent_path(), error)) {
      if (entry.path().filename().string().rfind(begin, 0) == 0) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void RunningProgram::send(int signal) const { ::kill(process_, signal); }

int RunningProgram::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string RunningProgram::err() const { return read_bytes(folder_ / "err"); }

}  // namespace radir::testing
