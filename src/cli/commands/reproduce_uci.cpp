#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/training_run.h"
#include "radir/core/version.h"
#include "radir/data/data_dir.h"
#include "radir/data/uci.h"
#include "radir/files/atomic_file.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/uci_methods.h"
#include "radir/reproduce/unpublished.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_config.h"
#include "radir/workflows/table_fit.h"

namespace radir::cli {
namespace {

using reproduce::UciMean;
using reproduce::UciMethodResult;
using reproduce::UciNoiseResult;
using reproduce::UciOptions;
using reproduce::UciScore;
using reproduce::UciSplitResult;
using reproduce::UnpublishedSet;
using Json = nlohmann::ordered_json;
using Results = std::vector<UciSplitResult>;

constexpr const char* kUciCommand = "reproduce uci";

/// The sets of a run that are not the published ones.
std::vector<UnpublishedSet> unpublished_of(
    const UciOptions& options, const std::vector<data::UciSet>& sets) {
  std::vector<std::string> names;
  for (const data::UciSet& set : sets) names.push_back(set.name);
  return reproduce::unpublished_sets(options.data_dir, names);
}

Json to_json(const std::vector<UnpublishedSet>& sets) {
  Json json = Json::array();
  for (const UnpublishedSet& set : sets) {
    json.push_back({{"set", set.name}, {"problem", set.problem}});
  }
  return json;
}

std::string marked_text(report::Table table,
                        const std::vector<UnpublishedSet>& unpublished) {
  mark_unpublished(table, unpublished);
  return to_text(table);
}

/// A line of its own under the tables, if there is anything to say.
std::string note_line(const std::vector<UnpublishedSet>& unpublished) {
  const std::string note = note_on_unpublished(unpublished);
  return note.empty() ? note : "\n" + note + "\n";
}

Json to_json(const UciMean& mean) {
  return {{"mean", mean.mean}, {"stderr", mean.standard_error}};
}

template <typename Pick>
Json score_json(const Results& results, const std::string& set, Pick pick) {
  const auto mean = [&](double UciScore::*member) {
    return to_json(reproduce::mean_over_splits(
        results, set,
        [&](const UciSplitResult& result) { return pick(result).*member; }));
  };
  return {{"log_likelihood", mean(&UciScore::log_likelihood)},
          {"rmse", mean(&UciScore::rmse)},
          {"coverage_90", mean(&UciScore::coverage_90)}};
}

template <typename Pick>
Json noise_json(const Results& results, const std::string& set, Pick pick) {
  return {
      {"single", score_json(results, set,
                            [&](const UciSplitResult& r) -> const UciScore& {
                              return pick(r).single;
                            })},
      {"mixture_of_five",
       score_json(results, set,
                  [&](const UciSplitResult& r) -> const UciScore& {
                    return pick(r).mixture;
                  })}};
}

Json set_json(const Results& results, const std::string& set) {
  using Noise = const UciNoiseResult&;
  std::int64_t splits = 0;
  for (const UciSplitResult& result : results) splits += result.set == set;
  Json json = {{"name", set}, {"splits", splits}};
  const Json tuned = noise_json(
      results, set, [](const UciSplitResult& r) -> Noise { return r.tuned(); });
  json.update(tuned["single"]);  // one network, noise model by validation
  json["mixture_of_five"] = tuned["mixture_of_five"];
  json["gaussian"] =
      noise_json(results, set,
                 [](const UciSplitResult& r) -> Noise { return r.gaussian; });
  json["predicted_noise"] = noise_json(
      results, set,
      [](const UciSplitResult& r) -> Noise { return r.predicted_noise; });
  json["published_estimator_not_a_log_likelihood"] = to_json(
      reproduce::mean_over_splits(results, set, [](const UciSplitResult& r) {
        return r.gaussian.published_estimator;
      }));
  return json;
}

void print(const std::string& run, const Results& results,
           const std::vector<UnpublishedSet>& unpublished, bool json) {
  if (json) {
    Json sets = Json::array();
    for (const std::string& set : reproduce::uci_sets_of(results)) {
      sets.push_back(set_json(results, set));
    }
    const Json document = {{"version", version()},
                           {"run", run},
                           {"not_the_published_data", to_json(unpublished)},
                           {"sets", std::move(sets)}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::cout << "Test log-likelihood per row, mean over splits and standard "
               "error\n\n"
            << marked_text(reproduce::uci_log_likelihood_table(results),
                           unpublished)
            << "\nErrors and coverage (coverage: noise model by validation)\n\n"
            << marked_text(reproduce::uci_error_table(results), unpublished)
            << note_line(unpublished) << "\nrun  " << run << "\n";
}

void print_methods(const std::string& run,
                   const std::vector<UciMethodResult>& results,
                   const std::vector<UnpublishedSet>& unpublished,
                   const std::string& page, bool json) {
  if (!json) {
    std::cout << "Test log-likelihood per row, mean over splits and standard "
                 "error\n\n"
              << marked_text(reproduce::uci_method_table(results), unpublished)
              << note_line(unpublished) << "\nrun  " << run << "\npage " << page
              << "\n";
    return;
  }
  Json methods = Json::array();
  for (const reproduce::UciMethodSummary& one : reproduce::summaries(results)) {
    Json entry = {{"set", one.set},
                  {"method", one.method},
                  {"splits", one.splits},
                  {"log_likelihood", to_json(one.log_likelihood)},
                  {"rmse", to_json(one.rmse)},
                  {"coverage_90", to_json(one.coverage_90)},
                  {"seconds", one.seconds}};
    if (one.compared) {
      entry["less_rdp"] = to_json(one.less_rdp);
      entry["less_rdp"]["corrected_error"] = one.corrected_error;
    }
    for (const auto& [name, value] : one.published) {
      entry["published"][name] = value;
    }
    methods.push_back(std::move(entry));
  }
  const Json document = {{"version", version()},
                         {"run", run},
                         {"not_the_published_data", to_json(unpublished)},
                         {"methods", std::move(methods)}};
  std::cout << document.dump(2) << "\n";
}

std::string progress_text(const std::string& what, double share) {
  return what + " done, " + std::to_string(static_cast<int>(100 * share)) +
         " % of all";
}

void run_methods_in(const io::RunFolder& folder, const UciOptions& options,
                    const std::vector<data::UciSet>& sets,
                    const RunOptions& run_options,
                    const CommonOptions& common) {
  const auto unpublished = unpublished_of(options, sets);
  CommandThreads pool(common);
  std::vector<UciMethodResult> results;
  train_in(folder, kUciCommand, run_options,
           [&](const workflows::ResumableRun& run) {
             Progress progress;
             results = reproduce::run_uci_methods(
                 options, sets, pool,
                 [&](const UciMethodResult& latest, double share) {
                   progress.show(
                       share, progress_text(latest.set + " split " +
                                                std::to_string(latest.split) +
                                                " " + latest.method,
                                            share));
                 },
                 &run);
           });
  folder.remove_checkpoints();
  const std::string page = folder.file("methods.html");
  report::Page content = reproduce::uci_method_page(results);
  const std::string note = note_on_unpublished(unpublished);
  if (!note.empty()) content.lead += " Here " + note + ".";
  files::write_file(page, to_html(content));
  print_methods(folder.path(), results, unpublished, page, common.json);
}

Json uci_config(const UciOptions& options, const std::string& fingerprint) {
  return workflows::run_config(
      {{"source", options.data_dir + "/uci"}, {"fingerprint", fingerprint}},
      workflows::command_entry(kUciCommand, reproduce::to_json(options)));
}

void run_in(const io::RunFolder& folder, const UciOptions& options,
            const std::vector<data::UciSet>& sets,
            const RunOptions& run_options, const CommonOptions& common) {
  if (!options.methods.empty()) {
    return run_methods_in(folder, options, sets, run_options, common);
  }
  const auto unpublished = unpublished_of(options, sets);
  CommandThreads pool(common);
  Results results;
  train_in(
      folder, kUciCommand, run_options,
      [&](const workflows::ResumableRun& run) {
        Progress progress;
        const auto report = [&](const UciSplitResult& latest, double share) {
          progress.show(share, progress_text(latest.set + " split " +
                                                 std::to_string(latest.split),
                                             share));
        };
        results = reproduce::run_uci(options, sets, pool, report, &run);
      });
  folder.remove_checkpoints();
  print(folder.path(), results, unpublished, common.json);
}

void begin(UciOptions options, RunOptions run, const CommonOptions& common) {
  options.data_dir = absolute_path(data::data_dir(options.data_dir));
  options.seed = common.seed;
  reproduce::uci_methods_of(options);  // rejects unknown ones
  if (run.out.empty()) run.out = free_run_name("uci");
  io::RunFolder::check_free(run.out);
  const std::vector<data::UciSet> sets = reproduce::read_uci_sets(options);
  const io::RunFolder folder =
      begin_run(run.out, uci_config(options, reproduce::fingerprint(sets)));
  run_in(folder, options, sets, run, common);
}

void resume_uci(const UciOptions& given, const RunOptions& run,
                const CommonOptions& common) {
  const io::RunFolder folder = io::RunFolder::open(run.resume);
  const Json config = read_run_config(folder, kUciCommand);
  UciOptions options =
      read_run_options(folder, config, reproduce::uci_options_from_json);
  if (!given.data_dir.empty()) options.data_dir = given.data_dir;
  const std::vector<data::UciSet> sets = reproduce::read_uci_sets(options);
  check_same_data(config, options.data_dir + "/uci",
                  reproduce::fingerprint(sets));
  run_in(folder, options, sets, run, common);
}

}  // namespace

void add_reproduce_uci(CLI::App& reproduce, Invocation& invocation) {
  const auto options = std::make_shared<UciOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command = add_command(
      reproduce, invocation,
      {"uci",
       "Run the UCI benchmark: nine sets, standard splits, tuned inside each",
       "radir reproduce uci --quick --data-dir data"},
      [options, run, &reproduce](const CommonOptions& common) {
        if (run->resume.empty()) return begin(*options, *run, common);
        check_resume_options(*reproduce.get_subcommand("uci"));
        resume_uci(*options, *run, common);
      });
  add_run_options(*command, *run);
  command->add_option("--sets", options->sets, "Data sets (default: all)")
      ->delimiter(',')
      ->type_name("NAME");
  command
      ->add_option("--splits", options->splits,
                   "Number of splits of each set; 0 for all")
      ->type_name("N");
  command->add_flag("--quick", options->quick,
                    "Five small sets, five splits, shorter training");
  command
      ->add_option(
          "--steps", options->steps,
          "Steps of each training; 0 for a number that depends on the set")
      ->type_name("N");
  command
      ->add_option("--methods", options->methods,
                   "Methods of radir train to compare instead of the "
                   "benchmark; all for every one")
      ->delimiter(',')
      ->type_name("NAME");
  command
      ->add_option("--restarts", options->restarts,
                   "Networks of the mixture of each of these methods")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--data-dir", options->data_dir,
                   "Folder with uci/ (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
}

}  // namespace radir::cli
