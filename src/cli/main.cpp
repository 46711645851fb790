#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/escaping_buffer.h"
#include "cli/parse_error.h"
#include "cli/training_run.h"
#include "cli/watched_buffer.h"
#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/nearest_name.h"
#include "radir/core/version.h"
#include "radir/files/system_error.h"
#include "radir/files/utf8.h"

namespace radir::cli {
namespace {

// Exit codes are part of the interface: scripts depend on them.
constexpr int kProblemsFound = 1;
constexpr int kBug = 1;
constexpr int kBadArgument = 2;
constexpr int kNumericalFailure = 3;
constexpr int kFileFailure = 4;
constexpr int kUnsupported = 5;
constexpr int kOutOfMemory = 6;
constexpr int kSignal = 128;  // plus its number, as shells do

int exit_code(const std::exception& error) {
  if (const auto* stopped = dynamic_cast<const StoppedBySignal*>(&error)) {
    return kSignal + stopped->signal();
  }
  if (const auto* failed = dynamic_cast<const WorkersFailed*>(&error)) {
    return failed->code();
  }
  if (dynamic_cast<const ProblemsFound*>(&error)) return kProblemsFound;
  if (dynamic_cast<const ArgumentError*>(&error)) return kBadArgument;
  if (dynamic_cast<const DomainError*>(&error)) return kBadArgument;
  if (dynamic_cast<const NumericalError*>(&error)) return kNumericalFailure;
  if (dynamic_cast<const IoError*>(&error)) return kFileFailure;
  if (dynamic_cast<const UnsupportedError*>(&error)) return kUnsupported;
  if (dynamic_cast<const MemoryError*>(&error)) return kOutOfMemory;
  return kBug;
}

int report_failure(const std::exception& error) {
  const int code = exit_code(error);
  std::cout.exceptions(std::ios::goodbit);  // standard error flushes it
  std::cerr << "radir: " << one_line(error.what());
  if (code == kBug && !dynamic_cast<const ProblemsFound*>(&error) &&
      !dynamic_cast<const WorkersFailed*>(&error)) {
    std::cerr << " (this is a bug: please report it with the command line and "
                 "radir "
              << version() << ")";
  }
  std::cerr << "\n";
  return code;
}

/// The innermost command that was parsed, from `app` down.
const CLI::App& deepest_parsed(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest_parsed(*parsed.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* subcommand : app.get_subcommands(all)) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

/// Throws ArgumentError for the first unknown word.
[[noreturn]] void reject_word(const CLI::App& app, const std::string& word) {
  const bool is_option = word.front() == '-';
  const std::vector<std::string> commands = subcommand_names(app);
  const std::vector<std::string> options = option_names(app);
  const char* kind = is_option          ? "unknown option"
                     : commands.empty() ? "unexpected argument"
                                        : "unknown command";
  // An option may carry its value: --ouT=file.
  const std::string name = word.substr(0, word.find('='));
  RADIR_CHECK(std::find(options.begin(), options.end(), name) == options.end(),
              ArgumentError, name,
              " must follow the command it belongs to: ", full_name(app),
              " ... ", word);
  throw ArgumentError(std::string(kind) + " \"" + name + "\"" +
                      did_you_mean(name, is_option ? options : commands) +
                      " (see " + full_name(app) + " --help)");
}

/// "radir help train" as "radir train --help".
void translate_help(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  if (arguments == std::vector<std::string>{"help"}) arguments.clear();
  arguments.emplace_back("--help");
}

int run(std::vector<std::string> arguments) {
  for (const std::string& word : arguments) {
    RADIR_CHECK(files::is_utf8(word), ArgumentError, "the argument \"", word,
                "\" is not valid UTF-8, as JSON requires; rename the file");
  }
  CLI::App root(
      "Bayesian neural networks with radial and directional posteriors",
      "radir");
  root.set_version_flag("--version", version());
  root.set_help_flag("-h,--help", "Print this help and exit");
  root.footer("Example:\n  radir demo");
  root.allow_extras();  // reject_word() says more than the parser does
  Invocation invocation;
  add_demo(root, invocation,
           [](const std::vector<std::string>& words) { run(words); });
  add_train(root, invocation);
  add_predict(root, invocation);
  add_evaluate(root, invocation);
  add_compress(root, invocation);
  add_prune(root, invocation);
  add_inspect(root, invocation);
  add_launch(root, invocation);
  add_export(root, invocation);
  add_report(root, invocation);
  add_reproduce(root, invocation);
  add_data(root, invocation);
  add_bench(root, invocation);
  add_doctor(root, invocation);
  add_version(root, invocation);

  check_numbers(root);

  try {
    translate_help(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as the parser asks
    root.parse(arguments);
  } catch (const CLI::Success& help_or_version) {
    const std::vector<std::string> words = root.remaining(true);
    if (!words.empty() && words.front().front() != '-') {
      reject_word(deepest_parsed(root), words.front());
    }
    return root.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    throw ArgumentError(text_of(error, deepest_parsed(root)));
  }
  const CLI::App& command = deepest_parsed(root);
  std::vector<std::string> untaken = root.remaining(true);
  // The mark before positional arguments is no argument itself.
  untaken.erase(std::remove(untaken.begin(), untaken.end(), "--"),
                untaken.end());
  if (!untaken.empty()) reject_word(command, untaken.front());
  if (!invocation.action) {
    std::cerr << (&command == &root ? root.help()
                                    : command.help(root.get_name()));
    return kBadArgument;
  }
  invocation.action();
  return 0;
}

constexpr const char* kNoMemory =
    "out of memory; close other programs, raise the limit (ulimit -v), or use "
    "a smaller table, batch or network";

std::terminate_handler default_terminate = nullptr;

/// Destructors of the JSON library allocate; when memory runs out there, no
/// exception can pass, and the program ends here.
[[noreturn]] void end_without_memory() {
  try {
    if (const auto error = std::current_exception()) {
      std::rethrow_exception(error);
    }
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "radir: %s\n", kNoMemory);
    ::_exit(kOutOfMemory);
  } catch (...) {
    // another reason; the handler below names it
  }
  default_terminate();
  std::abort();
}

/// Gives the descriptors of closed standard streams to files that can be
/// neither read nor written, so that no file of a run gets one of them, and
/// with it what the program prints.
void occupy_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free descriptor, which is this one.
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Runs the program; its exit code. The error number `reason` is that of the
/// failed write: what ends the command then changes errno itself.
int run_reporting(int argc, char** argv, const int& reason) {
  try {
    const int code = run({argv + 1, argv + argc});
    std::cout.flush();
    return code;
  } catch (const std::ios_base::failure&) {
    return report_failure(IoError("cannot write to standard output: " +
                                  files::explain_errno(reason)));
  } catch (const std::bad_alloc&) {
    return report_failure(MemoryError(kNoMemory));
  } catch (const std::exception& error) {
    return report_failure(error);
  }
}

}  // namespace
}  // namespace radir::cli

int main(int argc, char** argv) {
  radir::cli::occupy_closed_streams();
  radir::cli::default_terminate =
      std::set_terminate(radir::cli::end_without_memory);
  // A file that grows beyond `ulimit -f` is then an error with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // Names in messages, and on a terminal in results, are shown as text.
  const radir::cli::EscapingBuffer messages(std::cerr);
  const radir::cli::WatchedBuffer written(std::cout);
  std::optional<radir::cli::EscapingBuffer> results;
  if (::isatty(STDOUT_FILENO) != 0) results.emplace(std::cout);
  // No command has to check what it prints: a failed write ends it.
  std::cout.exceptions(std::ios::badbit | std::ios::failbit);
  const int code = radir::cli::run_reporting(argc, argv, written.error());
  std::cout.exceptions(std::ios::goodbit);  // the library flushes once more
  return code;
}
