#include "radir/bench/simulated_tables.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"

namespace radir::bench {
namespace {

using kernels::PhiloxEngine;
using likelihood::MixtureComponent;

constexpr std::uint32_t kSimulationStream = 0xCA11;
constexpr double kPi = 3.14159265358979323846;

/// Uniform between two bounds.
double uniform(PhiloxEngine& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

/// Between the bounds in size, of either sign.
double two_sided(PhiloxEngine& random, double low, double high) {
  const double size = uniform(random, low, high);
  return random.uniform() < 0.5 ? -size : size;
}

/// Independent inputs: between -edge and edge inside; outside each is up to
/// twice as far.
auto symmetric_box(std::int64_t inputs, double edge) {
  return [=](PhiloxEngine& random, Region region, double* x) {
    for (std::int64_t i = 0; i < inputs; ++i) {
      x[i] = region == Region::Inside ? uniform(random, -edge, edge)
                                      : two_sided(random, edge, 2 * edge);
    }
  };
}

auto unit_cube(std::int64_t inputs) {
  return [=](PhiloxEngine& random, Region, double* x) {
    for (std::int64_t i = 0; i < inputs; ++i) x[i] = random.uniform();
  };
}

SimulatedProcess linear() {
  return {"linear",
          "1 + 2 x1 - 1.5 x2 + x3 - 0.5 x4 on [-1, 1]^5; normal noise of 0.5",
          5,
          {Region::Inside, Region::Outside},
          symmetric_box(5, 1),
          [](const double* x) {
            const double mean = 1 + 2 * x[0] - 1.5 * x[1] + x[2] - 0.5 * x[3];
            return MixtureComponent{mean, 0.5};
          }};
}

/// The sine has its maximum in the gap, which a straight line misses.
void draw_sine_input(PhiloxEngine& random, Region region, double* x) {
  constexpr double kEdge = 3;
  constexpr double kGapBegin = 0.5;
  constexpr double kGapEnd = 2.5;
  if (region == Region::Gap) {
    *x = uniform(random, kGapBegin, kGapEnd);
  } else if (region == Region::Outside) {
    *x = two_sided(random, kEdge, 1.5 * kEdge);
  } else {
    *x = uniform(random, -kEdge, kEdge - (kGapEnd - kGapBegin));
    if (*x > kGapBegin) *x += kGapEnd - kGapBegin;
  }
}

SimulatedProcess sine_gap() {
  return {"sine-gap",
          "sin(x) on [-3, 3] without (0.5, 2.5); normal noise of 0.1",
          1,
          {Region::Inside, Region::Gap, Region::Outside},
          draw_sine_input,
          [](const double* x) {
            return MixtureComponent{std::sin(*x), 0.1};
          }};
}

/// J. H. Friedman, "Multivariate adaptive regression splines", Ann. Statist. 19
/// (1991). Only five inputs matter.
SimulatedProcess friedman(std::int64_t inputs) {
  return {"friedman-" + std::to_string(inputs),
          "10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 on [0, 1]^" +
              std::to_string(inputs) + "; normal noise of 1",
          inputs,
          {Region::Inside},
          unit_cube(inputs),
          [](const double* x) {
            const double bend = x[2] - 0.5;
            return MixtureComponent{10 * std::sin(kPi * x[0] * x[1]) +
                                        20 * bend * bend + 10 * x[3] + 5 * x[4],
                                    1};
          }};
}

SimulatedProcess heteroscedastic() {
  return {"heteroscedastic",
          "sin(2 x1) + 0.5 x2 on [-2, 2]^2; normal noise of 0.3 exp(0.6 x2)",
          2,
          {Region::Inside},
          symmetric_box(2, 2),
          [](const double* x) {
            return MixtureComponent{std::sin(2 * x[0]) + 0.5 * x[1],
                                    0.3 * std::exp(0.6 * x[1])};
          }};
}

SimulatedProcess heavy_tails() {
  return {"heavy-tails",
          "3 sin(pi x1) + 2 x2 - 2 x3 x4 on [0, 1]^4; noise of 0.5 times "
          "Student's t with 3 degrees of freedom",
          4,
          {Region::Inside},
          unit_cube(4),
          [](const double* x) {
            const double mean =
                3 * std::sin(kPi * x[0]) + 2 * x[1] - 2 * x[2] * x[3];
            return MixtureComponent{mean, 0.5, 3};
          }};
}

double draw_target(const MixtureComponent& truth, PhiloxEngine& random) {
  double noise = random.normal();
  if (std::isfinite(truth.degrees_of_freedom)) {
    const double half = truth.degrees_of_freedom / 2;
    noise /= std::sqrt(random.gamma(half) / half);
  }
  return truth.location + truth.scale * noise;
}

/// `step` names the sequence of random numbers.
SimulatedRows simulate(const SimulatedProcess& process, Region region,
                       std::int64_t rows, std::uint64_t seed,
                       std::uint64_t step) {
  RADIR_CHECK(rows >= 1 && rows < kernels::kMaxRandomElements, ArgumentError,
              "simulated tables: rows must be from 1 to 2^32 - 1, but is ",
              rows);
  SimulatedRows result;
  result.inputs_per_row = process.inputs;
  result.inputs.resize(static_cast<std::size_t>(rows * process.inputs));
  double* x = result.inputs.data();
  for (std::int64_t i = 0; i < rows; ++i, x += process.inputs) {
    PhiloxEngine random({seed, kSimulationStream, step},
                        static_cast<std::uint32_t>(i));
    process.draw_inputs(random, region, x);
    result.truth.push_back(process.target(x));
    result.targets.push_back(draw_target(result.truth.back(), random));
  }
  return result;
}

}  // namespace

const char* to_string(Region region) {
  switch (region) {
    case Region::Inside:
      return "inside";
    case Region::Gap:
      return "gap";
    case Region::Outside:
      return "outside";
  }
  return "?";
}

const std::vector<SimulatedProcess>& simulated_processes() {
  static const std::vector<SimulatedProcess> processes = {
      linear(),     sine_gap(),        friedman(10),
      friedman(30), heteroscedastic(), heavy_tails()};
  return processes;
}

const SimulatedProcess& find_process(const std::string& name) {
  std::vector<std::string> names;
  for (const SimulatedProcess& process : simulated_processes()) {
    if (process.name == name) return process;
    names.push_back(process.name);
  }
  ::radir::detail::throw_error<ArgumentError>(
      "simulated tables: there is no process \"", name, "\"",
      did_you_mean(name, names));
}

data::Table SimulatedRows::table() const {
  std::vector<data::Column> columns;
  for (std::int64_t i = 0; i < inputs_per_row; ++i) {
    columns.emplace_back("x" + std::to_string(i + 1),
                         data::ColumnType::Numeric);
  }
  columns.emplace_back("y", data::ColumnType::Numeric);
  const double* x = inputs.data();
  for (const double target : targets) {
    for (std::int64_t i = 0; i < inputs_per_row; ++i) {
      columns[static_cast<std::size_t>(i)].append_number(*x++);
    }
    columns.back().append_number(target);
  }
  return data::Table("simulated", std::move(columns));
}

SimulatedRows simulate_training(const SimulatedProcess& process,
                                std::int64_t rows, std::uint64_t seed) {
  return simulate(process, Region::Inside, rows, seed, 0);
}

SimulatedRows simulate_test(const SimulatedProcess& process, Region region,
                            std::int64_t rows, std::uint64_t seed) {
  RADIR_CHECK(std::find(process.regions.begin(), process.regions.end(),
                        region) != process.regions.end(),
              ArgumentError, "simulated tables: ", process.name,
              " has no region ", to_string(region));
  return simulate(process, region, rows, seed,
                  1 + static_cast<std::uint64_t>(region));
}

}  // namespace radir::bench
