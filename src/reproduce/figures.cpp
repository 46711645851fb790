#include "radir/reproduce/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "radir/core/version.h"
#include "radir/math/article.h"
#include "radir/math/bessel.h"
#include "radir/math/constants.h"
#include "radir/math/half_cauchy.h"
#include "radir/math/vmf.h"
#include "radir/report/chart.h"
#include "radir/reproduce/bessel_reference.h"
#include "reproduce/bessel_figures.h"

namespace radir::reproduce {
namespace {

using report::Axis;
using report::Chart;
using report::Figure;
using report::Guide;
using report::Mark;
using report::Scale;
using report::Section;
using report::Series;
using report::spaced;
using report::to_svg;

using math::detail::kPi;

std::vector<double> values_at(const std::vector<double>& x,
                              const std::function<double(double)>& f) {
  std::vector<double> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), f);
  return y;
}

// ---- von Mises-Fisher density on the circle

double circle_density(double kappa, double angle) {
  return std::exp(math::vmf_log_normalizer(2.0, kappa) +
                  kappa * std::cos(angle));
}

Section circle_section() {
  const std::vector<double> angles = spaced(-kPi, kPi, 721);
  report::CircleChart around;
  around.title = "Around the circle";
  around.direction_label = "μ";
  Chart along;
  along.title = "The same, unrolled";
  along.x = {"angle to μ (degrees)", Scale::Linear, -180, 180, 60};
  along.y = {"density", Scale::Linear, 0};
  for (const double kappa : {2.0, 5.0, 10.0, 25.0, 50.0, 100.0}) {
    const std::vector<double> density = values_at(
        angles, [&](double angle) { return circle_density(kappa, angle); });
    const std::string name = fmt::format("κ = {:g}", kappa);
    around.series.push_back({name, angles, density});
    along.series.push_back(
        {name,
         values_at(angles, [](double angle) { return angle * 180 / kPi; }),
         density});
  }
  return {"Directions: the von Mises-Fisher density on the circle",
          {Figure{{to_svg(around), to_svg(along)},
                  "Density of a random direction in the plane with mean μ = "
                  "(1, 0), drawn outwards from the circle on the left. A small "
                  "concentration κ spreads the mass over half the circle; a "
                  "large one gathers it around μ. In a network every row of a "
                  "weight matrix has such a direction, in as many dimensions "
                  "as the row has weights."}}};
}

// ---- half-Cauchy densities

double half_cauchy_density(double x, double scale) {
  return std::exp(math::half_cauchy_log_density(x, scale));
}

Section half_cauchy_section() {
  Chart near;
  near.title = "Near zero";
  near.x = {"x", Scale::Linear, 0, 4};
  near.y = {"density", Scale::Linear, 0};
  Chart tail;
  tail.title = "In the tail";
  tail.x = {"x", Scale::Log, 0.01, 1000};
  tail.y = {"density", Scale::Log};
  for (const double scale : {0.25, 0.5, 1.0, 2.0}) {
    const auto density = [scale](double x) {
      return half_cauchy_density(x, scale);
    };
    const std::string name = fmt::format("γ = {:g}", scale);
    const std::vector<double> linear = spaced(0, 4, 401);
    const std::vector<double> log = spaced(0.01, 1000, 201, Scale::Log);
    near.series.push_back({name, linear, values_at(linear, density)});
    tail.series.push_back({name, log, values_at(log, density)});
  }
  return {"Lengths: half-Cauchy priors",
          {Figure{{to_svg(near), to_svg(tail)},
                  "The prior of a length. The smaller the scale γ, the more "
                  "mass lies near zero: most rows are asked to vanish. Beyond "
                  "γ the density falls only as 1/x^{2} (a straight line on the "
                  "right), so a row that the data need may stay as long as it "
                  "likes."}}};
}

// ---- gap between the bounds

constexpr double kArticleGap = 4.5399929762484854e-05;  // exp(-10)

/// Orders nu = m/2 for m = 2 ... 20000, log-spaced.
std::vector<double> bound_orders() { return spaced(1, 1e4, 81, Scale::Log); }

double gap_theorem4(double nu, double z) {
  return math::article::ratio_upper_theorem4(nu, z) -
         math::article::ratio_lower_theorem4(nu, z);
}

double gap_theorem5(double nu, double z) {
  return math::article::ratio_upper_theorem5(nu, z) -
         math::article::ratio_lower_theorem5(nu, z);
}

using Bivariate = std::function<double(double, double)>;

/// |f/ratio - 1|, no smaller than a tenth of the rounding unit so that an exact
/// result still shows on a logarithmic axis.
double ratio_error(double (*f)(double, double), double nu, double z) {
  const long double exact = reference_bessel_ratio(nu, z);
  const auto error = static_cast<double>(std::fabs(f(nu, z) / exact - 1));
  return std::max(error, std::numeric_limits<double>::epsilon() / 10);
}

double largest_over_z(const Bivariate& f, double nu) {
  double largest = 0;
  for (const double z : spaced(1e-2, 1e5, 71, Scale::Log)) {
    largest = std::max(largest, f(nu, z));
  }
  return largest;
}

/// The first dimension m = 2 nu with a gap below the article's e^-10 for all z.
int first_dimension_below_article_gap() {
  int dimension = 2;
  while (largest_over_z(gap_theorem5, dimension / 2.0) >= kArticleGap) {
    ++dimension;
  }
  return dimension;
}

/// An empty chart over the dimension with the article's gap as a guide.
Chart gap_chart(const char* title, Axis y) {
  Chart chart;
  chart.title = title;
  chart.x = {"dimension m = 2ν", Scale::Log};
  chart.y = std::move(y);
  chart.horizontal = {{kArticleGap, "e^{−10}"}};
  return chart;
}

Section gap_section() {
  const std::vector<double> orders = bound_orders();
  const std::vector<double> dimensions =
      values_at(orders, [](double nu) { return 2 * nu; });

  Chart at_z = gap_chart("Upper minus lower bound, Theorem 5",
                         {"gap", Scale::Log, 1e-13, 1});
  for (const double z : {1.0, 10.0, 100.0, 1000.0}) {
    at_z.series.push_back(
        {fmt::format("z = {:g}", z), dimensions,
         values_at(orders, [z](double nu) { return gap_theorem5(nu, z); })});
  }

  const auto worst = [&](const Bivariate& f) {
    return values_at(orders, [&](double nu) { return largest_over_z(f, nu); });
  };
  const auto error_of = [](double (*f)(double, double)) {
    return [f](double nu, double z) { return ratio_error(f, nu, z); };
  };
  const std::vector<double> gap5 = worst(gap_theorem5);
  const std::vector<double> average5 =
      worst(error_of(math::article::ratio_average_theorem5<double>));
  const std::vector<double> ours = worst(error_of(math::bessel_ratio<double>));
  Chart largest = gap_chart("Largest over all z",
                            {"gap, or relative error", Scale::Log, 1e-17, 1});
  largest.series = {
      {"gap, Theorem 4", dimensions, worst(gap_theorem4), Mark::Line, {}, 3},
      {"gap, Theorem 5", dimensions, gap5, Mark::Line, {}, 1},
      {"error of their average, Theorem 5",
       dimensions,
       average5,
       Mark::Dashed,
       {},
       1},
      {"error of radir", dimensions, ours, Mark::Line, {}, 0}};

  const double worst_ours = *std::max_element(ours.begin(), ours.end());
  return {
      "How tight the bounds of the Bessel ratio are",
      {Figure{
          {to_svg(at_z), to_svg(largest)},
          fmt::format(
              "The article replaces I_{{ν}}(z)/I_{{ν−1}}(z) by the average of "
              "an upper and a lower bound. The gap between them closes as the "
              "dimension grows, but in low dimension it is wide: {:.2g} at "
              "m = 2, and below the e^{{−10}} the article speaks of only from "
              "m = {} on. The average is off by {:.1g} at m = 2 and "
              "by {:.1g} at m = 20000. The ratio radir computes is off by at "
              "most {:.1g}, that is {:.1f} units of the last place, for every "
              "m and z drawn.",
              gap5.front(), first_dimension_below_article_gap(),
              average5.front(), average5.back(), worst_ours,
              worst_ours / std::numeric_limits<double>::epsilon())}}};
}

}  // namespace

report::Page figures() {
  report::Page page;
  page.title = "Radial and directional posteriors: the figures";
  page.lead =
      "The figures of the article by Oh, Adamczewski and Park (2019) that need "
      "no training, drawn by radir from its own functions, with the error of "
      "each method measured beside it.";
  page.sections = {circle_section(), half_cauchy_section(), gap_section(),
                   bessel_ratio_section(), log_bessel_section()};
  page.footer = fmt::format(
      "Made by \"radir reproduce figures\", radir {}. Errors are measured "
      "against a continued fraction and a power series in extended precision.",
      version());
  return page;
}

}  // namespace radir::reproduce
