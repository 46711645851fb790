#include "radir/core/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "radir/core/error.h"

namespace radir {
namespace {

/// Folder of the running program, with a slash at the end.
std::string program_folder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  RADIR_CHECK(length > 0, IoError, "cannot find the folder of this program");
  const std::string program(path, static_cast<std::size_t>(length));
  return program.substr(0, program.rfind('/') + 1);
}

/// The module lies beside the program in a build folder, and in the library
/// folder of an installation.
void* load(const Module& module) {
  std::string failures;
  for (const char* folder : {"", "../" RADIR_MODULE_FOLDER "/"}) {
    const std::string path = program_folder() + folder + module.name;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return handle;
    }
    failures += (failures.empty() ? "" : "; ") + std::string(dlerror());
  }
  detail::throw_error<UnsupportedError>(
      "this needs ", module.needs, " and the module ", module.name,
      ", which could not be ", "loaded; ", module.remedy, " (", failures, ")");
}

}  // namespace

void* module_symbol(const Module& module, const std::string& function) {
  void* symbol = dlsym(load(module), function.c_str());
  RADIR_CHECK(symbol != nullptr, UnsupportedError, module.name, " has no ",
              function, "; it belongs to another version of this program");
  return symbol;
}

}  // namespace radir
