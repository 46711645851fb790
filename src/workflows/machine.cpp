#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "radir/core/error.h"
#include "radir/data/dataset.h"
#include "radir/data/download.h"
#include "radir/kernels/throughput.h"
#include "radir/workflows/doctor.h"
#include "radir/workflows/torch_module.h"
#include "workflows/machine_limits.h"

namespace radir::workflows {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMatrixSize = 384;
constexpr int kTurns = 12;
constexpr std::int64_t kRounds = 20000;

/// sgemm of a BLAS, by reference as Fortran calls it.
using Sgemm = void(const char*, const char*, const int*, const int*, const int*,
                   const float*, const float*, const int*, const float*,
                   const int*, const float*, float*, const int*);

struct Matrices {
  std::vector<float> a, b, c;
  Matrices() {
    const auto count = static_cast<std::size_t>(kMatrixSize * kMatrixSize);
    a.assign(count, 0.5f);
    b.assign(count, 0.25f);
    c.assign(count, 0.0f);
  }
};

constexpr double kProductOperations =
    2.0 * kMatrixSize * kMatrixSize * kMatrixSize;

void run_blas(Sgemm* sgemm, Matrices& m) {
  const int size = static_cast<int>(kMatrixSize);
  const float one = 1;
  const float zero = 0;
  sgemm("N", "N", &size, &size, &size, &one, m.a.data(), &size, m.b.data(),
        &size, &zero, m.c.data(), &size);
}

/// Operations a nanosecond of one call, which returns its operations.
double speed_of(const std::function<double()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double operations = work();
  return operations /
         std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

Speeds measure_speeds(Sgemm* sgemm) {
  Speeds best;
  Matrices m;
  for (int turn = 0; turn < kTurns; ++turn) {
    best.peak =
        std::max(best.peak,
                 speed_of([] { return kernels::run_multiply_adds(kRounds); }));
    best.product =
        std::max(best.product, speed_of([&] {
                   kernels::multiply_matrices(kMatrixSize, m.a.data(),
                                              m.b.data(), m.c.data());
                   return kProductOperations;
                 }));
    if (sgemm == nullptr) continue;
    best.blas = std::max(best.blas, speed_of([&] {
                           run_blas(sgemm, m);
                           return kProductOperations;
                         }));
  }
  return best;
}

/// The file a function was loaded from, links followed.
std::string file_of(void* function) {
  Dl_info info;
  if (::dladdr(function, &info) == 0) return "";
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? info.dli_fname : file.string();
}

/// OpenBLAS would take all threads; others have no such function.
void use_one_thread(const std::string& blas) {
  void* const library = ::dlopen(blas.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  if (void* set = ::dlsym(library, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(set)(1);
  }
}

/// The BLAS that libtorch uses, told to use one thread; null, and why, without
/// libtorch.
Sgemm* find_blas(MachineFacts& facts) {
  const std::string module = "radir_baselines.so";
  try {
    void* const sgemm = module_symbol(module, "sgemm_");
    facts.blas = file_of(sgemm);
    use_one_thread(facts.blas);
    return reinterpret_cast<Sgemm*>(sgemm);
  } catch (const UnsupportedError& error) {
    facts.no_libtorch = error.what();
    return nullptr;
  }
}

/// Asks the NVIDIA driver, if there is one, by its C interface.
void find_cuda(MachineFacts& facts) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return;
  facts.has_cuda_driver = true;
  const auto init =
      reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count =
      reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(
      ::dlsym(driver, "cuDeviceGetName"));
  if (init == nullptr || count == nullptr || name == nullptr) return;
  facts.cuda_status = init(0);
  int devices = 0;
  if (facts.cuda_status != 0 || count(&devices) != 0) return;
  for (int device = 0; device < devices; ++device) {
    char text[256] = "";
    if (name(text, sizeof text, device) == 0) {
      facts.cuda_devices.emplace_back(text);
    }
  }
}

void look_at_data(const std::string& dir, MachineFacts& facts) {
  std::error_code error;
  facts.data_dir = dir;
  facts.has_data_dir = fs::is_directory(dir, error);
  if (!facts.has_data_dir) return;
  for (const data::DataSet& set : data::data_sets()) {
    facts.data_sets.push_back({set.name, data::check_data_set(dir, set)});
  }
}

}  // namespace

MachineFacts examine_machine(const std::string& data_dir) {
  MachineFacts facts;
  facts.cpu = cpu_name();
  facts.isa = active_isa();
  if (const char* wish = std::getenv("RADIR_ISA")) facts.wished_isa = wish;
  facts.threads = available_threads();
  facts.granted = granted_processors();
  ::getloadavg(&facts.load, 1);
  facts.memory_bytes = memory_bytes();
  facts.available_memory_bytes = available_memory_bytes();
  std::error_code error;
  const fs::space_info space = fs::space(".", error);
  if (!error)
    facts.free_disk_bytes = static_cast<std::int64_t>(space.available);
  facts.can_write_here = ::access(".", W_OK) == 0;
  facts.speeds = measure_speeds(find_blas(facts));
  find_cuda(facts);
  facts.can_download = data::has_download();
  look_at_data(data_dir, facts);
  return facts;
}

std::string machine_line() {
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f GiB",
                static_cast<double>(memory_bytes()) / (1 << 30));
  return cpu_name() + ", " + to_string(active_isa()) + " kernels, " +
         std::to_string(available_threads()) + " threads, " + memory;
}

}  // namespace radir::workflows
