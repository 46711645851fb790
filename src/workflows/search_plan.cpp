#include "radir/workflows/search_plan.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/files/json_object.h"

namespace radir::workflows {
namespace {

/// A training of less than this share of its length says little about it.
constexpr std::int64_t kMostDivisor = 4;
constexpr std::int64_t kFewestCandidates = 2;

/// "12s", rounded up.
std::string in_seconds(double seconds) {
  return std::to_string(static_cast<std::int64_t>(std::ceil(seconds))) + "s";
}

}  // namespace

std::size_t SearchPlan::left_of(std::size_t candidates) {
  return (candidates + kHalving - 1) / kHalving;
}

std::int64_t SearchPlan::divisor_of(std::int64_t round) const {
  std::int64_t result = divisor;
  for (; round < kRounds; ++round) result *= kHalving;
  return result;
}

std::int64_t SearchPlan::trials() const {
  auto left = static_cast<std::size_t>(candidates);
  std::size_t sum = left;
  for (std::int64_t round = 1; round < kRounds; ++round) {
    left = left_of(left);
    sum += left;
  }
  return static_cast<std::int64_t>(sum);
}

double search_seconds(const std::vector<TrialCost>& costs,
                      const SearchPlan& plan, int threads) {
  double sum = 0;
  auto left = static_cast<std::size_t>(plan.candidates);
  for (std::int64_t round = 1; round <= SearchPlan::kRounds; ++round) {
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < plan.candidates; ++i) {
      const TrialCost& cost = costs[static_cast<std::size_t>(i)];
      const std::int64_t divisor = plan.divisor_of(round);
      const std::int64_t epochs = (cost.epochs + divisor - 1) / divisor;
      seconds.push_back(cost.scoring +
                        cost.epoch * static_cast<double>(epochs));
    }
    std::sort(seconds.rbegin(), seconds.rend());
    double of_round = (threads - 1) * seconds.front();
    for (std::size_t i = 0; i < left; ++i) of_round += seconds[i];
    sum += of_round / threads;
    left = SearchPlan::left_of(left);
  }
  return sum;
}

SearchPlan plan_search(const std::vector<TrialCost>& costs, int threads,
                       double budget, double used) {
  const auto all = static_cast<std::int64_t>(costs.size());
  const auto fits = [&](const SearchPlan& plan) {
    return used + search_seconds(costs, plan, threads) <= budget;
  };
  SearchPlan plan{all, 1};
  for (; plan.divisor <= kMostDivisor; plan.divisor *= 2) {
    if (fits(plan)) return plan;
  }
  plan.divisor = kMostDivisor;
  while (plan.candidates > kFewestCandidates) {
    --plan.candidates;
    if (fits(plan)) return plan;
  }
  const SearchPlan complete{all, 1};
  detail::throw_error<ArgumentError>(
      "tuning cannot end within ", budget, " s: the smallest search takes up ",
      "to ", in_seconds(used + search_seconds(costs, plan, threads)),
      " here, the complete one up to ",
      in_seconds(used + search_seconds(costs, complete, threads)),
      "; give a budget between these, or train without tuning");
}

std::string to_json(const SearchPlan& plan) {
  return nlohmann::json{{"candidates", plan.candidates},
                        {"divisor", plan.divisor}}
      .dump();
}

SearchPlan plan_from_json(const std::string& text) {
  const auto document =
      files::parse_json<files::JsonObject::Json>("tuning plan", text, {});
  files::JsonObject json(document, "tuning plan");
  SearchPlan plan;
  plan.candidates = json.integer("candidates", 1, 1000000);
  plan.divisor = json.integer("divisor", 1, 1000000);
  json.finish();
  return plan;
}

}  // namespace radir::workflows
