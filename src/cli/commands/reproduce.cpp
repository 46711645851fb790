#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/files/atomic_file.h"
#include "radir/report/page.h"
#include "radir/reproduce/figures.h"

namespace radir::cli {
namespace {

void add_figures(CLI::App& reproduce, Invocation& invocation) {
  const auto out = std::make_shared<std::string>("radir-figures.html");
  const auto force = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      reproduce, invocation,
      {"figures",
       "Draw the article's figures that need no training, as one page",
       "radir reproduce figures --out figures.html"},
      [out, force](const CommonOptions& common) {
        check_overwrite("--out", *out, *force);
        files::write_file(*out, to_html(reproduce::figures()));
        if (common.json) {
          const nlohmann::ordered_json document = {{"page", *out}};
          std::cout << document.dump(2) << "\n";
        } else {
          std::cerr << "radir: wrote " << *out << "; open it in a browser\n";
        }
      });
  command->add_option("--out", *out, "HTML file to write")
      ->type_name("FILE")
      ->capture_default_str();
  add_force_option(*command, *force);
}

}  // namespace

void add_reproduce(CLI::App& root, Invocation& invocation) {
  CLI::App* reproduce = add_group(
      root, {"reproduce", "Reproduce the published tables and figures",
             "radir reproduce figures --out figures.html"});
  add_reproduce_uci(*reproduce, invocation);
  add_reproduce_lenet(*reproduce, invocation, false);
  add_reproduce_lenet(*reproduce, invocation, true);
  add_figures(*reproduce, invocation);
}

}  // namespace radir::cli
