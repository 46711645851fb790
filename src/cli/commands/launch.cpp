#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"
#include "cli/training_run.h"
#include "radir/collective/launch.h"
#include "radir/core/cpu.h"

namespace radir::cli {
namespace {

struct LaunchWords {
  int workers = 2;
  int restarts = 0;
  std::string address = "127.0.0.1";
  int port = 0;
  bool verbose = false;
  std::chrono::milliseconds lease = std::chrono::seconds(10);
  std::vector<std::string> command;
};

/// This program. Its link is followed now: a new version may replace the file.
std::string own_path() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  RADIR_CHECK(size > 0, IoError, "cannot find the program's own file in /proc");
  path.resize(static_cast<std::size_t>(size));
  return path;
}

/// The processors are shared out, unless the command says otherwise.
std::vector<std::string> with_threads(const LaunchWords& words) {
  std::vector<std::string> command = words.command;
  const bool given =
      std::any_of(command.begin(), command.end(), [](const std::string& word) {
        return word == "--threads" || word.rfind("--threads=", 0) == 0;
      });
  if (!given) {
    const int each = std::max(1, available_threads() / words.workers);
    command.insert(command.end(), {"--threads", std::to_string(each)});
  }
  return command;
}

void launch(const LaunchWords& words) {
  RADIR_CHECK(words.command.front() != "launch", ArgumentError,
              "launch cannot start itself; give a command that trains");
  collective::LaunchOptions options;
  options.workers = words.workers;
  options.restarts = words.restarts;
  options.job.address.host = words.address;
  options.job.address.port = words.port;
  options.job.lease = words.lease;
  options.program = own_path();
  options.arguments = with_threads(words);
  options.on_line = [&](int rank, bool first, const std::string& line) {
    // Of a worker that fails, this is its message.
    if (!words.verbose && !first && line.rfind("radir: ", 0) != 0) return;
    std::cerr << "[" << rank << "] " << line << "\n";
  };
  options.on_event = say;
  const StopSignals signals;
  options.signal = [] { return StopSignals::received(); };
  const int code = collective::launch(options);
  if (code != 0) throw WorkersFailed(code);
}

}  // namespace

void add_launch(CLI::App& root, Invocation& invocation) {
  const auto words = std::make_shared<LaunchWords>();
  CLI::App* command = root.add_subcommand(
      "launch", "Run a command with several worker processes on this machine");
  command->footer(
      "Example:\n  radir launch --workers 4 -- reproduce uci --quick "
      "--data-dir "
      "data");
  command->callback([words, &invocation] {
    invocation.action = [words] { launch(*words); };
  });
  CLI::Option* workers =
      command->add_option("--workers", words->workers, "Number of processes")
          ->type_name("N")
          ->capture_default_str();
  check_integer(*workers, 1, 1000);
  CLI::Option* restarts =
      command
          ->add_option(
              "--restarts", words->restarts,
              "How often workers that were killed are started again, all "
              "together")
          ->type_name("N")
          ->capture_default_str();
  check_integer(*restarts, 0, 1000000);
  command
      ->add_option("--address", words->address,
                   "Address of this machine that workers connect to")
      ->type_name("ADDRESS")
      ->capture_default_str();
  CLI::Option* port = command
                          ->add_option("--port", words->port,
                                       "Port of the store; 0 for a free one")
                          ->type_name("N")
                          ->capture_default_str();
  check_integer(*port, 0, 65535);
  command
      ->add_option_function<std::string>(
          "--lease",
          [words](const std::string& text) {
            words->lease = parse_duration(text, "--lease");
          },
          "Time after which the work of a dead worker is taken by another")
      ->type_name("TIME")
      ->default_str("10s");
  command->add_flag("--verbose", words->verbose,
                    "Show what all workers write, not only the messages of "
                    "those after the first");
  command
      ->add_option("command", words->command,
                   "The command of radir and its options, after --")
      ->type_name("COMMAND ...")
      ->required();
}

}  // namespace radir::cli
