#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"

namespace radir::cli {

/// Thrown by a command that looks for problems, finished its work and found
/// some. The exit code of the program is then 1.
class ProblemsFound : public Error {
 public:
  using Error::Error;
};

/// Thrown by a command whose worker processes failed, after they said why. The
/// exit code of the program is this one.
class WorkersFailed : public Error {
 public:
  explicit WorkersFailed(int code) : Error("a worker failed"), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Options of every command.
struct CommonOptions {
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all that are available
  Device device = Device::Cpu;
  bool json = false;
};

/// The parsed command line.
struct Invocation {
  CommonOptions common;
  std::function<void()> action;
};

/// The threads of a command. Warns when some could not be started.
class CommandThreads : public ThreadPool {
 public:
  explicit CommandThreads(const CommonOptions& common);
};

struct CommandInfo {
  std::string name;
  std::string description;
  std::string example;   ///< one command line, shown at the end of --help
  bool on_cuda = false;  ///< whether it can compute on a CUDA device
};

/// Adds a command under `parent`, with the common options. Parsing it stores
/// `action` in `invocation`; nothing runs before the complete line is parsed.
CLI::App* add_command(CLI::App& parent, Invocation& invocation,
                      const CommandInfo& info,
                      std::function<void(const CommonOptions&)> action);

/// Adds a name that only groups commands, such as "bench".
CLI::App* add_group(CLI::App& parent, const CommandInfo& info);

/// Makes every option of these commands refuse, in words of its own, what is
/// not a number (type X) or not an integer in the range of its type (N). The
/// parser would cut an integer that is too large to the largest.
void check_numbers(CLI::App& app);

/// Makes an option refuse, in the same words, what is not an integer in this
/// range.
void check_integer(CLI::Option& option, std::int64_t least, std::int64_t most);

/// Adds the positional argument that every command on a model takes.
void add_model_argument(CLI::App& command, std::string& model);

/// Throws ArgumentError when `out`, of the option `name`, is one of the files
/// that are read, under whatever name: they would be lost. "-" among the inputs
/// is standard input, a folder all files of the run or of the data there.
void check_not_input(const std::string& name, const std::string& out,
                     const std::vector<std::string>& inputs);

/// Adds --header.
void add_header_option(CLI::App& command, std::optional<bool>& header);

/// Adds --force.
void add_force_option(CLI::App& command, bool& force);

/// Throws ArgumentError when the file `out`, of the option `name`, has contents
/// that would be lost and `force` is not set.
void check_overwrite(const std::string& name, const std::string& out,
                     bool force);

/// Adds --data-dir.
void add_data_dir_option(CLI::App& command, std::string& data_dir);

/// Adds --threshold: "auto", which leaves it empty, or a score.
void add_threshold_option(CLI::App& command, std::optional<double>& threshold);

// One function, and one file in commands/, per top-level command.
void add_bench(CLI::App& root, Invocation& invocation);
/// `run` runs the command line made of these words.
void add_demo(CLI::App& root, Invocation& invocation,
              std::function<void(const std::vector<std::string>&)> run);
void add_compress(CLI::App& root, Invocation& invocation);
void add_data(CLI::App& root, Invocation& invocation);
void add_doctor(CLI::App& root, Invocation& invocation);
void add_evaluate(CLI::App& root, Invocation& invocation);
void add_export(CLI::App& root, Invocation& invocation);
void add_inspect(CLI::App& root, Invocation& invocation);
void add_launch(CLI::App& root, Invocation& invocation);
void add_predict(CLI::App& root, Invocation& invocation);
void add_prune(CLI::App& root, Invocation& invocation);
void add_report(CLI::App& root, Invocation& invocation);
void add_reproduce(CLI::App& root, Invocation& invocation);
void add_train(CLI::App& root, Invocation& invocation);
void add_version(CLI::App& root, Invocation& invocation);

// Commands of the group `reproduce` with a file of their own.
void add_reproduce_uci(CLI::App& reproduce, Invocation& invocation);
/// `dense`: LeNet-300-100 instead of LeNet-5.
void add_reproduce_lenet(CLI::App& reproduce, Invocation& invocation,
                         bool dense);

}  // namespace radir::cli
