#include "radir/workflows/doctor.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/core/version.h"
#include "radir/data/data_dir.h"

namespace radir::cli {
namespace {

using workflows::Finding;
using workflows::MachineFacts;
using Json = nlohmann::ordered_json;

void print_json(const MachineFacts& facts,
                const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"kind", to_string(finding.kind)},
                    {"subject", finding.subject},
                    {"text", finding.text},
                    {"fix", finding.fix}});
  }
  Json speeds = {{"peak_gflops", facts.speeds.peak},
                 {"product_gflops", facts.speeds.product}};
  if (facts.speeds.blas > 0) speeds["blas_gflops"] = facts.speeds.blas;
  const Json document = {{"version", version()},
                         {"machine", workflows::machine_line()},
                         {"speeds", speeds},
                         {"findings", list}};
  std::cout << document.dump(2) << "\n";
}

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    char head[32];
    std::snprintf(head, sizeof head, "%-8s %-10s ", to_string(finding.kind),
                  finding.subject.c_str());
    std::cout << head << finding.text << "\n";
    if (!finding.fix.empty()) {
      std::cout << std::string(std::string(head).size(), ' ') << "-> "
                << finding.fix << "\n";
    }
  }
}

void examine(const std::string& data_dir, const CommonOptions& common) {
  const MachineFacts facts =
      workflows::examine_machine(data::data_dir_name(data_dir));
  const std::vector<Finding> findings = workflows::diagnose(facts);
  common.json ? print_json(facts, findings) : print_text(findings);
  const auto problems = std::count_if(
      findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.kind == Finding::Kind::Problem;
      });
  if (problems > 0) {
    throw ProblemsFound(std::to_string(problems) +
                        (problems == 1 ? " problem" : " problems") +
                        " found; each is listed with its fix");
  }
}

}  // namespace

void add_doctor(CLI::App& root, Invocation& invocation) {
  const auto data_dir = std::make_shared<std::string>();
  CLI::App* command = add_command(
      root, invocation,
      {"doctor", "Show the capabilities of this machine, problems and fixes",
       "radir doctor --data-dir data"},
      [data_dir](const CommonOptions& common) { examine(*data_dir, common); });
  add_data_dir_option(*command, *data_dir);
}

}  // namespace radir::cli
