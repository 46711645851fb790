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

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  char text[32];
  if (whole < 100) {
    std::snprintf(text, sizeof text, "%ld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%ld min", (whole + 30) / 60);
  } else {
    std::snprintf(text, sizeof text, "%ld h %02ld min", whole / 3600,
                  whole % 3600 / 60);
  }
  return text;
}

Progress::Progress()
    : terminal_(::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      shown_(start_) {}

Progress::~Progress() {
  if (terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::show(double share, const std::string& text) {
  const Clock::time_point now = Clock::now();
  const double interval = terminal_ ? kTerminalInterval : kFileInterval;
  if (duration<double>(now - shown_).count() < interval) return;
  shown_ = now;
  std::string line = text;
  if (share > 0) {
    const double left = seconds() * (1 - share) / share;
    line += ", " + duration_text(left) + " left";
  }
  std::cerr << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n")
            << std::flush;
}

double Progress::seconds() const {
  return duration<double>(Clock::now() - start_).count();
}

}  // namespace radir::cli
