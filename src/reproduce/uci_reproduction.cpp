#include <nlohmann/json.hpp>

#include "radir/data/uci.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/reproduction.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/uci_methods.h"
#include "radir/reproduce/unpublished.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_config.h"
#include "reproduce/reproduction_json.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<UciSplitResult>;

constexpr const char* kScoresTitle =
    "Test log-likelihood per row, mean over splits and standard error";
constexpr const char* kErrorsTitle =
    "Errors and coverage (from coverage on: noise model by validation)";

/// The sets of a run that are not the published ones.
std::vector<UnpublishedSet> unpublished_of(
    const UciOptions& options, const std::vector<data::UciSet>& sets) {
  std::vector<std::string> names;
  for (const data::UciSet& set : sets) names.push_back(set.name);
  return unpublished_sets(options.data_dir, names);
}

template <typename Pick>
Json score_json(const Results& results, const std::string& set, Pick pick) {
  const auto mean = [&](double UciScore::*member) {
    return json_of(mean_over_splits(
        results, set,
        [&](const UciSplitResult& result) { return pick(result).*member; }));
  };
  return {{"log_likelihood", mean(&UciScore::log_likelihood)},
          {"rmse", mean(&UciScore::rmse)},
          {"coverage_90", mean(&UciScore::coverage_90)},
          {"interval_log_likelihood", mean(&UciScore::interval_log_likelihood)},
          {"interval_coverage_90", mean(&UciScore::interval_coverage_90)},
          {"crps", mean(&UciScore::crps)},
          {"seen_in_training", mean(&UciScore::seen)}};
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
  json["published_estimator_not_a_log_likelihood"] =
      json_of(mean_over_splits(results, set, [](const UciSplitResult& r) {
        return r.gaussian.published_estimator;
      }));
  return json;
}

Json method_json(const UciMethodSummary& one) {
  Json json = {
      {"set", one.set},
      {"method", one.method},
      {"splits", one.splits},
      {"log_likelihood", json_of(one.log_likelihood)},
      {"rmse", json_of(one.rmse)},
      {"coverage_90", json_of(one.coverage_90)},
      {"interval_log_likelihood", json_of(one.interval_log_likelihood)},
      {"interval_coverage_90", json_of(one.interval_coverage_90)},
      {"crps", json_of(one.crps)},
      {"seen_in_training", json_of(one.seen)},
      {"seconds", one.seconds}};
  if (one.compared) {
    Json less = json_of(one.less_rdp);
    less["corrected_error"] = one.corrected_error;
    json["less_rdp"] = std::move(less);
  }
  Json published = Json::object();
  for (const auto& [name, value] : one.published) published[name] = value;
  if (!published.empty()) json["published"] = std::move(published);
  return json;
}

std::string progress_text(const std::string& what, double share) {
  return what + " done, " + std::to_string(static_cast<int>(100 * share)) +
         " % of all";
}

report::Table marked(report::Table table,
                     const std::vector<UnpublishedSet>& unpublished) {
  mark_unpublished(table, unpublished);
  return table;
}

Reproduction benchmark(const Results& results,
                       const std::vector<UnpublishedSet>& unpublished) {
  Json sets = Json::array();
  for (const std::string& set : uci_sets_of(results)) {
    sets.push_back(set_json(results, set));
  }
  const report::Table scores =
      marked(uci_log_likelihood_table(results), unpublished);
  const report::Table errors = marked(uci_error_table(results), unpublished);
  Reproduction result;
  result.json = {{"not_the_published_data", json_of(unpublished)},
                 {"sets", std::move(sets)}};
  result.text = std::string(kScoresTitle) + "\n\n" + to_text(scores) + "\n" +
                kErrorsTitle + "\n\n" + to_text(errors) +
                note_line(unpublished);
  report::Page page;
  page.title = "UCI benchmark";
  page.lead = "Regression on the standard splits, tuned inside each.";
  page.sections.push_back(
      {"Log-likelihood", {report::TableBlock{scores, kScoresTitle}}});
  page.sections.push_back(
      {"Errors", {report::TableBlock{errors, kErrorsTitle}}});
  result.page = with_note(std::move(page), unpublished);
  return result;
}

Reproduction comparison(const std::vector<UciMethodResult>& results,
                        const std::vector<UnpublishedSet>& unpublished) {
  Json methods = Json::array();
  for (const UciMethodSummary& one : summaries(results)) {
    methods.push_back(method_json(one));
  }
  Reproduction result;
  result.json = {{"not_the_published_data", json_of(unpublished)},
                 {"methods", std::move(methods)}};
  result.text = std::string(kScoresTitle) + "\n\n" +
                to_text(marked(uci_method_table(results), unpublished)) +
                note_line(unpublished);
  result.page = with_note(uci_method_page(results), unpublished);
  result.page_name = kMethodsPage;
  return result;
}

}  // namespace

nlohmann::ordered_json uci_config(const UciOptions& options,
                                  const std::string& fingerprint) {
  return workflows::run_config(
      {{"source", options.data_dir + "/uci"}, {"fingerprint", fingerprint}},
      workflows::command_entry(kUciCommand, to_json(options)));
}

Reproduction reproduce_uci(const UciOptions& options,
                           const std::vector<data::UciSet>& sets,
                           ThreadPool& pool,
                           const ReproductionProgress& progress,
                           const workflows::ResumableRun* run) {
  const auto unpublished = unpublished_of(options, sets);
  const auto tell = [&](double share, const std::string& part) {
    if (progress) progress(share, progress_text(part, share));
  };
  if (options.methods.empty()) {
    return benchmark(run_uci(
                         options, sets, pool,
                         [&](const UciSplitResult& latest, double share) {
                           tell(share, latest.set + " split " +
                                           std::to_string(latest.split));
                         },
                         run),
                     unpublished);
  }
  return comparison(run_uci_methods(
                        options, sets, pool,
                        [&](const UciMethodResult& latest, double share) {
                          tell(share, latest.set + " split " +
                                          std::to_string(latest.split) + " " +
                                          latest.method);
                        },
                        run),
                    unpublished);
}

}  // namespace radir::reproduce
