#include "radir/report/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <regex>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::report {
namespace {

using ::radir::testing::expect_error;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every opening tag has its closing one, in the right order.
void expect_well_formed(const std::string& xml) {
  const std::regex tag("<(/?)([a-zA-Z]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(xml.begin(), xml.end(), tag), end; it != end;
       ++it) {
    if ((*it)[3].length() > 0) continue;
    if ((*it)[1].length() == 0) {
      open.push_back((*it)[2]);
      continue;
    }
    ASSERT_FALSE(open.empty()) << "unexpected " << it->str();
    ASSERT_EQ(open.back(), (*it)[2].str());
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

/// The `d` of every path that is drawn in palette colour `index`.
std::vector<std::string> paths_of_color(const std::string& svg, int index) {
  const std::regex path("<path d=\"([^\"]*)\"[^>]*var\\(--radir-" +
                        std::to_string(index) + ",");
  std::vector<std::string> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), path), end; it != end;
       ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

Chart line_chart() {
  Chart chart;
  chart.title = "Ratio of I_{ν}";
  chart.x.label = "z";
  chart.y.label = "r";
  chart.series.push_back({"first", {0, 1, 2}, {0, 1, 4}});
  return chart;
}

TEST(Chart, DrawsTheLineThroughItsPoints) {
  Chart chart = line_chart();
  chart.x = {"x", Scale::Linear, 0, 2};
  chart.y = {"y", Scale::Linear, 0, 4};
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  const std::vector<std::string> paths = paths_of_color(svg, 0);
  ASSERT_EQ(paths.size(), 1u);
  double x[3];
  double y[3];
  ASSERT_EQ(std::sscanf(paths[0].c_str(), "M%lf %lfL%lf %lfL%lf %lf", &x[0],
                        &y[0], &x[1], &y[1], &x[2], &y[2]),
            6);
  // Equally spaced along x; heights (pixels count downwards) as 0 : 1 : 4.
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11);
  EXPECT_NEAR((y[0] - y[2]) / (y[0] - y[1]), 4, 0.02);
}

TEST(Chart, LogarithmicAxesMakePowersStraight) {
  Chart chart;
  chart.x.scale = Scale::Log;
  chart.y.scale = Scale::Log;
  chart.series.push_back({"", {1, 10, 100}, {1e-6, 1e-3, 1}});
  const std::vector<std::string> paths = paths_of_color(to_svg(chart), 0);
  ASSERT_EQ(paths.size(), 1u);
  double x[3];
  double y[3];
  ASSERT_EQ(std::sscanf(paths[0].c_str(), "M%lf %lfL%lf %lfL%lf %lf", &x[0],
                        &y[0], &x[1], &y[1], &x[2], &y[2]),
            6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11);
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.11);
}

TEST(Chart, ValuesThatCannotBeDrawnInterruptTheLine) {
  Chart chart = line_chart();
  chart.series[0].x = {0, 1, 2, 3, 4};
  chart.series[0].y = {1, 2, kNan, 2, 1};
  EXPECT_EQ(count(paths_of_color(to_svg(chart), 0).at(0), "M"), 2u);
  chart.series[0].y = {1, 2, HUGE_VAL, 2, 1};
  EXPECT_EQ(count(paths_of_color(to_svg(chart), 0).at(0), "M"), 2u);
  chart.y.scale = Scale::Log;
  chart.series[0].y = {1, 2, 0, 2, 1};
  EXPECT_EQ(count(paths_of_color(to_svg(chart), 0).at(0), "M"), 2u);
}

TEST(Chart, TicksAreRoundNumbers) {
  Chart chart = line_chart();
  chart.x = {"x", Scale::Linear, -0.2, 1};
  const std::string linear = to_svg(chart);
  for (const char* label : {">−0.2<", ">0.0<", ">0.8<", ">1.0<"}) {
    EXPECT_TRUE(contains(linear, label)) << label;
  }
  chart.x = {"x", Scale::Log, 1e-6, 1e4};
  const std::string log = to_svg(chart);
  EXPECT_TRUE(contains(log, ">−6</tspan>"));
  EXPECT_TRUE(contains(log, ">0.01<"));
  EXPECT_TRUE(contains(log, ">1<"));
  chart.x = {"x", Scale::Log, 1, 20};
  const std::string narrow = to_svg(chart);
  for (const char* label : {">1<", ">2<", ">5<", ">10<", ">20<"}) {
    EXPECT_TRUE(contains(narrow, label)) << label;
  }
}

TEST(Chart, LegendAppearsForTwoNamedSeries) {
  Chart chart = line_chart();
  EXPECT_FALSE(contains(to_svg(chart), ">first<"));
  chart.series.push_back({"second", {0, 1}, {1, 1}, Mark::Dashed});
  const std::string svg = to_svg(chart);
  EXPECT_TRUE(contains(svg, ">first<"));
  EXPECT_TRUE(contains(svg, ">second<"));
  EXPECT_EQ(count(svg, "stroke-dasharray=\"7 4\""), 2u);  // line and legend
}

TEST(Chart, DrawsBandsPointsAndGuides) {
  Chart chart;
  chart.series.push_back(
      {"band", {0, 1}, {0, 0}, Mark::Band, {1, 2}, /*color=*/3});
  chart.series.push_back({"points", {0, 0.5, 1}, {1, kNan, 1}, Mark::Points});
  chart.horizontal.push_back({0.5, "half"});
  chart.vertical.push_back({0.25, "quarter"});
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  // The area goes forth along the upper edge, back along the lower, and shuts.
  const std::string area = paths_of_color(svg, 3).at(1);
  EXPECT_EQ(count(area, "L"), 3u);
  EXPECT_EQ(area.back(), 'Z');
  EXPECT_EQ(count(svg, "<circle"), 3u);  // two points and the legend
  EXPECT_TRUE(contains(svg, ">half<"));
  EXPECT_TRUE(contains(svg, ">quarter<"));
}

TEST(Chart, TextIsEscapedAndScriptsAreSet) {
  Chart chart = line_chart();
  chart.title = "a < b & \"c\" x_{i}^{2}";
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  EXPECT_TRUE(contains(svg, "a &lt; b &amp; &quot;c&quot; x<tspan"));
  EXPECT_TRUE(contains(svg, "aria-label=\"a &lt; b &amp; &quot;c&quot; x_i^2"));
  chart.title = "an open _{brace";
  EXPECT_TRUE(contains(to_svg(chart), ">an open _{brace<"));
}

TEST(Chart, OneValueGetsRoomAroundIt) {
  Chart chart;
  chart.series.push_back({"", {0}, {3}, Mark::Points});
  expect_well_formed(to_svg(chart));
  chart.y.scale = Scale::Log;
  expect_well_formed(to_svg(chart));
}

TEST(Chart, SaysWhatIsWrong) {
  const auto draw = [](const Chart& chart) { return [=] { to_svg(chart); }; };
  Chart chart = line_chart();
  chart.series[0].y.pop_back();
  expect_error<ArgumentError>(draw(chart),
                              "\"first\" has 3 values of x and 2 of y");

  chart = line_chart();
  chart.series[0].mark = Mark::Band;
  expect_error<ArgumentError>(draw(chart),
                              "has 0 upper values where 3 are needed");

  chart = line_chart();
  chart.series[0].y = {kNan, kNan, kNan};
  expect_error<ArgumentError>(draw(chart), "no value can be drawn on the y");

  chart = line_chart();
  chart.x.min = 5;
  expect_error<ArgumentError>(draw(chart), "the x axis runs from 5 to 2");

  chart = line_chart();
  chart.x.scale = Scale::Log;
  chart.x.min = -1;
  expect_error<ArgumentError>(draw(chart), "the logarithmic x axis starts at");
}

TEST(Chart, DrawsValuesThatHardlyDiffer) {
  Chart chart = line_chart();
  for (const std::vector<double>& values :
       {std::vector<double>{3, 3 + 4e-16, 3},
        {1e18, 1e18 + 256, 1e18},
        {5e-324, 0, 5e-324}}) {
    chart.series[0].y = values;
    EXPECT_TRUE(contains(to_svg(chart), "<path")) << values[0];
  }
  chart.y.min = 1;
  chart.y.max = 1 + 2e-16;
  expect_error<ArgumentError>([&] { to_svg(chart); },
                              "the y axis runs from 1 to 1");
}

TEST(Chart, DrawsTheLargestAndTheSmallestNumbers) {
  Chart chart = line_chart();
  chart.series[0].y = {-1e308, 2, 1e308};
  EXPECT_TRUE(contains(to_svg(chart), "<path"));
  chart.series[0].y = {1e-250, 1, 1e250};
  EXPECT_TRUE(contains(to_svg(chart), "<path"));
  chart.y.scale = Scale::Log;
  EXPECT_TRUE(contains(to_svg(chart), "<path"));
}

TEST(CircleChart, DrawsOutwardsFromTheCircle) {
  CircleChart chart;
  chart.title = "circle";
  chart.series.push_back({"even", {0, M_PI}, {1, 1}});
  chart.series.push_back({"none", {0, M_PI / 2}, {0, 0}});
  chart.direction_label = "μ";
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  double cx;
  double cy;
  double radius;
  const std::size_t at = svg.find("<circle");
  ASSERT_EQ(
      std::sscanf(svg.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\" r=\"%lf\"",
                  &cx, &cy, &radius),
      3);
  double x[2];
  double y[2];
  // Element 0 of each colour is the legend's.
  ASSERT_EQ(std::sscanf(paths_of_color(svg, 0).at(1).c_str(),
                        "M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]),
            4);
  EXPECT_GT(x[0] - cx, radius);
  EXPECT_NEAR(x[0] - cx, cx - x[1], 0.2);
  ASSERT_EQ(std::sscanf(paths_of_color(svg, 1).at(1).c_str(),
                        "M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]),
            4);
  EXPECT_NEAR(x[0] - cx, radius, 0.2);
  EXPECT_NEAR(cy - y[1], radius, 0.2);
  EXPECT_TRUE(contains(svg, ">μ<"));
}

TEST(CircleChart, SaysWhatIsWrong) {
  const auto draw = [](std::vector<double> x, std::vector<double> y) {
    return [=] {
      CircleChart chart;
      chart.series.push_back({"s", x, y});
      to_svg(chart);
    };
  };
  expect_error<ArgumentError>(draw({0, 1}, {1}), "has 2 angles and 1 values");
  expect_error<ArgumentError>(draw({0, 1}, {1, -2}), "holds -2");
  expect_error<ArgumentError>(draw({0, 1}, {0, 0}), "no value above 0");
}

TEST(Histogram, CountsEveryFiniteValueOnce) {
  const Series series =
      histogram("h", {0, 0.1, 0.9, 1.0, 2.0, kNan, HUGE_VAL}, 2);
  EXPECT_EQ(series.x, (std::vector<double>{0, 1, 1, 2}));
  EXPECT_EQ(series.upper, (std::vector<double>{3, 3, 2, 2}));
  EXPECT_EQ(series.y, (std::vector<double>{0, 0, 0, 0}));
}

TEST(Histogram, OneValueFillsOneBin) {
  const Series series = histogram("h", {4, 4, 4}, 1);
  EXPECT_EQ(series.x, (std::vector<double>{3.5, 4.5}));
  EXPECT_EQ(series.upper, (std::vector<double>{3, 3}));
}

TEST(Histogram, SaysWhatIsWrong) {
  expect_error<ArgumentError>([] { histogram("h", {1}, 0); }, "no bin");
  expect_error<ArgumentError>(
      [] {
        histogram("h", {kNan, kNan}, 3);
      },
      "none of the 2 values is finite");
}

TEST(Spaced, IsEvenOnItsScaleAndMeetsItsBounds) {
  EXPECT_EQ(spaced(0, 1, 3), (std::vector<double>{0, 0.5, 1}));
  const std::vector<double> log = spaced(1e-3, 1e3, 7, Scale::Log);
  ASSERT_EQ(log.size(), 7u);
  EXPECT_EQ(log.front(), 1e-3);
  EXPECT_EQ(log.back(), 1e3);
  EXPECT_NEAR(log[3], 1, 1e-12);
  expect_error<ArgumentError>([] { spaced(0, 1, 1); }, "a count of 1");
  expect_error<ArgumentError>([] { spaced(0, 1, 5, Scale::Log); },
                              "the bounds 0 and 1");
}

TEST(Chart, BarsAreUprightAndSeparate) {
  Chart chart;
  Series bars{"", {1, 2}, {0, 1}, Mark::Bars, {3, 2}};
  chart.series = {bars};
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  const auto paths = paths_of_color(svg, 0);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(count(paths[0], "M"), 2u);
  EXPECT_EQ(count(paths[0], "L"), 2u);
  chart.series[0].upper.clear();
  testing::expect_error<ArgumentError>([&] { to_svg(chart); },
                                       "only a band and bars have them");
}

TEST(DotChart, ShowsEachRowWithItsIntervals) {
  DotChart chart;
  chart.title = "Strength";
  chart.x.label = "length";
  chart.rows = {{"area & age", 2, 1, 3}, {"city", 1, 0.5, 1.5}};
  chart.rows[1].outer_lower = 0;
  chart.rows[1].outer_upper = 4;
  chart.rows.push_back({std::string(200, 'x'), 0.1, 0, 0.2});
  chart.rows.back().faint = true;
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  EXPECT_TRUE(contains(svg, "area &amp; age"));
  EXPECT_EQ(count(svg, "<circle"), 3u);
  // A bar for each row, and the wider one.
  EXPECT_EQ(paths_of_color(svg, 0).size(), 3u);
  EXPECT_EQ(paths_of_color(svg, 7).size(), 1u);
  // A long name is cut.
  EXPECT_TRUE(contains(svg, "xxx…</text>"));
  EXPECT_FALSE(contains(svg, std::string(60, 'x')));
  testing::expect_error<ArgumentError>([] { to_svg(DotChart()); },
                                       "at least one row");
}

}  // namespace
}  // namespace radir::report
