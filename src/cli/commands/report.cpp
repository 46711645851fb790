#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/files/atomic_file.h"
#include "radir/io/run_folder.h"
#include "radir/io/target_runs.h"
#include "radir/workflows/run_findings.h"
#include "radir/workflows/run_report.h"

namespace radir::cli {
namespace {

struct ReportCommand {
  std::string run;
  std::string out;
  std::string test;
  bool force = false;
};

/// Writes the page of one run, and returns where.
std::string write_page(const std::string& run, const std::string& out,
                       const std::string& page) {
  const std::string file =
      out.empty() ? workflows::report_file(io::RunFolder::look_at(run)) : out;
  files::write_file(file, page);
  return file;
}

/// The pages that the page of several targets links to.
void write_target_pages(const ReportCommand& command,
                        const workflows::ReportOptions& options,
                        ThreadPool& pool) {
  const auto runs = io::target_runs(command.run);
  if (runs.empty()) return;
  if (!command.out.empty()) {
    io::check_one_target(command.run,
                         {"radir report", "--out " + shell_word(command.out)});
  }
  RADIR_CHECK(command.test != "-", ArgumentError,
              "standard input can be read only once; for several targets, ",
              "write it to a file");
  for (const io::TargetRun& run : runs) {
    if (!io::RunFolder::is_begun(run.path)) continue;
    write_page(run.path, "",
               workflows::report_run(run.path, options, &pool).page);
  }
}

void report(const ReportCommand& command, const CommonOptions& common) {
  check_not_input("--out", command.out, {command.run, command.test});
  check_overwrite("--out", command.out, command.force);
  CommandThreads pool(common);
  workflows::ReportOptions options;
  options.test = command.test;
  options.prediction.seed = common.seed;
  write_target_pages(command, options, pool);
  if (!io::target_runs(command.run).empty()) options.test.clear();
  const workflows::RunReport report =
      workflows::report_run(command.run, options, &pool);
  const std::string file = write_page(command.run, command.out, report.page);
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
      {"report", "Write a page about a run: scores, columns, curves, settings",
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
  command
      ->add_option("--test", options->test,
                   "Table with the target, whose rows the page scores as well")
      ->type_name("TABLE");
  add_force_option(*command, options->force);
}

}  // namespace radir::cli
