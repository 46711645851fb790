#include "cli/program.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace radir::testing {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A new empty folder, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "radir-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make the folder " + name);
    }
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

ProgramResult run_program(const std::string& arguments, const std::string& file,
                          const std::string& before) {
  const TemporaryFolder logs;
  const TemporaryFolder work;
  const fs::path out = logs.path() / "out";
  const fs::path err = logs.path() / "err";
  const std::string command = before + " && cd '" + work.path().string() +
                              "' && '" RADIR_PROGRAM "' " + arguments + " >'" +
                              out.string() + "' 2>'" + err.string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out),
          contents(err), file.empty() ? "" : contents(work.path() / file)};
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
