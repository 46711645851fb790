#include "radir/workflows/doctor.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "radir/core/shell_text.h"

namespace radir::workflows {
namespace {

using Kind = Finding::Kind;

constexpr double kGiB = 1 << 30;
/// LeNet-5 on MNIST takes some 600 MiB.
constexpr double kLeastMemoryGiB = 1;
/// A run with its checkpoints takes some tens of megabytes.
constexpr double kLeastDiskGiB = 0.25;
/// A BLAS slower than this part of our own product has the wrong kernels.
constexpr double kSlowBlas = 0.5;
/// So has a product of ours below this part of the peak.
constexpr double kSlowProduct = 0.4;

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string gibibytes(std::int64_t bytes) {
  return number(static_cast<double>(bytes) / kGiB, 1) + " GiB";
}

class Doctor {
 public:
  explicit Doctor(const MachineFacts& facts) : facts_(facts) {}

  std::vector<Finding> run() {
    processor();
    threads();
    speed();
    libtorch();
    cuda();
    memory();
    disk();
    data();
    return std::move(findings_);
  }

 private:
  void add(Kind kind, const char* subject, std::string text,
           std::string fix = "") {
    findings_.push_back({kind, subject, std::move(text), std::move(fix)});
  }

  void processor() {
    const std::string text =
        facts_.cpu + ", " + to_string(facts_.isa) + " kernels";
    if (!facts_.wished_isa.empty()) {
      add(Kind::Note, "processor", text + ", set by RADIR_ISA",
          "unset RADIR_ISA to use the best instruction set");
    } else if (facts_.isa == Isa::Generic) {
      add(Kind::Note, "processor",
          text + ": no AVX2, so everything is several times slower",
          "in a virtual machine, pass through the host's processor");
    } else {
      add(Kind::Good, "processor", text);
    }
  }

  void threads() {
    const std::string count = std::to_string(facts_.threads);
    // Threads that get half a processor each wait for one another.
    if (facts_.granted > 0 && facts_.granted < facts_.threads - 0.5) {
      const int fitting = std::max(1, static_cast<int>(facts_.granted));
      add(Kind::Problem, "threads",
          count + " threads, but the control group allows only " +
              number(facts_.granted, 1) + " processors",
          "use --threads " + std::to_string(fitting) +
              ", or raise the limit (cpu.max, docker's --cpus)");
    } else if (facts_.load > facts_.threads + 0.5) {
      add(Kind::Note, "threads",
          count + ", but " + number(facts_.load, 1) +
              " are running: other programs use the processor",
          "wait until they have finished, or use fewer --threads");
    } else {
      add(Kind::Good, "threads", count);
    }
  }

  void speed() {
    const Speeds& speeds = facts_.speeds;
    const double share = speeds.product / speeds.peak;
    const std::string text = "our matrix product " + number(speeds.product, 1) +
                             " GFLOP/s, " + number(100 * share, 0) +
                             " % of the " + number(speeds.peak, 1) +
                             " that multiply-adds reach (one thread, float)";
    if (share >= kSlowProduct) {
      add(Kind::Good, "speed", text);
    } else {
      add(Kind::Note, "speed", text + "; this is slow",
          "stop other programs and start again");
    }
  }

  void libtorch() {
    if (!facts_.no_libtorch.empty()) {
      add(Kind::Note, "libtorch",
          "not found; only bench step, bench predict and TorchScript need it",
          "install libtorch-dev and build with RADIR_WITH_TORCH=ON; radir "
          "bench step says what is missing");
      return;
    }
    add(Kind::Good, "libtorch", "its modules load");
    blas();
  }

  /// Training and predicting use no BLAS; libtorch does.
  void blas() {
    const Speeds& speeds = facts_.speeds;
    const double share = speeds.blas / speeds.product;
    const std::string text = "libtorch's (" + facts_.blas + ") " +
                             number(speeds.blas, 1) + " GFLOP/s, " +
                             number(100 * share, 0) + " % of our product's";
    if (share >= kSlowBlas) {
      add(Kind::Good, "blas", text);
    } else if (facts_.blas.find("openblas") != std::string::npos) {
      add(Kind::Problem, "blas", text + ": it does not recognise the processor",
          std::string("set OPENBLAS_CORETYPE=") +
              (facts_.isa == Isa::Avx512 ? "SkylakeX" : "Haswell"));
    } else {
      add(Kind::Problem, "blas", text + ": slow",
          "install libopenblas0-pthread, or choose a fast one with "
          "update-alternatives --config libblas.so.3-x86_64-linux-gnu");
    }
  }

  void cuda() {
    const std::string unused = "; all commands run on the processor";
    if (!facts_.has_cuda_driver) {
      add(Kind::Good, "cuda", "no NVIDIA driver" + unused);
    } else if (facts_.cuda_status != 0) {
      add(Kind::Note, "cuda",
          "the NVIDIA driver cannot be initialised (cuInit returns " +
              std::to_string(facts_.cuda_status) + ")" + unused,
          "check with nvidia-smi");
    } else {
      std::string names;
      for (const std::string& name : facts_.cuda_devices) {
        names += (names.empty() ? "" : ", ") + name;
      }
      add(Kind::Good, "cuda",
          names.empty() ? "no device" + unused
                        : names + "; used with --device cuda");
    }
  }

  void memory() {
    const std::string text = gibibytes(facts_.available_memory_bytes) + " of " +
                             gibibytes(facts_.memory_bytes) + " free";
    if (static_cast<double>(facts_.available_memory_bytes) <
        kLeastMemoryGiB * kGiB) {
      add(Kind::Problem, "memory", text,
          "close programs, or raise the limit of the container");
    } else {
      add(Kind::Good, "memory", text);
    }
  }

  void disk() {
    const std::string text =
        gibibytes(facts_.free_disk_bytes) + " free in this folder";
    if (!facts_.can_write_here) {
      add(Kind::Note, "disk", "this folder is not writable",
          "use --out with a folder you may write to");
    } else if (static_cast<double>(facts_.free_disk_bytes) <
               kLeastDiskGiB * kGiB) {
      add(Kind::Problem, "disk", text,
          "free some space, or use --out with a folder on another disk");
    } else {
      add(Kind::Good, "disk", text);
    }
  }

  void data() {
    if (facts_.data_dir.empty()) {
      add(Kind::Note, "data", "no data folder given",
          fetch("mnist", "data") + " creates one; then set RADIR_DATA_DIR");
    } else if (!facts_.has_data_dir) {
      add(Kind::Problem, "data",
          "the data folder " + facts_.data_dir + " does not exist",
          "check --data-dir or RADIR_DATA_DIR, or: " +
              fetch("all", facts_.data_dir));
    } else {
      data_sets();
    }
    if (!facts_.can_download) {
      add(Kind::Note, "data", "this program was built without libcurl",
          "install libcurl4-openssl-dev and build with RADIR_WITH_CURL=ON");
    }
  }

  void data_sets() {
    std::string complete;
    std::string absent;
    for (const auto& [name, check] : facts_.data_sets) {
      const auto list = [name = name](std::string& names) {
        names += (names.empty() ? "" : ", ") + name;
      };
      switch (check.state) {
        case data::DataSetState::Complete:
          list(complete);
          break;
        case data::DataSetState::Absent:
          list(absent);
          break;
        case data::DataSetState::Incomplete:
        case data::DataSetState::Damaged:
          add(Kind::Problem, "data", check.problem,
              fetch(name, facts_.data_dir));
      }
    }
    if (!complete.empty()) add(Kind::Good, "data", complete + " as published");
    if (!absent.empty()) {
      add(Kind::Note, "data", absent + " not in " + facts_.data_dir,
          fetch("all", facts_.data_dir));
    }
  }

  static std::string fetch(const std::string& name, const std::string& dir) {
    return "radir data fetch " + name + " --data-dir " + shell_word(dir);
  }

  const MachineFacts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

const char* to_string(Finding::Kind kind) {
  switch (kind) {
    case Kind::Problem:
      return "problem";
    case Kind::Note:
      return "note";
    case Kind::Good:
      break;
  }
  return "ok";
}

std::vector<Finding> diagnose(const MachineFacts& facts) {
  return Doctor(facts).run();
}

}  // namespace radir::workflows
