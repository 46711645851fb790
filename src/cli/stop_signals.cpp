#include "cli/stop_signals.h"

#include <unistd.h>

#include <atomic>

namespace radir::cli {
namespace {

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may use it");

void mark(int signal) {
  if (received_signal.exchange(signal) != 0) ::_exit(128 + signal);
}

// A signal that is ignored, as SIGINT is in the background of a script, stays
// ignored.
void catch_signal(int signal, struct sigaction& before) {
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = mark;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    catch_signal(kSignals[i], before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

int StopSignals::received() { return received_signal; }

}  // namespace radir::cli
