#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fuzz/targets.h"

// Feeds every file of a folder to a target, without a fuzzer:
//   radir_fuzz_replay TARGET FOLDER

namespace {

namespace fs = std::filesystem;
namespace fuzz = radir::fuzz;

const std::map<std::string, fuzz::Target> kTargets = {
    {"table", fuzz::table},
    {"idx", fuzz::idx},
    {"safetensors", fuzz::safetensors},
    {"model", fuzz::model},
    {"checkpoint", fuzz::checkpoint},
    {"network", fuzz::network},
    {"config", fuzz::config},
    {"record", fuzz::record},
    {"onnx", fuzz::onnx}};

constexpr long kMostKilobytes = 512 * 1024;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

long peak_kilobytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int replay(fuzz::Target target, const fs::path& folder) {
  const std::vector<fs::path> files(fs::directory_iterator(folder), {});
  for (const fs::path& file : files) {
    std::cout << file.string() << std::endl;  // before it can crash
    fuzz::feed(target, read_bytes(file));
  }
  std::cout << files.size() << " inputs, at most " << peak_kilobytes()
            << " kB of memory\n";
  return !files.empty() && peak_kilobytes() <= kMostKilobytes ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = argc == 3 ? kTargets.find(argv[1]) : kTargets.end();
  if (target == kTargets.end()) {
    std::cerr << "usage: radir_fuzz_replay TARGET FOLDER\n";
    return 2;
  }
  try {
    return replay(target->second, argv[2]);
  } catch (const std::exception& error) {
    std::cout << "another exception than a reader may throw: " << error.what()
              << "\n";
    return 1;
  }
}
