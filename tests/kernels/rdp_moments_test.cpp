#include <gtest/gtest.h>

#include <functional>

#include "kernels/rdp_problem.h"
#include "radir/core/error.h"
#include "radir/kernels/rdp.h"
#include "radir/math/vmf.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace radir::kernels {
namespace {

using radir::testing::Table;
using radir::testing::WorstError;
using testing::elements_of_groups;
using testing::Problem;
using testing::SideStorage;
using testing::Storage;

/// Sets a side so that its first group has a mean direction whose first
/// component is `mu`, and a radius LN(loc, var); all other groups likewise.
void set_side(SideStorage<double>& side,
              const std::vector<std::vector<std::size_t>>& groups, double kappa,
              double mu, double loc, double var) {
  for (const auto& elements : groups) {
    side.direction[elements[0]] = mu;
    side.direction[elements[1]] = std::sqrt(1 - mu * mu);
  }
  side.log_concentration[0] = std::log(kappa);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    side.local[0][i] = side.local[2][i] = loc;
    side.local[1][i] = side.local[3][i] = std::log(2 * var);
  }
}

TEST(RdpMoments, MatchTheTableOfProducts) {
  const Table table("hadamard_moments");
  WorstError<double> mean_error("E[W]", 16), variance_error("Var[W]", 16);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto at = [&](const char* column) { return table.number(i, column); };
    const auto in = static_cast<std::int64_t>(at("m_row"));
    const auto out = static_cast<std::int64_t>(at("m_col"));
    const RdpSideLayout local{true, false};
    const RdpLayout layout{{1, out, in, 1}, local, local};
    Problem<double> problem(layout);
    problem.storage = Storage<double>(layout);
    set_side(problem.storage.row, elements_of_groups(layout.shape, true),
             at("kappa_row"), at("mu_row_ij"), at("M_row"), at("V_row"));
    set_side(problem.storage.column, elements_of_groups(layout.shape, false),
             at("kappa_col"), at("mu_col_ij"), at("M_col"), at("V_col"));
    RdpKernel<double> kernel(layout);
    std::vector<double> mean(static_cast<std::size_t>(layout.shape.size()));
    std::vector<double> variance(mean);
    kernel.moments(problem.parameters(), mean.data(), variance.data());
    const auto describe = [&] { return table.describe(i); };
    mean_error.add(mean[0], at("mean_W"), describe);
    variance_error.add(variance[0], at("var_W"), describe);
  }
  mean_error.verify();
  variance_error.verify();
}

/// Running mean and standard error of several numbers.
class Averages {
 public:
  explicit Averages(std::size_t count) : sum_(count), squares_(count) {}

  void add(std::size_t i, double x) {
    sum_[i] += x;
    squares_[i] += x * x;
  }
  double mean(std::size_t i, int draws) const { return sum_[i] / draws; }
  double standard_error(std::size_t i, int draws) const {
    const double m = mean(i, draws);
    return std::sqrt((squares_[i] / draws - m * m) / draws);
  }

 private:
  std::vector<double> sum_, squares_;
};

TEST(RdpMoments, AreThoseOfTheDraws) {
  const RdpSideLayout side;
  for (const RdpLayout& layout :
       {RdpLayout{{1, 3, 4, 1}, side, side},
        RdpLayout{{2, 2, 2, 3}, side, side}, RdpLayout{{1, 3, 4, 1}, side, {}},
        RdpLayout{{1, 3, 4, 1}, {}, side}}) {
    Problem<double> problem(layout);
    RdpKernel<double> kernel(layout);
    const auto size = static_cast<std::size_t>(layout.shape.size());
    std::vector<double> mean(size), variance(size), weight(size);
    kernel.moments(problem.parameters(), mean.data(), variance.data());
    Averages first(size), second(size);
    constexpr int kDraws = 100000;
    for (int draw = 0; draw < kDraws; ++draw) {
      kernel.sample(problem.parameters(),
                    {1, 0, static_cast<std::uint64_t>(draw)}, weight.data());
      for (std::size_t e = 0; e < size; ++e) {
        first.add(e, weight[e]);
        second.add(e, weight[e] * weight[e]);
      }
    }
    for (std::size_t e = 0; e < size; ++e) {
      EXPECT_NEAR(first.mean(e, kDraws), mean[e],
                  5 * first.standard_error(e, kDraws));
      EXPECT_NEAR(second.mean(e, kDraws), variance[e] + mean[e] * mean[e],
                  5 * second.standard_error(e, kDraws));
    }
  }
}

/// E[sum_e (b_e W_e + a_e W_e^2)], from the moments.
class Objective {
 public:
  explicit Objective(std::size_t size) : a_(size), b_(size) {
    std::mt19937 engine(3);
    std::normal_distribution<double> normal;
    for (double& x : a_) x = normal(engine);
    for (double& x : b_) x = normal(engine);
  }

  double expectation(RdpKernel<double>& kernel,
                     Problem<double>& problem) const {
    std::vector<double> mean(a_.size()), variance(a_.size());
    kernel.moments(problem.parameters(), mean.data(), variance.data());
    double sum = 0;
    for (std::size_t e = 0; e < a_.size(); ++e) {
      sum += b_[e] * mean[e] + a_[e] * (variance[e] + mean[e] * mean[e]);
    }
    return sum;
  }

  double value(const std::vector<double>& w) const {
    double sum = 0;
    for (std::size_t e = 0; e < w.size(); ++e) {
      sum += (b_[e] + a_[e] * w[e]) * w[e];
    }
    return sum;
  }

  std::vector<double> gradient(const std::vector<double>& w) const {
    std::vector<double> slope(w.size());
    for (std::size_t e = 0; e < w.size(); ++e) {
      slope[e] = b_[e] + 2 * a_[e] * w[e];
    }
    return slope;
  }

 private:
  std::vector<double> a_, b_;
};

/// The average gradient of draws against the derivative of the expectation, for
/// every parameter, within five standard errors.
void expect_unbiased(const RdpLayout& layout, double log_concentration,
                     math::VmfEstimator estimator, int draws) {
  Problem<double> problem(layout, log_concentration);
  RdpKernel<double> kernel(layout);
  const auto size = static_cast<std::size_t>(layout.shape.size());
  const Objective objective(size);
  std::vector<double*> parameters;
  std::vector<std::string> names;
  problem.storage.for_each(
      [&](const std::string& name, std::vector<double>& v) {
        for (double& x : v) {
          parameters.push_back(&x);
          names.push_back(name);
        }
      });
  const double baseline = objective.expectation(kernel, problem);
  Averages averages(parameters.size());
  std::vector<double> weight(size);
  for (int draw = 0; draw < draws; ++draw) {
    Storage<double> gradients(layout);
    kernel.sample(problem.parameters(),
                  {7, 0, static_cast<std::uint64_t>(draw)}, weight.data());
    const std::vector<double> slope = objective.gradient(weight);
    kernel.backward(problem.parameters(), weight.data(), slope.data(),
                    gradients.gradients(),
                    {estimator, objective.value(weight) - baseline});
    std::size_t i = 0;
    gradients.for_each([&](const std::string&, std::vector<double>& v) {
      for (double x : v) averages.add(i++, x);
    });
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double at = *parameters[i], h = 1e-4;
    *parameters[i] = at + h;
    const double up = objective.expectation(kernel, problem);
    *parameters[i] = at - h;
    const double down = objective.expectation(kernel, problem);
    *parameters[i] = at;
    EXPECT_NEAR(averages.mean(i, draws), (up - down) / (2 * h),
                5 * averages.standard_error(i, draws) + 1e-7)
        << names[i] << ", parameter " << i;
  }
}

TEST(RdpGradient, IsUnbiasedForShortDirections) {
  const RdpSideLayout own{false, true};
  for (double log_concentration : {0.0, 2.5}) {
    for (math::VmfEstimator estimator :
         {math::VmfEstimator::Implicit, math::VmfEstimator::Rejection}) {
      SCOPED_TRACE(log_concentration);
      expect_unbiased({{1, 3, 4, 1}, own, own}, log_concentration, estimator,
                      20000);
      expect_unbiased({{1, 2, 2, 1}, own, own}, log_concentration, estimator,
                      20000);
    }
  }
}

TEST(RdpGradient, IsUnbiasedForConvolutions) {
  const RdpSideLayout shared;
  expect_unbiased({{2, 2, 2, 3}, shared, shared}, 1.5,
                  math::VmfEstimator::Implicit, 20000);
}

/// Here the closed form is used, whose bias of 0.23 / 33^2 is less than the
/// standard error.
TEST(RdpGradient, IsUnbiasedForLongDirections) {
  const RdpSideLayout own{false, true};
  expect_unbiased({{1, 3, 33, 1}, own, {}}, 3.5, math::VmfEstimator::Implicit,
                  20000);
}

TEST(RdpPoint, IsRadiusTimesMeanDirection) {
  const RdpLayout layout{
      {2, 3, 2, 2}, RdpSideLayout{false, true}, RdpSideLayout{true, false}};
  Problem<double> problem(layout);
  RdpKernel<double> kernel(layout);
  // Log of the radius of group i, `variances` of its variance added.
  const auto log_radius = [](const SideStorage<double>& side, std::size_t i,
                             double variances) {
    double log_r = 0;
    for (const auto* v : {&side.local, &side.global}) {
      if ((*v)[0].empty()) continue;
      const std::size_t at = v == &side.local ? i : 0;
      log_r += ((*v)[0][at] + (*v)[2][at]) / 2;
      log_r += variances * (std::exp((*v)[1][at]) + std::exp((*v)[3][at])) / 4;
    }
    return log_r;
  };
  const auto multiply = [&](std::vector<double>& weight, bool rows,
                            const SideStorage<double>& side, PointWeight kind) {
    const auto groups = elements_of_groups(layout.shape, rows);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      double norm2 = 0;
      for (std::size_t e : groups[i]) {
        norm2 += side.direction[e] * side.direction[e];
      }
      const double kappa = std::exp(
          side.log_concentration[side.log_concentration.size() == 1 ? 0 : i]);
      const double m = static_cast<double>(groups[i].size());
      const double scale =
          kind == PointWeight::Mean
              ? math::vmf_mean_cosine(m, kappa) *
                    std::exp(log_radius(side, i, 0.5))
              : std::exp(
                    log_radius(side, i, kind == PointWeight::Mode ? -1 : 0));
      for (std::size_t e : groups[i]) {
        weight[e] *= scale * side.direction[e] / std::sqrt(norm2);
      }
    }
  };
  for (PointWeight kind :
       {PointWeight::Mean, PointWeight::Median, PointWeight::Mode}) {
    std::vector<double> got(24), want(24, 1.0);
    kernel.point(problem.parameters(), kind, got.data());
    multiply(want, true, problem.storage.row, kind);
    multiply(want, false, problem.storage.column, kind);
    for (std::size_t e = 0; e < 24; ++e) {
      EXPECT_NEAR(got[e], want[e], 1e-13 * std::fabs(want[e]));
    }
  }
  std::vector<double> mean(24), point(24);
  kernel.moments(problem.parameters(), mean.data(), nullptr);
  kernel.point(problem.parameters(), PointWeight::Mean, point.data());
  for (std::size_t e = 0; e < 24; ++e) {
    EXPECT_NEAR(point[e], mean[e], 1e-13 * std::fabs(mean[e]));
  }
}

TEST(RdpPoint, NeedsAllArrays) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, {}};
  Problem<float> problem(layout);
  RdpKernel<float> kernel(layout);
  std::vector<float> weight(15);
  RdpSides<const float> missing = problem.parameters();
  missing.row.direction = nullptr;
  EXPECT_THROW(kernel.point(missing, PointWeight::Mean, weight.data()),
               ArgumentError);
  EXPECT_THROW(kernel.moments(missing, weight.data(), nullptr), ArgumentError);
  EXPECT_THROW(kernel.point(problem.parameters(), PointWeight::Mean, nullptr),
               ArgumentError);
}

}  // namespace
}  // namespace radir::kernels
