#include "radir/workflows/trials.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "radir/core/settings.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// An error above the smallest one by this factor is worth a word.
constexpr double kMuchLarger = 1.1;

struct TrialScore {
  const char* key;
  const char* title;
  TuneFor goal;
  bool high;  ///< is good
};
constexpr TrialScore kTrialScores[] = {
    {"validation_log_likelihood", "log-likelihood", TuneFor::LogLikelihood,
     true},
    {"validation_rmse", "RMSE", TuneFor::Rmse, false},
    {"validation_crps", "CRPS", TuneFor::Crps, false},
    {"validation_error", "error", TuneFor::Error, false},
    {"validation_brier", "Brier score", TuneFor::Brier, false}};

const TrialScore& score_for(TuneFor goal) {
  return *std::find_if(
      std::begin(kTrialScores), std::end(kTrialScores),
      [&](const TrialScore& score) { return score.goal == goal; });
}

bool is_score(const std::string& key) {
  return key == "round" ||
         std::any_of(std::begin(kTrialScores), std::end(kTrialScores),
                     [&](const TrialScore& score) { return key == score.key; });
}

std::optional<double> number_in(const Json& trial, const char* key) {
  const auto found = trial.find(key);
  if (found == trial.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::vector<Json> trials_of(const Json& config) {
  std::vector<Json> list;
  const Json trials = config.value("trials", Json::array());
  if (!trials.is_array()) return list;
  for (const Json& trial : trials) {
    if (!trial.is_object()) continue;
    list.push_back(Json::parse(with_settings_left_out(trial.dump())));
  }
  return list;
}

/// What the trials were compared by.
const TrialScore& goal_of(const Json& config) {
  const Json name = config.value("tune_for", Json(""));
  for (const auto& [goal, text] : tune_for_choices()) {
    if (name == text) return score_for(goal);
  }
  return kTrialScores[0];
}

/// The last round first, and in a round the best.
void sort_trials(std::vector<Json>& trials, const TrialScore& goal) {
  const auto rank = [&](const Json& trial) {
    const auto value = number_in(trial, goal.key);
    const double sign = goal.high ? 1 : -1;
    return std::pair(number_in(trial, "round").value_or(1),
                     value ? sign * *value : -INFINITY);
  };
  std::stable_sort(
      trials.begin(), trials.end(),
      [&](const Json& a, const Json& b) { return rank(a) > rank(b); });
}

}  // namespace

Json trials_json(const std::vector<TableTrial>& trials, std::int64_t rows,
                 bool classes) {
  Json list = Json::array();
  const char* const error =
      score_for(classes ? TuneFor::Error : TuneFor::Rmse).key;
  for (const TableTrial& trial : trials) {
    Json json = Json::parse(to_json(trial.settings, rows));
    json["round"] = trial.round;
    json[kTrialScores[0].key] = trial.log_likelihood;
    json[error] = trial.error;
    if (trial.loss) json[score_for(trial.goal).key] = *trial.loss;
    list.push_back(std::move(json));
  }
  return list;
}

report::Table trials_table(const Json& config, std::size_t most) {
  std::vector<Json> list = trials_of(config);
  if (list.empty()) return {};
  sort_trials(list, goal_of(config));
  list.resize(std::min(most, list.size()));
  const auto differs = [&](const std::string& key) {
    return std::any_of(list.begin(), list.end(), [&](const Json& trial) {
      return trial.value(key, Json()) != list.front().value(key, Json());
    });
  };
  report::Table table;
  if (differs("round")) table.columns.push_back({"round", "round"});
  for (const TrialScore& score : kTrialScores) {
    if (list.front().contains(score.key)) {
      table.columns.push_back({score.key, score.title});
    }
  }
  for (const auto& [key, value] : list.front().items()) {
    if (!is_score(key) && differs(key)) table.columns.push_back({key, key});
  }
  for (const Json& trial : list) {
    std::vector<report::Cell> row;
    for (const report::Column& column : table.columns) {
      const Json cell = trial.value(column.key, Json());
      if (cell.is_number_float()) {
        row.emplace_back(cell.get<double>());
      } else if (cell.is_null()) {
        row.emplace_back();
      } else {
        row.emplace_back(cell.is_string() ? cell.get<std::string>()
                                          : cell.dump());
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string error_note(const Json& config) {
  const TrialScore& goal = goal_of(config);
  // Without tuning, the best trial need not be the one that was taken.
  const bool tuned = config.value("tuned", Json()) == true;
  if (!tuned || goal.goal != TuneFor::LogLikelihood) return "";
  std::vector<Json> list = trials_of(config);
  // Quick fits that chose the scale of the target are no settings to take.
  list.erase(std::remove_if(list.begin(), list.end(),
                            [](const Json& trial) {
                              return number_in(trial, "round") == 0;
                            }),
             list.end());
  if (list.empty()) return "";
  const bool classes = list.front().contains(score_for(TuneFor::Error).key);
  const TrialScore& error = score_for(classes ? TuneFor::Error : TuneFor::Rmse);
  sort_trials(list, goal);
  const auto chosen = number_in(list.front(), error.key);
  const auto least = std::min_element(
      list.begin(), list.end(), [&](const Json& a, const Json& b) {
        return number_in(a, error.key).value_or(INFINITY) <
               number_in(b, error.key).value_or(INFINITY);
      });
  const auto smallest = number_in(*least, error.key);
  if (!chosen || !smallest || *chosen <= kMuchLarger * *smallest) return "";
  const auto text = [](std::optional<double> value) {
    return value ? report::figure_text(*value) : std::string("unknown");
  };
  return "The chosen settings have the best log-likelihood (" +
         text(number_in(list.front(), goal.key)) + ") but not the smallest " +
         error.title + ": " + text(chosen) + ", where another trial has " +
         text(smallest) + " (log-likelihood " +
         text(number_in(*least, goal.key)) + "). --tune --tune-for " +
         (classes ? "error" : "rmse") + " looks for the smallest.";
}

}  // namespace radir::workflows
