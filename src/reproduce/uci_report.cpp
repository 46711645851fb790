#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/data/uci.h"
#include "radir/report/table.h"
#include "radir/reproduce/uci.h"

namespace radir::reproduce {
namespace {

std::string shown(const UciMean& mean) {
  return fmt::format("{:.3f} ± {:.3f}", mean.mean, mean.standard_error);
}

std::size_t published_index(const std::string& set) {
  const auto& names = data::uci_set_names();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), set) -
                                  names.begin());
}

/// "6.33 (Refined VI)"
std::string best_published(std::size_t set) {
  const PublishedColumn* best = &published_uci().front();
  for (const PublishedColumn& column : published_uci()) {
    if (column.log_likelihoods[set] > best->log_likelihoods[set]) {
      best = &column;
    }
  }
  return fmt::format("{:.2f} ({})", best->log_likelihoods[set], best->name);
}

using Value = std::function<double(const UciSplitResult&)>;

/// A cell "mean ± standard error" of each value, for one set.
std::vector<report::Cell> cells(const std::vector<UciSplitResult>& results,
                                const std::string& set,
                                const std::vector<Value>& values) {
  const auto splits =
      std::count_if(results.begin(), results.end(),
                    [&](const auto& result) { return result.set == set; });
  std::vector<report::Cell> row = {set, static_cast<std::int64_t>(splits)};
  for (const Value& value : values) {
    row.emplace_back(shown(mean_over_splits(results, set, value)));
  }
  return row;
}

}  // namespace

UciMean mean_over_splits(const std::vector<UciSplitResult>& results,
                         const std::string& set, const Value& value) {
  std::vector<double> values;
  for (const UciSplitResult& result : results) {
    if (result.set == set) values.push_back(value(result));
  }
  RADIR_CHECK(!values.empty(), ArgumentError,
              "mean_over_splits: there is no result of the set ", set);
  return mean_and_error(values);
}

UciMean mean_and_error(const std::vector<double>& values) {
  RADIR_CHECK(!values.empty(), ArgumentError,
              "mean_and_error: there are no numbers");
  const double count = static_cast<double>(values.size());
  UciMean mean;
  for (double v : values) mean.mean += v / count;
  if (values.size() == 1) return mean;
  double squares = 0;
  for (double v : values) squares += (v - mean.mean) * (v - mean.mean);
  mean.standard_error = std::sqrt(squares / (count - 1) / count);
  return mean;
}

std::vector<std::string> uci_sets_of(
    const std::vector<UciSplitResult>& results) {
  std::vector<std::string> sets;
  for (const std::string& name : data::uci_set_names()) {
    if (std::any_of(results.begin(), results.end(),
                    [&](const auto& result) { return result.set == name; })) {
      sets.push_back(name);
    }
  }
  return sets;
}

report::Table uci_log_likelihood_table(
    const std::vector<UciSplitResult>& results) {
  report::Table table;
  table.columns = {
      {"set", "set"},
      {"splits", "splits"},
      {"gaussian", "Gaussian noise"},
      {"gaussian_mixture", "… mixture of 5"},
      {"predicted_noise", "predicted noise"},
      {"predicted_noise_mixture", "… mixture of 5"},
      {"tuned", "noise by validation"},
      {"tuned_mixture", "… mixture of 5"},
      {"published_estimator", "article's estimator (no log-likelihood)"},
      {"published_rdp", "… as the article prints it"}};
  constexpr std::size_t kArticleColumns = 4;  // VI, PBP, Dropout, VMG
  for (std::size_t i = 0; i < kArticleColumns; ++i) {
    const std::string& name = published_uci()[i].name;
    table.columns.push_back({name, name});
  }
  table.columns.push_back({"best_published", "best published"});
  const std::vector<Value> values = {
      [](const auto& r) { return r.gaussian.single.log_likelihood; },
      [](const auto& r) { return r.gaussian.mixture.log_likelihood; },
      [](const auto& r) { return r.predicted_noise.single.log_likelihood; },
      [](const auto& r) { return r.predicted_noise.mixture.log_likelihood; },
      [](const auto& r) { return r.tuned().single.log_likelihood; },
      [](const auto& r) { return r.tuned().mixture.log_likelihood; },
      [](const auto& r) { return r.gaussian.published_estimator; }};
  for (const std::string& set : uci_sets_of(results)) {
    std::vector<report::Cell> row = cells(results, set, values);
    const std::size_t index = published_index(set);
    row.emplace_back(
        fmt::format("{:.2f}", published_uci_rdp().log_likelihoods[index]));
    for (std::size_t i = 0; i < kArticleColumns; ++i) {
      row.emplace_back(
          fmt::format("{:.2f}", published_uci()[i].log_likelihoods[index]));
    }
    row.emplace_back(best_published(index));
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table uci_error_table(const std::vector<UciSplitResult>& results) {
  report::Table table;
  table.columns = {{"set", "set"},
                   {"splits", "splits"},
                   {"gaussian_rmse", "RMSE, Gaussian noise"},
                   {"gaussian_mixture_rmse", "… mixture of 5"},
                   {"predicted_noise_rmse", "RMSE, predicted noise"},
                   {"predicted_noise_mixture_rmse", "… mixture of 5"},
                   {"coverage_90", "in 90 % interval"},
                   {"mixture_coverage_90", "… mixture of 5"},
                   {"interval_coverage_90", "… at the resolution"},
                   {"mixture_interval_coverage_90", "… mixture of 5"},
                   {"interval_log_likelihood", "log-likelihood of intervals"},
                   {"mixture_interval_log_likelihood", "… mixture of 5"},
                   {"crps", "CRPS"},
                   {"mixture_crps", "… mixture of 5"},
                   {"seen", "inputs seen in training"}};
  const std::vector<Value> values = {
      [](const auto& r) { return r.gaussian.single.rmse; },
      [](const auto& r) { return r.gaussian.mixture.rmse; },
      [](const auto& r) { return r.predicted_noise.single.rmse; },
      [](const auto& r) { return r.predicted_noise.mixture.rmse; },
      [](const auto& r) { return r.tuned().single.coverage_90; },
      [](const auto& r) { return r.tuned().mixture.coverage_90; },
      [](const auto& r) { return r.tuned().single.interval_coverage_90; },
      [](const auto& r) { return r.tuned().mixture.interval_coverage_90; },
      [](const auto& r) { return r.tuned().single.interval_log_likelihood; },
      [](const auto& r) { return r.tuned().mixture.interval_log_likelihood; },
      [](const auto& r) { return r.tuned().single.crps; },
      [](const auto& r) { return r.tuned().mixture.crps; },
      [](const auto& r) { return r.tuned().single.seen; }};
  for (const std::string& set : uci_sets_of(results)) {
    table.rows.push_back(cells(results, set, values));
  }
  return table;
}

}  // namespace radir::reproduce
