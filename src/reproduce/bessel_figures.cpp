#include "reproduce/bessel_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "radir/math/bessel.h"
#include "radir/report/chart.h"
#include "radir/report/table.h"
#include "radir/reproduce/bessel_reference.h"
#include "reproduce/bessel_methods.h"

namespace radir::reproduce {
namespace {

using report::Axis;
using report::Chart;
using report::Figure;
using report::Mark;
using report::Scale;
using report::Section;
using report::Series;
using report::spaced;
using report::Table;
using report::TableBlock;
using report::to_svg;

constexpr double kEps = std::numeric_limits<double>::epsilon();

const std::vector<double>& orders() {
  static const std::vector<double> values = {10, 100, 500, 5000};
  return values;
}

const std::vector<double>& arguments() {
  static const std::vector<double> values = spaced(1e-2, 1e5, 113, Scale::Log);
  return values;
}

const Axis kArgumentAxis{"z", Scale::Log};

/// A function of (nu, z) that several methods compute.
struct Subject {
  const std::vector<BesselMethod>& methods;
  long double (*exact)(long double nu, long double z);
  /// What an error is divided by.
  double (*unit)(long double exact, double nu, double z);
  std::string error_label;
};

/// How one method does at one order.
struct Outcome {
  std::vector<double> values;
  std::vector<double> errors;  // NaN where there is no finite value
  double largest_error = 0;    // of those that are not
  int failures = 0;
};

Outcome measure(const Subject& subject, const BesselMethod& method, double nu) {
  Outcome outcome;
  for (const double z : arguments()) {
    const long double exact = subject.exact(nu, z);
    const double value = method.value(nu, z);
    const double error = static_cast<double>(std::fabs(value - exact)) /
                         subject.unit(exact, nu, z);
    outcome.values.push_back(value);
    if (std::isfinite(error)) {
      outcome.errors.push_back(error);
      outcome.largest_error = std::max(outcome.largest_error, error);
    } else {
      outcome.errors.push_back(std::numeric_limits<double>::quiet_NaN());
      ++outcome.failures;
    }
  }
  return outcome;
}

std::string summary(const Outcome& outcome) {
  const auto total = static_cast<int>(arguments().size());
  if (outcome.failures == total) return "undefined";
  std::string text = fmt::format("{:.1e}", outcome.largest_error);
  if (outcome.failures > 0) {
    text += fmt::format(" (undefined for {} % of the inputs)",
                        100 * outcome.failures / total);
  }
  return text;
}

/// Outcomes of every method at every order: [method][order].
using Outcomes = std::vector<std::vector<Outcome>>;

Outcomes measure_all(const Subject& subject) {
  Outcomes outcomes;
  for (const BesselMethod& method : subject.methods) {
    outcomes.emplace_back();
    for (const double nu : orders()) {
      outcomes.back().push_back(measure(subject, method, nu));
    }
  }
  return outcomes;
}

/// Ours as a line for each order, and `naive` (a method's number) as dots.
std::string value_panel(const std::string& title, Scale scale,
                        const Subject& subject, const Outcomes& outcomes,
                        std::size_t naive) {
  Chart chart;
  chart.title = title;
  chart.x = kArgumentAxis;
  chart.y = {"value", scale};
  for (std::size_t j = 0; j < orders().size(); ++j) {
    chart.series.push_back({fmt::format("ν = {:g}", orders()[j]), arguments(),
                            outcomes[0][j].values});
  }
  for (std::size_t j = 0; j < orders().size(); ++j) {
    constexpr int kGray = 7;
    chart.series.push_back({j == 0 ? subject.methods[naive].name : "",
                            arguments(),
                            outcomes[naive][j].values,
                            Mark::Points,
                            {},
                            kGray});
  }
  return to_svg(chart);
}

std::string error_panel(const Subject& subject, const Outcomes& outcomes,
                        std::size_t order) {
  Chart chart;
  chart.title = fmt::format("Error at ν = {:g}", orders()[order]);
  chart.x = kArgumentAxis;
  chart.y = {subject.error_label, Scale::Log, 1e-17, 10};
  for (std::size_t i = 0; i < subject.methods.size(); ++i) {
    const BesselMethod& method = subject.methods[i];
    std::vector<double> shown = outcomes[i][order].errors;
    // An exact result would fall off a logarithmic axis.
    for (double& error : shown) {
      if (error < kEps / 10) error = kEps / 10;
    }
    chart.series.push_back(
        {method.name, arguments(), shown, method.mark, {}, method.color});
  }
  return to_svg(chart);
}

TableBlock error_table(const Subject& subject, const Outcomes& outcomes) {
  Table table;
  table.columns.push_back({"method", "Method"});
  for (const double nu : orders()) {
    table.columns.push_back(
        {fmt::format("nu_{:g}", nu), fmt::format("ν = {:g}", nu)});
  }
  for (std::size_t i = 0; i < subject.methods.size(); ++i) {
    table.rows.push_back({subject.methods[i].name});
    for (const Outcome& outcome : outcomes[i]) {
      table.rows.back().push_back(summary(outcome));
    }
  }
  return {
      table,
      fmt::format("Largest error where a method is defined, over {} "
                  "values of z from {:g} to {:g}, and the share of them "
                  "where it is undefined.",
                  arguments().size(), arguments().front(), arguments().back())};
}

/// The root of a rising function of z, by bisection on log z.
double root(const std::function<double(double)>& rising) {
  double low = -100;
  double high = 100;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (rising(std::exp(middle)) < 0 ? low : high) = middle;
  }
  return std::exp(low);
}

/// The part of the (nu, z) plane in which quotients of Bessel functions exist.
std::string existence_panel() {
  const double log_least = std::log(std::numeric_limits<double>::min());
  const double log_greatest = std::log(std::numeric_limits<double>::max());
  constexpr double kTop = 1e6;
  const std::vector<double> nu = spaced(1, 1e5, 61, Scale::Log);
  Series plain{"plain quotient", nu, {}, Mark::Band, {}, 5};
  Series scaled{"quotient of e^{−z}I", nu, {}, Mark::Band, {}, 4};
  for (const double order : nu) {
    const auto log_i = [order](double z) {
      return math::log_bessel_i(order, z);
    };
    plain.y.push_back(root([&](double z) { return log_i(z) - log_least; }));
    plain.upper.push_back(
        root([&](double z) { return log_i(z) - log_greatest; }));
    // exp(-z) I_nu(z) rises until its peak, which is far above the smallest
    // number.
    scaled.y.push_back(root(
        [&](double z) { return z > kTop ? 1 : log_i(z) - z - log_least; }));
    scaled.upper.push_back(kTop);
  }
  Chart chart;
  chart.title = "Where quotients of double numbers exist";
  chart.x = {"order ν", Scale::Log};
  chart.y = {"z", Scale::Log, 1e-6, kTop};
  chart.series = {scaled, plain};
  return to_svg(chart);
}

// Positions of the article's forms in log_bessel_methods().
constexpr std::size_t kRatioSum = 1;
constexpr std::size_t kBranches = 2;

/// |value - exact| of one method: [order][argument].
std::vector<std::vector<double>> absolute_errors(const Subject& subject,
                                                 const Outcomes& outcomes,
                                                 std::size_t method) {
  std::vector<std::vector<double>> errors;
  for (std::size_t j = 0; j < orders().size(); ++j) {
    errors.emplace_back();
    for (std::size_t i = 0; i < arguments().size(); ++i) {
      const long double exact = subject.exact(orders()[j], arguments()[i]);
      errors.back().push_back(static_cast<double>(
          std::fabs(outcomes[method][j].values[i] - exact)));
    }
  }
  return errors;
}

double largest(const std::vector<std::vector<double>>& values) {
  double result = 0;
  for (const std::vector<double>& row : values) {
    result = std::max(result, *std::max_element(row.begin(), row.end()));
  }
  return result;
}

std::string absolute_error_panel(const Subject& subject,
                                 const Outcomes& outcomes) {
  Chart chart;
  chart.title = "Absolute error of the article's forms";
  chart.x = kArgumentAxis;
  chart.y = {"|error of log I|", Scale::Log, 1e-4, 1e4};
  const auto branches = absolute_errors(subject, outcomes, kBranches);
  const auto sums = absolute_errors(subject, outcomes, kRatioSum);
  for (std::size_t j = 0; j < orders().size(); ++j) {
    chart.series.push_back({fmt::format("branches, ν = {:g}", orders()[j]),
                            arguments(),
                            branches[j],
                            Mark::Line,
                            {},
                            static_cast<int>(j)});
  }
  for (std::size_t j = 0; j < orders().size(); ++j) {
    chart.series.push_back({j == 0 ? "sum of log ratios, same colours" : "",
                            arguments(),
                            sums[j],
                            Mark::Dashed,
                            {},
                            static_cast<int>(j)});
  }
  return to_svg(chart);
}

void add_error_panels(Figure& figure, const Subject& subject,
                      const Outcomes& outcomes) {
  for (std::size_t j = 0; j < orders().size(); ++j) {
    figure.panels.push_back(error_panel(subject, outcomes, j));
  }
}

}  // namespace

Section bessel_ratio_section() {
  const Subject subject{ratio_methods(), reference_bessel_ratio,
                        [](long double exact, double, double) {
                          return static_cast<double>(exact);
                        },
                        "relative error"};
  const Outcomes outcomes = measure_all(subject);
  Figure figure;
  figure.panels = {value_panel("I_{ν}(z) / I_{ν−1}(z)", Scale::Log, subject,
                               outcomes, subject.methods.size() - 1),
                   existence_panel()};
  add_error_panels(figure, subject, outcomes);
  figure.caption =
      "The mean cosine of a direction, and with it every gradient, is this "
      "ratio. Top left: as radir computes it, with dots where dividing two "
      "values of std::cyl_bessel_i gives a number at all. Top right: such a "
      "quotient exists only in the red region, between underflow (below) and "
      "overflow (above); scaling by e^{−z}, as scipy.special.ive does, opens "
      "the region upwards but leaves the underflow. Below: errors. The bounds "
      "always give a value, whose error shrinks as the dimension grows; radir "
      "stays at the last digit for every ν and z.";
  return {"The Bessel ratio by each method",
          {figure, error_table(subject, outcomes)}};
}

Section log_bessel_section() {
  const Subject subject{log_bessel_methods(), reference_log_bessel_i,
                        [](long double exact, double nu, double z) {
                          return std::max(static_cast<double>(std::fabs(exact)),
                                          std::hypot(nu, z));
                        },
                        "error / max(|log I|, p)"};
  const Outcomes outcomes = measure_all(subject);
  Figure figure;
  figure.panels = {value_panel("log I_{ν}(z)", Scale::Linear, subject, outcomes,
                               subject.methods.size() - 1),
                   absolute_error_panel(subject, outcomes)};
  add_error_panels(figure, subject, outcomes);
  figure.caption = fmt::format(
      "The logarithm gives the normalising constant of the density. Top right: "
      "the article's pair of asymptotic branches is off by an amount that "
      "grows with ν, up to {:.0f} here, which drowns a Kullback-Leibler "
      "divergence; its sum of log ratios by at most {:.2f}, at the price of ν "
      "evaluations. Below: errors relative to the larger of |log I_{{ν}}(z)| "
      "and p = √(ν^{{2}} + z^{{2}}), the size of the terms it is made of, "
      "since the logarithm itself passes through zero.",
      largest(absolute_errors(subject, outcomes, kBranches)),
      largest(absolute_errors(subject, outcomes, kRatioSum)));
  return {"The logarithm of the Bessel function by each method",
          {figure, error_table(subject, outcomes)}};
}

}  // namespace radir::reproduce
