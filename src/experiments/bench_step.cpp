#include "radir/experiments/bench_step.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <string>

#include "radir/core/error.h"

namespace radir::experiments {
namespace {

constexpr char kModule[] = "radir_yardstick.so";

/// Folder of the running program, with a slash at the end.
std::string program_folder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  RADIR_CHECK(length > 0, IoError, "cannot find the folder of this program");
  const std::string program(path, static_cast<std::size_t>(length));
  return program.substr(0, program.rfind('/') + 1);
}

/// The module lies beside the program in a build folder, and in the library
/// folder of an installation. It stays loaded: libtorch cannot be unloaded.
void* load_module() {
  std::string failures;
  for (const char* folder : {"", "../" RADIR_MODULE_FOLDER "/"}) {
    const std::string path = program_folder() + folder + kModule;
    if (void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return module;
    }
    failures += std::string("\n  ") + dlerror();
  }
  detail::throw_error<UnsupportedError>(
      "this measurement needs libtorch and its module ", kModule,
      ", which could not be loaded; build with RADIR_WITH_TORCH=ON:", failures);
}

template <typename Function>
Function* module_function(const char* name) {
  static void* const module = load_module();
  void* symbol = dlsym(module, name);
  RADIR_CHECK(symbol != nullptr, UnsupportedError, kModule, " has no ", name,
              "; it belongs to another version of this program");
  return reinterpret_cast<Function*>(symbol);
}

template <typename Row, typename Matches>
const Row& find_row(const std::vector<Row>& rows, Matches matches) {
  for (const Row& row : rows) {
    if (matches(row)) return row;
  }
  throw ArgumentError("benchmark: there is no such row");
}

}  // namespace

const BenchStepRow& BenchStepResult::row(const std::string& network,
                                         std::int64_t batch,
                                         const std::string& variant,
                                         int threads) const {
  return find_row(rows, [&](const BenchStepRow& row) {
    return row.network == network && row.batch == batch &&
           row.variant == variant && row.threads == threads;
  });
}

const BenchPredictRow& BenchPredictResult::row(
    std::int64_t count, const std::string& variant) const {
  return find_row(rows, [&](const BenchPredictRow& row) {
    return row.rows == count && row.variant == variant;
  });
}

BenchStepResult bench_step(const BenchStepOptions& options) {
  for (const std::string& network : options.networks) {
    RADIR_CHECK(network == "uci" || network == "lenet5", ArgumentError,
                "bench step: the networks are uci and lenet5, but got \"",
                network, "\"");
  }
  RADIR_CHECK(options.rounds > 0, ArgumentError,
              "bench step: rounds must be positive, but is ", options.rounds);
  for (int threads : options.threads) {
    RADIR_CHECK(threads > 0, ArgumentError,
                "bench step: threads must be positive, but is ", threads);
  }
  BenchStepResult result;
  module_function<void(const BenchStepOptions&, BenchStepResult&)>(
      "radir_bench_step")(options, result);
  return result;
}

BenchPredictResult bench_predict(const BenchPredictOptions& options) {
  RADIR_CHECK(options.rounds > 0 && options.samples > 0 && options.threads > 0,
              ArgumentError,
              "bench predict: rounds, samples and threads must be positive");
  for (std::int64_t rows : options.rows) {
    RADIR_CHECK(rows > 0, ArgumentError,
                "bench predict: rows must be positive, but is ", rows);
  }
  BenchPredictResult result;
  module_function<void(const BenchPredictOptions&, BenchPredictResult&)>(
      "radir_bench_predict")(options, result);
  return result;
}

}  // namespace radir::experiments
