#include "cli/program.h"

#include <sys/wait.h>

#include <cstdlib>

#include "support/temporary_folder.h"

namespace radir::testing {

ProgramResult run_program(const std::string& arguments, const std::string& file,
                          const std::string& before) {
  const TemporaryFolder logs;
  const TemporaryFolder work;
  const std::string out = logs / "out";
  const std::string err = logs / "err";
  const std::string command = before + " && cd '" + work.path() +
                              "' && '" RADIR_PROGRAM "' " + arguments + " >'" +
                              out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(out),
          read_bytes(err), file.empty() ? "" : read_bytes(work / file)};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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
