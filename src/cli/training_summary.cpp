#include "cli/training_summary.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "radir/core/shell_text.h"
#include "radir/core/text_stream.h"
#include "radir/report/table.h"
#include "radir/workflows/chain_report.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/trials.h"

namespace radir::cli {
namespace {

using workflows::TrainTableResult;
using Json = nlohmann::ordered_json;

/// R-hat above this, the chains do not agree yet.
constexpr double kMostRHat = 1.05;

void print_chains(const workflows::ChainReport& report, std::ostream& text) {
  text << std::setprecision(3) << "chains      " << report.chains;
  if (report.acceptance) {
    text << ", acceptance " << *report.acceptance << ", " << report.divergences
         << " divergences\n";
  } else {
    text << ", without an acceptance test: the draws are biased by the length "
         << "of the steps and the size of the batches\n";
  }
  text << "R-hat       " << report.r_hat_mean << " on average, "
       << report.r_hat_95 << " for 95 % of the rows\n"
       << "draws       worth " << std::round(report.effective_draws)
       << " independent ones\n";
  if (report.r_hat_mean > kMostRHat) {
    text << "note        the chains do not agree yet (R-hat above " << kMostRHat
         << "); more " << (report.acceptance ? "--leapfrog-steps or " : "")
         << "--draws bring them together\n";
  }
}

/// Of a stacked mixture.
void print_weights(const std::vector<double>& weights, std::ostream& text) {
  if (weights.empty()) return;
  text << std::setprecision(2) << "weights     ";
  const char* separator = "";
  for (const double weight : weights) {
    text << separator << weight;
    separator = ", ";
  }
  text << " of the networks or chains, by held-out rows\n";
}

/// The honest answer: how well rows are predicted that were not fitted.
void print_held_out(const TrainTableResult& result, std::ostream& text) {
  if (result.held_out) {
    text << "held out    " << workflows::describe(*result.held_out) << "\n\n"
         << report::to_text(workflows::score_table(*result.held_out)) << "\n"
         << workflows::headline(*result.held_out) << "\n";
    if (result.correction.is_none()) {
      text << "The model itself is fitted to all rows.\n";
    } else {
      text << "These are the intervals before the correction. "
           << workflows::describe(result.correction) << "\n";
    }
  } else {
    text << "held out    nothing, so nothing says how good predictions are; "
         << "score new rows with: radir evaluate " << shell_word(result.run)
         << " TABLE\n";
  }
  if (!result.report.empty()) text << "report      " << result.report << "\n";
}

/// Settings that were compared without being asked for.
void print_compared(const Json& config, std::ostream& text) {
  if (config.value("tuned", true) || !config.contains("trials")) return;
  const char* separator = "compared    log-likelihood of rows set aside: ";
  for (const Json& trial : config["trials"]) {
    text << separator << trial.value("method", "") << " with "
         << trial.value("likelihood", "") << " noise "
         << (trial.value("target_scale", "") == "log" ? "of the logarithm "
                                                      : "")
         << (trial.contains("pieces") ? "and pieces " : "");
    if (trial.value("method", "") != "hmc" && trial.contains("epochs")) {
      text << "(" << trial["epochs"] << " epochs) ";
    }
    const Json score = trial.value("validation_log_likelihood", Json());
    if (score.is_number()) {
      text << score.get<double>();
    } else {
      text << "failed";
    }
    separator = ", ";
  }
  text << "\n";
}

/// What --tune chose, the runners-up, and what the choice costs.
void print_tuned(const Json& config, std::ostream& text) {
  constexpr std::size_t kMost = 5;
  if (config.value("tuned", false)) {
    text << "tuned       for "
         << config.value("tune_for", std::string("log-likelihood"))
         << "; the best of " << config.value("trials", Json()).size()
         << " trials (config.json has all):\n\n"
         << report::to_text(workflows::trials_table(config, kMost)) << "\n";
    if (config.contains("tune_plan")) {
      const Json& plan = config["tune_plan"];
      text << "budget      left " << plan.value("candidates", Json())
           << " candidates, each trained for 1/"
           << plan.value("divisor", Json())
           << " of its steps in the last round\n";
    }
  }
  const std::string note = workflows::error_note(config);
  if (!note.empty()) text << "note        " << note << "\n";
}

}  // namespace

Json to_json(const TrainTableResult& result) {
  return {{"run", result.run},
          {"config", result.config},
          {"metrics", result.metrics},
          {"report", result.report}};
}

std::string summary(const TrainTableResult& result) {
  std::ostringstream text = text_stream();
  text << "run         " << result.run << "\n"
       << "rows        " << result.rows << "\n"
       << "inputs      " << result.inputs << "\n"
       << "target      " << result.target << " (" << result.likelihood << ")\n"
       << "method      " << result.method << "\n"
       << std::setprecision(4);
  print_compared(result.config, text);
  print_tuned(result.config, text);
  text << "nll         " << result.nll << " nats per row of the training\n";
  if (result.chains) {
    print_chains(*result.chains, text);
  } else {
    text << "kl          " << result.kl << " nats per row\n";
  }
  print_weights(result.mixture_weights, text);
  print_held_out(result, text);
  return text.str();
}

void print_columns(const std::vector<data::ColumnReading>& columns) {
  constexpr std::size_t kMost = 50;
  report::Table table;
  table.columns = {{"column", "column"}, {"reading", "read as"}};
  for (std::size_t i = 0; i < std::min(kMost, columns.size()); ++i) {
    table.rows.push_back({columns[i].name, columns[i].text()});
  }
  std::cerr << to_text(table);
  if (columns.size() > kMost) {
    std::cerr << "and " << columns.size() - kMost
              << " more, see data.columns in config.json\n";
  }
  std::cerr << "\n";
}

}  // namespace radir::cli
