#include "cli/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <cmath>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/temporary_folder.h"

namespace radir::testing {

namespace {

/// The exit code of the program, or -1.
int execute(const std::string& before, const std::string& work,
            const std::string& arguments, const std::string& out,
            const std::string& err) {
  const std::string command = before + " && cd '" + work +
                              "' && '" RADIR_PROGRAM "' " + arguments + " >'" +
                              out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

ProgramResult run_program(const std::string& arguments, const std::string& file,
                          const std::string& before) {
  const TemporaryFolder logs;
  const TemporaryFolder work;
  const std::string out = logs / "out";
  const std::string err = logs / "err";
  const int code = execute(before, work.path(), arguments, out, err);
  return {code, read_bytes(out), read_bytes(err),
          file.empty() ? "" : read_bytes(work / file)};
}

ProgramResult run_program_into(const std::string& out,
                               const std::string& arguments) {
  const TemporaryFolder logs;
  const TemporaryFolder work;
  const std::string err = logs / "err";
  const int code = execute("true", work.path(), arguments, out, err);
  return {code, "", read_bytes(err), ""};
}

void expect_failure(const std::string& arguments, int exit_code,
                    const std::string& part) {
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.err;
  EXPECT_EQ(result.out, "") << arguments;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
      << result.err;
  EXPECT_TRUE(contains(result.err, part)) << result.err;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string wave_table(int from, int to) {
  std::string text = "a,b,y,sign\n";
  for (int i = from; i < to; ++i) {
    const double a = (i * 37 % 100) / 16.0 - 3;
    const double b = (i * 53 % 89) / 44.0 - 1;
    const double y = std::sin(a) + b / 2 + 0.17 * std::sin(1000.0 * i);
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(y) + "," + (y > 0 ? "plus" : "minus") + "\n";
  }
  return text;
}

std::string small_table() {
  std::string table = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    table += std::to_string(i) + "," + std::to_string(i * 7 % 5) + "," +
             std::to_string(2 * i) + "\n";
  }
  return table;
}

}  // namespace radir::testing
