#pragma once

#include <string>

namespace radir::testing {

/// What a run of the program left behind.
struct ProgramResult {
  int exit_code = -1;  ///< -1 when it was killed by a signal
  std::string out;
  std::string err;
  std::string file;  ///< contents of the file it was asked to write
};

/// Runs the built `radir` with these arguments (as in a shell) in an empty
/// folder, which is gone afterwards; `file` is read from there. `before` is a
/// shell command that goes first, such as "ulimit -f 10".
ProgramResult run_program(const std::string& arguments,
                          const std::string& file = "",
                          const std::string& before = "true");

/// The same, with its standard output in `out`, which is not read.
ProgramResult run_program_into(const std::string& out,
                               const std::string& arguments);

/// A failure: this exit code, nothing on standard output, and one line on
/// standard error that holds `part`.
void expect_failure(const std::string& arguments, int exit_code,
                    const std::string& part);

bool contains(const std::string& text, const std::string& part);

/// Forty rows of columns a, b and y, as CSV.
std::string small_table();

/// Rows of a longer one: y = sin(a) + b / 2 with a deterministic noise of about
/// 0.1, and the sign of y as a text.
std::string wave_table(int from, int to);

}  // namespace radir::testing
