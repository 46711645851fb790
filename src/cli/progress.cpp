#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>

#include "cli/escaping_buffer.h"

namespace radir::cli {
namespace {

using std::chrono::duration;

constexpr double kTerminalInterval = 0.1;
constexpr double kFileInterval = 10;
bool is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

/// Back to the start of the line, and wipe it. Past the stream, which escapes
/// control characters.
void wipe_line() {
  if (is_terminal()) std::fputs("\r\033[K", stderr);
}

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

Progress::~Progress() { wipe_line(); }

void Progress::show(double share, const std::string& text) {
  const Clock::time_point now = Clock::now();
  const std::optional<double> left = time_left_.add(seconds(), share);
  const double interval = terminal_ ? kTerminalInterval : kFileInterval;
  if (duration<double>(now - shown_).count() < interval) return;
  shown_ = now;
  std::string line = text;
  if (left) line += ", " + duration_text(*left) + " left";
  wipe_line();
  std::cerr << line << (terminal_ ? "" : "\n") << std::flush;
}

double Progress::seconds() const {
  return duration<double>(Clock::now() - start_).count();
}

void say(const std::string& sentence) {
  wipe_line();
  std::cerr << "radir: " + one_line(sentence) + "\n";
}

}  // namespace radir::cli
