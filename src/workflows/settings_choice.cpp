#include "radir/workflows/settings_choice.h"

#include <algorithm>
#include <cmath>

#include "radir/likelihood/options.h"
#include "radir/train/schedule.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kLeastRows = 1000;
constexpr std::int64_t kMostRows = 50000;

TableSettings alternative(const TableSettings& given) {
  TableSettings settings;
  settings.seed = given.seed;
  settings.method = "rdp";
  settings.hidden = {100, 100};
  settings.noise = likelihood::Kind::Mixture;
  settings.noise_parts = 5;
  settings.kl_weight = 0.3;
  settings.steps = 10000;
  settings.restarts = 2;
  return settings;
}

/// The first rows of the order whose last rows are held out later.
std::vector<std::int64_t> compared_rows(const std::vector<std::int64_t>& rows,
                                        std::uint64_t seed) {
  const auto count = static_cast<std::int64_t>(rows.size());
  if (count <= kMostRows) return rows;
  const auto order = train::shuffled(count, validation_seed(seed), 0);
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(kMostRows));
  for (std::int64_t i = 0; i < kMostRows; ++i) {
    const std::int64_t row = order[static_cast<std::size_t>(i)];
    result.push_back(rows[static_cast<std::size_t>(row)]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Other devices than the CPU do not train them.
void remove_mixtures(std::vector<TableSettings>& candidates) {
  const auto is_mixture = [](const TableSettings& settings) {
    return settings.noise == likelihood::Kind::Mixture;
  };
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(), is_mixture),
      candidates.end());
}

}  // namespace

SettingsSearch search_for(const TableSettings& given,
                          const data::TableEncoder& encoder,
                          std::int64_t rows) {
  TableSettings defaults;
  defaults.seed = given.seed;
  const bool open = to_json(given) == to_json(defaults);
  return open && !encoder.is_classification() && rows >= kLeastRows
             ? SettingsSearch::Defaults
             : SettingsSearch::Given;
}

ChosenSettings choose_settings(
    SettingsSearch search, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& settings, const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run) {
  const std::string& target = encoder.target().name;
  const data::MissingValues missing = encoder.missing();
  std::int64_t done = 0;
  std::int64_t total = 2;
  const auto count = [&](const TableTrial&) {
    if (on_trial) on_trial(++done, total);
  };
  if (search == SettingsSearch::Tuning) {
    auto candidates = search_candidates(settings, encoder.is_classification());
    if (execution.device != Device::Cpu) remove_mixtures(candidates);
    total = search_trials(static_cast<std::int64_t>(candidates.size()));
    auto trials = search_settings(table, target, missing, rows, candidates,
                                  execution, count, run);
    const TableSettings best = best_trial(trials).settings;
    return {best, std::move(trials)};
  }
  if (search == SettingsSearch::Given || execution.device != Device::Cpu) {
    return {settings, {}};
  }
  const auto compared = compared_rows(rows, settings.seed);
  auto trials = compare_candidates(table, target, missing, compared,
                                   {settings, alternative(settings)}, execution,
                                   count, run);
  const double judges = static_cast<double>(
      validation_rows(static_cast<std::int64_t>(compared.size())));
  const bool clearly_better = trials[1].log_likelihood >
                              trials[0].log_likelihood + 1 / std::sqrt(judges);
  return {clearly_better ? trials[1].settings : settings, std::move(trials)};
}

}  // namespace radir::workflows
