#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace radir::cli {
namespace {

using std::chrono::duration;

constexpr double kTerminalInterval = 0.1;
constexpr double kFileInterval = 10;
/// Back to the start of the line, and wipe it.
constexpr const char* kWipe = "\r\033[K";

bool is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace

std::string duration_text(double seconds) {
  const auto rounded = static_cast<long>(std::lround(seconds));
  char text[32];
  if (rounded < 100) {
    std::snprintf(text, sizeof text, "%ld s", rounded);
  } else if (rounded < 3600) {
    std::snprintf(text, sizeof text, "%ld min", (rounded + 30) / 60);
  } else {
    std::snprintf(text, sizeof text, "%ld h %02ld min", rounded / 3600,
                  rounded % 3600 / 60);
  }
  return text;
}

Progress::Progress()
    : terminal_(is_terminal()), start_(Clock::now()), shown_(start_) {}

Progress::~Progress() {
  if (terminal_) std::cerr << kWipe << std::flush;
}

void Progress::show(double share, const std::string& text) {
  const Clock::time_point now = Clock::now();
  const std::optional<double> left = time_left_.add(seconds(), share);
  const double interval = terminal_ ? kTerminalInterval : kFileInterval;
  if (duration<double>(now - shown_).count() < interval) return;
  shown_ = now;
  std::string line = text;
  if (left) line += ", " + duration_text(*left) + " left";
  std::cerr << (terminal_ ? kWipe : "") << line << (terminal_ ? "" : "\n")
            << std::flush;
}

double Progress::seconds() const {
  return duration<double>(Clock::now() - start_).count();
}

void say(const std::string& sentence) {
  std::cerr << (is_terminal() ? kWipe : "") + ("radir: " + sentence + "\n");
}

}  // namespace radir::cli
