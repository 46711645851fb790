#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/cpu.h"
#include "radir/data/dataset.h"

namespace radir::workflows {

/// Floating-point operations a second on one thread, in units of
/// 10^9; the best of several alternating measurements.
struct Speeds {
  double peak = 0;     ///< multiply-adds in registers alone
  double product = 0;  ///< our own matrix product
  double blas = 0;     ///< libtorch's BLAS; 0 without it
};

struct DataSetFinding {
  std::string name;
  data::DataSetCheck check;
};

/// The parts of a machine that matter to this program.
struct MachineFacts {
  std::string cpu;
  Isa isa = Isa::Generic;
  std::string wished_isa;  ///< the variable RADIR_ISA
  int threads = 0;         ///< the process may run on
  double granted = 0;      ///< processors of its control group; 0: no limit
  double load = 0;         ///< threads that want to run, of all programs
  std::int64_t memory_bytes = 0;            ///< of the machine or control group
  std::int64_t available_memory_bytes = 0;  ///< of those, now
  std::int64_t free_disk_bytes = 0;         ///< for the working folder
  bool can_write_here = false;              ///< in the working folder
  Speeds speeds;
  std::string blas;         ///< file of libtorch's BLAS
  std::string no_libtorch;  ///< why the modules that link it do not load
  bool has_cuda_driver = false;
  int cuda_status = 0;  ///< what cuInit() says; 0 is good
  std::vector<std::string> cuda_devices;
  bool can_download = false;
  std::string data_dir;  ///< "" when none is known
  bool has_data_dir = false;
  std::vector<DataSetFinding> data_sets;
};

struct Finding {
  enum class Kind { Good, Note, Problem };
  Kind kind = Kind::Good;
  std::string subject;  ///< "threads"
  std::string text;
  std::string fix;  ///< what to do, of every problem
};

/// "ok", "note", "problem".
const char* to_string(Finding::Kind kind);

/// Inspects this machine and the data folder `data_dir` ("" for none). Takes
/// a second or two.
MachineFacts examine_machine(const std::string& data_dir);

/// What is good, and what is wrong, with its fix.
std::vector<Finding> diagnose(const MachineFacts& facts);

/// This machine in a line: processor, instruction set, threads, memory. Part of
/// every run's config.json.
std::string machine_line();

}  // namespace radir::workflows
