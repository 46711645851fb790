#include "cli/command.h"

#include <cmath>
#include <utility>

#include "radir/core/error.h"

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

}  // namespace

CLI::App* add_command(CLI::App& parent, Invocation& invocation,
                      const CommandInfo& info,
                      std::function<void(const CommonOptions&)> action) {
  CLI::App* command = parent.add_subcommand(info.name, info.description);
  command->footer("Example:\n  " + info.example);
  CommonOptions& common = invocation.common;
  // Without a description, so that the help says N and not N:NONNEGATIVE.
  const CLI::Validator not_negative = CLI::NonNegativeNumber.description("");
  command->add_option("--seed", common.seed, "Seed of all random numbers")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--threads", common.threads,
                   "Number of threads; 0 for all processors")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--device",
          [&common](const std::string& name) {
            common.device = parse_device(name);
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

CLI::App* add_group(CLI::App& parent, const std::string& name,
                    const std::string& description) {
  CLI::App* group = parent.add_subcommand(name, description);
  group->footer("See radir " + name + " COMMAND --help");
  return group;
}

void add_model_argument(CLI::App& command, std::string& model) {
  command.add_option("model", model, "Run folder or model file")
      ->type_name("RUN|MODEL")
      ->required();
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
      ->type_name("X")
      ->default_str("auto");
}

}  // namespace radir::cli
