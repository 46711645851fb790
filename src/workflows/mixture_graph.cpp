#include <array>
#include <cmath>
#include "radir/io/onnx_graph.h"

#include "workflows/prediction_graph.h"

namespace radir::workflows {
namespace {

using io::OnnxElement;
using io::OnnxGraph;
using Ints = std::vector<std::int64_t>;

/// Newton's method needs about six steps, halving the interval forty.
constexpr std::int64_t kMostSteps = 100;
/// Of the standard deviation: the last step.
constexpr double kLastStep = 1e-9;

/// Arithmetic on doubles of any shapes that fit.
class Arithmetic {
 public:
  explicit Arithmetic(OnnxGraph& graph) : graph_(graph) {}

  std::string op(const char* name, const std::string& a) {
    return graph_.node(name, {a});
  }
  std::string op(const char* name, const std::string& a, const std::string& b) {
    return graph_.node(name, {a, b});
  }
  std::string op(const char* name, const std::string& a, double b) {
    return graph_.node(name, {a, graph_.constant(b)});
  }
  std::string where(const std::string& condition, const std::string& a,
                    const std::string& b) {
    return graph_.node("Where", {condition, a, b});
  }
  std::string mean(const std::string& a, std::int64_t axis) {
    return graph_.node("ReduceMean", {a},
                       {{"axes", Ints{axis}}, {"keepdims", std::int64_t{1}}});
  }
  /// With weights unless they are empty.
  std::string mean(const std::string& a, std::int64_t axis,
                   const std::string& weights) {
    if (weights.empty()) return mean(a, axis);
    return op("Div", mean(op("Mul", a, weights), axis), mean(weights, axis));
  }
  std::string unsqueeze(const std::string& a, std::int64_t axis) {
    return graph_.node("Unsqueeze", {a, graph_.constant(Ints{axis}, {1})});
  }

  /// Phi(z), with an error below 1.2e-7 of itself and of 1 - Phi(z): erfc by
  /// W. H. Press et al., Numerical Recipes, 2nd ed., section 6.2.
  std::string normal_cdf(const std::string& z) {
    constexpr std::array<double, 10> kTerms = {
        0.17087277,  -0.82215223, 1.48851587, -1.13520398, 0.27886807,
        -0.18628806, 0.09678418,  0.37409196, 1.00002368,  -1.26551223};
    const std::string a = op("Mul", op("Abs", z), std::sqrt(0.5));
    const std::string t = op("Reciprocal", op("Add", op("Mul", a, 0.5), 1.0));
    std::string sum = graph_.constant(kTerms.front());
    for (std::size_t i = 1; i < kTerms.size(); ++i) {
      sum = op("Add", op("Mul", sum, t), kTerms[i]);
    }
    const std::string tail = op(
        "Mul", op("Mul", t, op("Exp", op("Sub", sum, op("Mul", a, a)))), 0.5);
    return where(op("Less", z, 0.0), tail,
                 op("Sub", graph_.constant(1.0), tail));
  }

  /// Wallace's transform of Student's t (likelihood::PredictiveMixture).
  std::string normal_score(const std::string& t, const std::string& n) {
    const std::string u = op("Div", op("Mul", t, t), n);
    const std::string eight = op("Mul", n, 8.0);
    const std::string factor =
        op("Div", op("Add", eight, 1.0), op("Add", eight, 3.0));
    const std::string root =
        op("Sqrt", op("Mul", n, op("Log", op("Add", u, 1.0))));
    return op("Mul", op("Sign", t), op("Mul", factor, root));
  }

 private:
  OnnxGraph& graph_;
};

/// Root of the distribution function less p between ends that enclose it.
class QuantileSearch {
 public:
  QuantileSearch(OnnxGraph& graph, const MixtureValues& mixture,
                 const MixtureMoments& moments,
                 const std::vector<double>& probabilities)
      : graph_(graph),
        is_normal_(mixture.degrees_of_freedom.empty()),
        count_(static_cast<std::int64_t>(probabilities.size())) {
    // [quantile, draw, row]
    Arithmetic m(graph);
    location_ = m.unsqueeze(mixture.location, 0);
    scale_ = m.unsqueeze(mixture.scale, 0);
    if (!mixture.weight.empty()) weight_ = m.unsqueeze(mixture.weight, 0);
    if (!is_normal_) degrees_ = m.unsqueeze(mixture.degrees_of_freedom, 0);
    probability_ = graph.constant(probabilities, {count_, 1, 1});
    const std::string shape = graph.constant(Ints{1, 1, -1}, {3});
    mean_ = graph.node("Reshape", {moments.mean, shape});
    sd_ = graph.node("Reshape", {moments.sd, shape});
  }

  std::string operator()(const std::vector<double>& probabilities) {
    // Cantelli's inequality, and a little for the approximate t.
    constexpr double kMore = 1.05;
    std::vector<double> below, above;
    for (const double p : probabilities) {
      below.push_back(-kMore * std::sqrt((1 - p) / p));
      above.push_back(kMore * std::sqrt(p / (1 - p)));
    }
    Arithmetic m(graph_);
    const auto end = [&](const std::vector<double>& deviations) {
      return m.op(
          "Add", mean_,
          m.op("Mul", sd_, graph_.constant(deviations, {count_, 1, 1})));
    };
    const std::string low = end(below), high = end(above);
    const std::string start = m.op("Mul", m.op("Add", low, high), 0.5);
    const auto found = graph_.loop(
        kMostSteps, {start, low, high},
        [&](const OnnxGraph::Values& state) { return step(state); });
    const std::string flat = graph_.node(
        "Reshape", {found.front(), graph_.constant(Ints{count_, -1}, {2})});
    return graph_.node("Transpose", {flat}, {{"perm", Ints{1, 0}}});
  }

 private:
  OnnxGraph::LoopStep step(const OnnxGraph::Values& state) {
    Arithmetic m(graph_);
    const std::string& x = state[0];
    const std::string t = m.op("Div", m.op("Sub", x, location_), scale_);
    const std::string z = is_normal_ ? t : m.normal_score(t, degrees_);
    const std::string excess =
        m.op("Sub", m.mean(m.normal_cdf(z), 1, weight_), probability_);
    const std::string density = m.mean(
        m.op("Div",
             m.op("Mul", m.op("Exp", m.op("Mul", m.op("Mul", t, t), -0.5)),
                  0.3989422804014327),
             scale_),
        1, weight_);
    const std::string below = m.op("Less", excess, 0.0);
    const std::string low = m.where(below, x, state[1]);
    const std::string high = m.where(below, state[2], x);
    // Newton's step where it stays between the ends, else half of the way.
    const std::string newton = m.op("Sub", x, m.op("Div", excess, density));
    const std::string inside =
        m.op("And", m.op("Greater", newton, low), m.op("Less", newton, high));
    const std::string next =
        m.where(inside, newton, m.op("Mul", m.op("Add", low, high), 0.5));
    const std::string moves = m.op("Greater", m.op("Abs", m.op("Sub", next, x)),
                                   m.op("Mul", sd_, kLastStep));
    const std::string any =
        graph_.node("ReduceMax", {graph_.cast(moves, OnnxElement::Float)},
                    {{"keepdims", std::int64_t{0}}});
    return {graph_.cast(any, OnnxElement::Bool), {next, low, high}};
  }

  OnnxGraph& graph_;
  bool is_normal_;
  std::int64_t count_;
  std::string location_, scale_, degrees_, weight_;
  std::string probability_, mean_, sd_;
};

}  // namespace

MixtureMoments mixture_moments(OnnxGraph& graph, const MixtureValues& mixture) {
  Arithmetic m(graph);
  const std::string mean =
      m.mean(mixture.location, 0, mixture.weight);  // [1, batch]
  const bool parts = !mixture.offset.empty();       // of a draw
  const std::string draw =
      parts ? m.op("Sub", mixture.location, mixture.offset) : mixture.location;
  const std::string distance = m.op("Sub", draw, mean);
  const std::string epistemic =
      m.mean(m.op("Mul", distance, distance), 0, mixture.weight);
  std::string variance = m.op("Mul", mixture.scale, mixture.scale);
  if (!mixture.degrees_of_freedom.empty()) {
    const std::string& n = mixture.degrees_of_freedom;
    variance = m.op("Mul", variance, m.op("Div", n, m.op("Sub", n, 2.0)));
  }
  if (parts) {
    variance =
        m.op("Add", variance, m.op("Mul", mixture.offset, mixture.offset));
  }
  // A scale without rows is the same for all of them.
  const std::string aleatoric =
      m.op("Add", m.mean(variance, 0, mixture.weight), m.op("Mul", mean, 0.0));
  const std::string shape = graph.constant(Ints{-1, 1}, {2});
  const auto column = [&](const std::string& value) {
    return graph.node("Reshape", {value, shape});
  };
  MixtureMoments moments;
  moments.mean = column(mean);
  moments.sd = column(m.op("Sqrt", m.op("Add", epistemic, aleatoric)));
  moments.epistemic_sd = column(m.op("Sqrt", epistemic));
  moments.aleatoric_sd = column(m.op("Sqrt", aleatoric));
  return moments;
}

std::string mixture_quantiles(OnnxGraph& graph, const MixtureValues& mixture,
                              const MixtureMoments& moments,
                              const std::vector<double>& probabilities) {
  return QuantileSearch(graph, mixture, moments, probabilities)(probabilities);
}

}  // namespace radir::workflows
