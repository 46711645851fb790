#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/core/cpu.h"
#include "radir/core/version.h"

namespace radir::cli {
namespace {

void print_version(const CommonOptions& common) {
  // Throws for a wrong RADIR_ISA, before anything is printed.
  const std::string isa = to_string(active_isa());
  if (common.json) {
    const nlohmann::ordered_json document = {{"version", version()},
                                             {"isa", isa},
                                             {"cpu", cpu_name()},
                                             {"threads", available_threads()}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::cout << "radir " << version() << "\n"
            << "processor  " << cpu_name() << ", " << isa << " kernels, "
            << available_threads() << " threads\n";
}

}  // namespace

void add_version(CLI::App& root, Invocation& invocation) {
  add_command(root, invocation,
              {"version", "Show the version of the program and the processor",
               "radir version --json"},
              print_version);
}

}  // namespace radir::cli
