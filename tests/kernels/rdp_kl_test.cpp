#include <gtest/gtest.h>

#include "kernels/rdp_problem.h"
#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/kernels/rdp.h"
#include "radir/math/radial_kl.h"
#include "radir/math/vmf.h"
#include "radir/network/weight_shape.h"

namespace radir::kernels {
namespace {

using testing::elements_of_groups;
using testing::layout_cases;
using testing::LayoutCase;
using testing::Problem;
using testing::SideStorage;
using testing::Storage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Prior { OwnDirections, GivenDirections, Uniform };

/// A prior with everything at odd values.
struct PriorStorage {
  std::vector<double> row_direction, column_direction;
  RdpPrior<double> prior;

  PriorStorage(const RdpLayout& layout, Prior kind)
      : row_direction(static_cast<std::size_t>(layout.shape.size())),
        column_direction(row_direction) {
    prior.row = {1.9, nullptr, -0.7, 0.3, 1};
    prior.column = {0.8, nullptr, 0.2, -1.1, 7.5};
    fill_normal(RandomStream{9, 0, 0}, 0, layout.shape.size(),
                row_direction.data());
    fill_normal(RandomStream{9, 1, 0}, 0, layout.shape.size(),
                column_direction.data());
    if (kind == Prior::GivenDirections) {
      prior.row.direction = row_direction.data();
      prior.column.direction = column_direction.data();
    }
    if (kind == Prior::Uniform) {
      prior.row.log_concentration = prior.column.log_concentration = -kInfinity;
    }
  }
};

double factors_kl(const std::vector<double> (&q)[4], std::size_t i,
                  double log_scale, double degrees_of_freedom = 1) {
  return math::kl_lognormal_gamma(q[0][i], std::exp(q[1][i]), 0.5,
                                  std::exp(2 * log_scale)) +
         math::kl_lognormal_inverse_gamma(q[2][i], std::exp(q[3][i]),
                                          degrees_of_freedom / 2,
                                          degrees_of_freedom);
}

/// The sum of the scalar divergences of one side.
double side_kl(const network::WeightShape& shape, bool rows,
               const SideStorage<double>& q,
               const RdpSidePrior<double>& prior) {
  const auto groups = elements_of_groups(shape, rows);
  double sum = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    double cosine = 1;
    if (prior.direction != nullptr) {
      double aa = 0, ab = 0, bb = 0;
      for (const std::size_t e : groups[i]) {
        aa += q.direction[e] * q.direction[e];
        ab += q.direction[e] * prior.direction[e];
        bb += prior.direction[e] * prior.direction[e];
      }
      cosine = ab / std::sqrt(aa * bb);
    }
    const double kappa =
        std::exp(q.log_concentration[q.log_concentration.size() == 1 ? 0 : i]);
    sum +=
        math::vmf_kl(static_cast<double>(groups[i].size()), kappa,
                     std::exp(prior.log_concentration), cosine) +
        factors_kl(q.local, i, prior.log_local_scale, prior.degrees_of_freedom);
  }
  if (q.global[0].empty()) return sum;
  return sum + factors_kl(q.global, 0, prior.log_global_scale);
}

double layer_kl(Problem<double>& problem, const RdpPrior<double>& prior) {
  const RdpLayout& layout = problem.layout;
  double sum = 0;
  if (layout.row) {
    sum += side_kl(layout.shape, true, problem.storage.row, prior.row);
  }
  if (layout.column) {
    sum += side_kl(layout.shape, false, problem.storage.column, prior.column);
  }
  return sum;
}

template <typename Body>
void for_each_case(const Body& body) {
  for (const LayoutCase& c : layout_cases()) {
    for (Prior kind :
         {Prior::OwnDirections, Prior::GivenDirections, Prior::Uniform}) {
      SCOPED_TRACE(c.name + ", prior " +
                   std::to_string(static_cast<int>(kind)));
      Problem<double> problem(c.layout);
      PriorStorage prior(c.layout, kind);
      body(problem, prior);
    }
  }
}

TEST(RdpKl, IsTheSumOfTheScalarDivergences) {
  for_each_case([](Problem<double>& problem, PriorStorage& prior) {
    RdpKernel<double> kernel(problem.layout);
    const double want = layer_kl(problem, prior.prior);
    EXPECT_NEAR(kernel.kl(problem.parameters(), prior.prior), want,
                1e-12 * want);
  });
}

TEST(RdpKl, FloatIsCloseToDouble) {
  for_each_case([](Problem<double>& problem, PriorStorage& prior) {
    Problem<float> rounded(problem.layout);
    RdpKernel<float> kernel(problem.layout);
    const std::vector<float> row(prior.row_direction.begin(),
                                 prior.row_direction.end());
    const std::vector<float> column(prior.column_direction.begin(),
                                    prior.column_direction.end());
    const auto convert = [](const RdpSidePrior<double>& from,
                            const std::vector<float>& direction) {
      return RdpSidePrior<float>{
          from.log_concentration,
          from.direction == nullptr ? nullptr : direction.data(),
          from.log_local_scale, from.log_global_scale, from.degrees_of_freedom};
    };
    const RdpPrior<float> float_prior{convert(prior.prior.row, row),
                                      convert(prior.prior.column, column)};
    const double want = layer_kl(problem, prior.prior);
    EXPECT_NEAR(kernel.kl(rounded.parameters(), float_prior), want,
                1e-5 * want);
  });
}

TEST(RdpKl, GradientsAreDerivatives) {
  const double scale = 0.37, h = 1e-5;
  for_each_case([&](Problem<double>& problem, PriorStorage& prior) {
    RdpKernel<double> kernel(problem.layout);
    Storage<double> gradients(problem.layout);
    RdpPriorGradient of_prior;
    const RdpKlGradient<double> to{scale, gradients.gradients(), &of_prior};
    kernel.kl_backward(problem.parameters(), prior.prior, to);
    // The slope of scale * KL in x, against `got`.
    const auto check = [&](double& x, double got, const std::string& name) {
      const double at = x;
      x = at + h;
      const double up = kernel.kl(problem.parameters(), prior.prior);
      x = at - h;
      const double down = kernel.kl(problem.parameters(), prior.prior);
      x = at;
      const double want = scale * (up - down) / (2 * h);
      EXPECT_NEAR(got, want, 1e-6 * std::max(1.0, std::fabs(want))) << name;
    };
    std::vector<std::vector<double>> got;
    gradients.for_each(
        [&](const std::string&, std::vector<double>& v) { got.push_back(v); });
    std::size_t array = 0;
    problem.storage.for_each(
        [&](const std::string& name, std::vector<double>& v) {
          const std::vector<double>& g = got[array++];
          for (std::size_t i = 0; i < v.size(); i += 1 + v.size() / 7) {
            check(v[i], g[i], name + "[" + std::to_string(i) + "]");
          }
        });
    const auto check_prior = [&](RdpSidePrior<double>& p,
                                 const RdpSidePriorGradient& g,
                                 const std::string& side) {
      if (p.log_concentration > -kInfinity) {
        check(p.log_concentration, g.log_concentration, side + " kappa_p");
      } else {
        EXPECT_EQ(g.log_concentration, 0);
      }
      check(p.log_local_scale, g.log_local_scale, side + " local scale");
      check(p.log_global_scale, g.log_global_scale, side + " global scale");
    };
    check_prior(prior.prior.row, of_prior.row, "row");
    check_prior(prior.prior.column, of_prior.column, "column");
  });
}

TEST(RdpKl, GradientsAreAddedAndThePriorsAreOptional) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  PriorStorage prior(layout, Prior::GivenDirections);
  RdpKernel<double> kernel(layout);
  Storage<double> once(layout), twice(layout);
  RdpPriorGradient unused;
  const RdpKlGradient<double> full{2, once.gradients(), &unused};
  const RdpKlGradient<double> half{1, twice.gradients(), nullptr};
  kernel.kl_backward(problem.parameters(), prior.prior, full);
  kernel.kl_backward(problem.parameters(), prior.prior, half);
  kernel.kl_backward(problem.parameters(), prior.prior, half);
  std::vector<std::vector<double>> want;
  once.for_each(
      [&](const std::string&, std::vector<double>& v) { want.push_back(v); });
  std::size_t array = 0;
  twice.for_each([&](const std::string& name, std::vector<double>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      EXPECT_NEAR(v[i], want[array][i], 1e-13 * (1 + std::fabs(v[i]))) << name;
    }
    ++array;
  });
}

/// A draw survives a KL that is computed between it and its backward pass.
TEST(RdpKl, LeavesTheDrawAlone) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  PriorStorage prior(layout, Prior::GivenDirections);
  RdpKernel<double> kernel(layout);
  std::vector<double> weight(15);
  const std::vector<double> slope(15, 1.0);
  const auto gradient_of_row_0 = [&](bool with_kl) {
    Storage<double> gradients(layout);
    kernel.sample(problem.parameters(), {1, 0, 0}, weight.data());
    if (with_kl) {
      Storage<double> of_kl(layout);
      kernel.kl(problem.parameters(), prior.prior);
      kernel.kl_backward(problem.parameters(), prior.prior,
                         {1, of_kl.gradients(), nullptr});
    }
    kernel.backward(problem.parameters(), weight.data(), slope.data(),
                    gradients.gradients());
    return gradients.row.direction[0];
  };
  EXPECT_EQ(gradient_of_row_0(true), gradient_of_row_0(false));
}

TEST(RdpKl, RefusesBadPriors) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  RdpKernel<double> kernel(layout);
  Storage<double> gradients(layout);
  bool of_gradient = false;
  const auto expect_domain_error = [&](const RdpPrior<double>& prior,
                                       const std::string& part) {
    of_gradient = !of_gradient;
    try {
      if (of_gradient) {
        kernel.kl_backward(problem.parameters(), prior,
                           {1, gradients.gradients(), nullptr});
      } else {
        kernel.kl(problem.parameters(), prior);
      }
      ADD_FAILURE() << "nothing was thrown; expected: " << part;
    } catch (const DomainError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << error.what();
    }
  };
  RdpPrior<double> prior;
  prior.row.log_concentration = kInfinity;
  expect_domain_error(prior, "row prior's log_concentration");
  prior.row.log_concentration = 0;
  prior.column.log_local_scale = std::nan("");
  expect_domain_error(prior, "column prior's log scales");
  prior.column.log_local_scale = 0;
  prior.column.log_global_scale = kInfinity;
  expect_domain_error(prior, "column prior's log scales");
  prior.column.log_global_scale = 0;
  prior.row.degrees_of_freedom = 0;
  expect_domain_error(prior, "row prior's degrees of freedom");
}

TEST(RdpKl, NamesMissingGradients) {
  const RdpLayout layout{{1, 3, 5, 1}, RdpSideLayout{}, RdpSideLayout{}};
  Problem<double> problem(layout);
  RdpKernel<double> kernel(layout);
  Storage<double> gradients(layout);
  RdpKlGradient<double> to{1, gradients.gradients(), nullptr};
  to.parameters.column.direction = nullptr;
  EXPECT_THROW(kernel.kl_backward(problem.parameters(), {}, to), ArgumentError);
  RdpSides<const double> missing = problem.parameters();
  missing.row.log_concentration = nullptr;
  EXPECT_THROW(kernel.kl(missing, {}), ArgumentError);
}

}  // namespace
}  // namespace radir::kernels
