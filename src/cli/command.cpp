#include "cli/command.h"

#include <utility>

namespace radir::cli {

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
                   "Threads to use; 0 takes all there are")
      ->check(not_negative)
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", common.json,
                    "Print one JSON document on standard output");
  command->callback([&invocation, action = std::move(action)] {
    invocation.action = [&invocation, action] { action(invocation.common); };
  });
  return command;
}

CLI::App* add_group(CLI::App& parent, const std::string& name,
                    const std::string& description) {
  return parent.add_subcommand(name, description);
}

}  // namespace radir::cli
