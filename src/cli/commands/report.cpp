#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/workflows/run_report.h"

namespace radir::cli {
namespace {

struct ReportCommand {
  std::string run;
  std::string out;
  bool force = false;
};

void report(const ReportCommand& command, const CommonOptions& common) {
  check_overwrite("--out", command.out, command.force);
  const workflows::RunReport report = workflows::report_run(command.run);
  const std::string file =
      command.out.empty()
          ? (std::filesystem::path(command.run) / "report.html").string()
          : command.out;
  RADIR_CHECK(!command.out.empty() || !std::filesystem::is_symlink(file),
              IoError, file,
              ": is a symbolic link, and links inside a run are ",
              "not followed; remove it or use --out");
  files::write_file(file, report.page);
  if (common.json) {
    const nlohmann::ordered_json document = {{"run", command.run},
                                             {"file", file},
                                             {"state", report.state},
                                             {"missing", report.missing}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::cout << "run     " << command.run << ": " << report.state << "\n"
            << "report  " << file << "\n";
  if (!report.missing.empty()) say(report.missing);
}

}  // namespace

void add_report(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<ReportCommand>();
  CLI::App* command = add_command(
      root, invocation,
      {"report", "Write a page about a run: curves, figures, model, settings",
       "radir report houses-run"},
      [options](const CommonOptions& common) { report(*options, common); });
  command->add_option("run", options->run, "Run folder, finished or not")
      ->type_name("RUN")
      ->required();
  command
      ->add_option(
          "--out", options->out,
          "HTML file to write (default: report.html in the run folder)")
      ->type_name("FILE");
  add_force_option(*command, options->force);
}

}  // namespace radir::cli
