#include "cli/command.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "cli/progress.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/io/run_folder.h"

namespace radir::cli {
namespace {

std::optional<double> parse_threshold(const std::string& text) {
  if (text == "auto") return std::nullopt;
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size() && std::isfinite(value)) return value;
  } catch (const std::exception&) {
  }
  detail::throw_error<ArgumentError>(
      "--threshold must be auto or a number (the log of a radius), but got \"",
      text, "\"");
}

constexpr const char* kSeedOption = "seed";

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  // The parser takes a leading plus, from_chars does not.
  const char* const begin = text.data() + (text.rfind('+', 0) == 0 ? 1 : 0);
  const char* const end = text.data() + text.size();
  Number value{};
  const auto [rest, error] = std::from_chars(begin, end, value);
  return error == std::errc() && rest == end ? std::optional(value)
                                             : std::nullopt;
}

/// What is wrong with a text that should be an integer; nothing if it is one.
template <typename Integer>
std::string integer_problem(
    const std::string& text,
    Integer least = std::numeric_limits<Integer>::min(),
    Integer most = std::numeric_limits<Integer>::max()) {
  const std::optional<Integer> value = number_in<Integer>(text);
  if (value && least <= *value && *value <= most) return "";
  return "must be an integer from " + std::to_string(least) + " to " +
         std::to_string(most) + ", but is \"" + text + "\"";
}

std::string threads_problem(const std::string& text) {
  constexpr const char* kDigits = "0123456789";
  const bool good = !text.empty() && text.size() <= 4 &&
                    text.find_first_not_of(kDigits) == std::string::npos &&
                    std::stoi(text) <= 1024;
  return good ? ""
              : "must be an integer from 0 (all) to 1024, but is \"" + text +
                    "\"";
}

/// "N", "N,N,...", but not "NAME".
bool is_integer_type(const std::string& type) {
  return !type.empty() && (type.front() == 'N' || type.front() == 'K') &&
         (type.size() == 1 || std::isalpha(type[1]) == 0);
}

std::string number_problem(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool good = !text.empty() && *end == '\0' && std::isfinite(value);
  return good ? "" : "must be a number, but is \"" + text + "\"";
}

/// The files that a command with this input may read.
std::vector<std::string> files_of(const std::string& input) {
  namespace fs = std::filesystem;
  if (input == "-") return {"/dev/stdin"};
  std::error_code error;
  if (!fs::is_directory(input, error)) return {input};
  std::vector<std::string> names = io::RunFolder::names_in(input);
  if (names.empty()) {
    names = files::names_in_folder(input).value_or(std::vector<std::string>());
  }
  for (std::string& name : names) name = (fs::path(input) / name).string();
  return names;
}

}  // namespace

CommandThreads::CommandThreads(const CommonOptions& common)
    : ThreadPool(common.threads) {
  const int wanted = common.threads == 0 ? available_threads() : common.threads;
  if (size() == wanted) return;
  say(std::to_string(wanted - size()) + " of " + std::to_string(wanted) +
      " threads could not be started; the program uses " +
      std::to_string(size()) + " (see ulimit -u and -v)");
}

CLI::App* add_command(CLI::App& parent, Invocation& invocation,
                      const CommandInfo& info,
                      std::function<void(const CommonOptions&)> action) {
  CLI::App* command = parent.add_subcommand(info.name, info.description);
  command->footer("Example:\n  " + info.example);
  CommonOptions& common = invocation.common;
  command
      ->add_option(std::string("--") + kSeedOption, common.seed,
                   "Seed of all random numbers")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--threads", common.threads,
                   "Number of threads; 0 for all processors")
      ->check(threads_problem, "")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--device",
          [&common, info](const std::string& name) {
            common.device = parse_device(name);
            RADIR_CHECK(common.device != Device::Cuda || info.on_cuda,
                        UnsupportedError, "--device cuda: the command ",
                        info.name,
                        " computes on the CPU; leave the option out (train, ",
                        "reproduce uci and bench step can use a GPU)");
          },
          "Device to compute on: cpu, cuda or auto")
      ->type_name("NAME")
      ->default_str("auto");
  command->add_flag("--json", common.json,
                    "Print one JSON document on standard output");
  command->callback([&invocation, action = std::move(action)] {
    invocation.action = [&invocation, action] { action(invocation.common); };
  });
  return command;
}

CLI::App* add_group(CLI::App& parent, const CommandInfo& info) {
  CLI::App* group = parent.add_subcommand(info.name, info.description);
  group->footer("See radir " + info.name + " COMMAND --help\n\nExample:\n  " +
                info.example);
  return group;
}

void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const auto check = [option](std::string (*problem)(const std::string&)) {
      // Without a description, or the help would show it.
      option->check(
          [problem](const std::string& text) { return problem(text); }, "");
    };
    if (type == "X" || type == "P") check(number_problem);
    if (!is_integer_type(type)) continue;
    if (option->check_lname(kSeedOption)) {
      check([](const std::string& text) {
        return integer_problem<std::uint64_t>(text);
      });
    } else {
      check([](const std::string& text) {
        return integer_problem<std::int64_t>(text);
      });
    }
  }
  const auto all = [](const CLI::App*) { return true; };
  for (CLI::App* subcommand : app.get_subcommands(all)) {
    check_numbers(*subcommand);
  }
}

void check_integer(CLI::Option& option, std::int64_t least, std::int64_t most) {
  option.check(
      [least, most](const std::string& text) {
        return integer_problem<std::int64_t>(text, least, most);
      },
      "");
}

void add_model_argument(CLI::App& command, std::string& model) {
  command.add_option("model", model, "Run folder or model file")
      ->type_name("RUN|MODEL")
      ->required();
}

void check_not_input(const std::string& name, const std::string& out,
                     const std::vector<std::string>& inputs) {
  std::error_code error;  // one that does not exist is no input
  for (const std::string& input : inputs) {
    for (const std::string& file : files_of(input)) {
      RADIR_CHECK(!std::filesystem::equivalent(out, file, error), ArgumentError,
                  name, " ", out, ": is the file that is read (",
                  input == "-" ? "standard input" : file,
                  "); choose another path");
    }
  }
}

void add_header_option(CLI::App& command, std::optional<bool>& header) {
  command
      .add_option_function<std::string>(
          "--header",
          [&header](const std::string& text) {
            RADIR_CHECK(text == "yes" || text == "no", ArgumentError,
                        "--header must be yes or no, but is \"", text, "\"");
            header = text == "yes";
          },
          "Whether the first row holds the names of the columns: yes or no "
          "(default: found out)")
      ->type_name("YES|NO");
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace an existing file");
}

void check_overwrite(const std::string& name, const std::string& out,
                     bool force) {
  std::error_code error;
  RADIR_CHECK(force || !std::filesystem::is_regular_file(out, error) ||
                  std::filesystem::file_size(out, error) == 0,
              ArgumentError, name, " ", out,
              ": already exists; choose another path, or add --force to ",
              "replace it");
}

void add_data_dir_option(CLI::App& command, std::string& data_dir) {
  command
      .add_option("--data-dir", data_dir,
                  "Data folder (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
}

void add_threshold_option(CLI::App& command, std::optional<double>& threshold) {
  command
      .add_option_function<std::string>(
          "--threshold",
          [&threshold](const std::string& text) {
            threshold = parse_threshold(text);
          },
          "Score (log of a radius) below which units are removed, or auto")
      ->type_name("X|auto")
      ->default_str("auto");
}

}  // namespace radir::cli
