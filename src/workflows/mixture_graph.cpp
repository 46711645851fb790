#include <array>
#include <cmath>
#include <utility>

#include "radir/io/onnx_graph.h"
#include "radir/likelihood/target_transform.h"
#include "radir/math/gauss_legendre.h"
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

  /// Density of the standard normal distribution.
  std::string normal_density(const std::string& z) {
    return op("Mul", op("Exp", op("Mul", op("Mul", z, z), -0.5)),
              0.3989422804014327);
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
    const std::string density =
        m.mean(m.op("Div", m.normal_density(t), scale_), 1, weight_);
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

/// First and second moment of the number less that at the centre, for one
/// component of its transform: in closed form on the two lines of the
/// transform, by a rule of 2 x 24 points on the curve between them.
class ComponentMoments {
 public:
  ComponentMoments(OnnxGraph& graph,
                   const likelihood::TargetTransform& transform,
                   std::string location, std::string deviation)
      : graph_(graph),
        m_(graph),
        transform_(transform),
        location_(std::move(location)),
        deviation_(std::move(deviation)),
        centre_(inverse_transform(graph, location_, transform)) {
    const double steep = transform.offset() + transform.end();
    add_line(transform.offset(), 0, 0, 1);
    add_line(steep, transform.end(), top(), -1);
    add_curve();
  }

  std::string mean() { return m_.op("Add", centre_, first_); }
  std::string variance() {
    const std::string difference =
        m_.op("Sub", second_, m_.op("Mul", first_, first_));
    return m_.op("Max", difference, 0.0);
  }

 private:
  double top() const { return transform_.apply(transform_.end()); }

  void add(const std::string& first, const std::string& second) {
    first_ = first_.empty() ? first : m_.op("Add", first_, first);
    second_ = second_.empty() ? second : m_.op("Add", second_, second);
  }

  /// The line value + slope (z - place), for z below (side 1) or above (side
  /// -1) the place.
  void add_line(double slope, double value, double place, double side) {
    const std::string away = m_.op("Sub", location_, place);
    const std::string a =
        m_.op("Sub", m_.op("Add", m_.op("Mul", away, slope), value), centre_);
    const std::string b = m_.op("Mul", deviation_, side * slope);
    const std::string score =
        m_.op("Mul", m_.op("Div", away, deviation_), -side);
    const std::string p = m_.normal_cdf(score);
    const std::string d = m_.normal_density(score);
    const std::string bd = m_.op("Mul", b, d);
    const std::string first = m_.op("Sub", m_.op("Mul", a, p), bd);
    // a (a p - 2 b d) + b (b p - score b d)
    const std::string second =
        m_.op("Add", m_.op("Mul", a, m_.op("Sub", first, bd)),
              m_.op("Mul", b,
                    m_.op("Sub", m_.op("Mul", b, p), m_.op("Mul", score, bd))));
    add(first, second);
  }

  /// Where the density, times the square of the number, is above 1e-14 of its
  /// largest.
  void add_curve() {
    constexpr double kReach = 8;
    const auto on_curve = [&](const std::string& z) {
      return graph_.node("Clip",
                         {z, graph_.constant(0.0), graph_.constant(top())});
    };
    const std::string reach = m_.op("Mul", deviation_, kReach);
    const std::string squared = m_.op("Mul", deviation_, deviation_);
    const std::string middle = on_curve(location_);
    add_panel(on_curve(m_.op("Sub", location_, reach)), middle);
    add_panel(middle, on_curve(m_.op("Add", m_.op("Add", location_, reach),
                                     m_.op("Mul", squared, 2.0))));
  }

  void add_panel(const std::string& from, const std::string& to) {
    using Rule = math::detail::GaussLegendre<24>;
    const std::string length = m_.op("Sub", to, from);
    for (int i = 0; i < 24; ++i) {
      const int half = i % 12;
      const double node = i < 12 ? Rule::node(half) : 1 - Rule::node(half);
      const std::string z = m_.op("Add", from, m_.op("Mul", length, node));
      const std::string density = m_.normal_density(
          m_.op("Div", m_.op("Sub", z, location_), deviation_));
      const std::string share =
          m_.op("Mul", m_.op("Div", m_.op("Mul", density, length), deviation_),
                Rule::weight(half));
      const std::string number =
          m_.op("Mul", m_.op("Sub", m_.op("Exp", z), 1.0), transform_.offset());
      const std::string away = m_.op("Sub", number, centre_);
      const std::string first = m_.op("Mul", share, away);
      add(first, m_.op("Mul", first, away));
    }
  }

  OnnxGraph& graph_;
  Arithmetic m_;
  const likelihood::TargetTransform& transform_;
  std::string location_, deviation_, centre_;
  std::string first_, second_;
};

/// Of each component: [components, batch] or [components, 1].
std::string component_variance(OnnxGraph& graph, const MixtureValues& mixture) {
  Arithmetic m(graph);
  const std::string variance = m.op("Mul", mixture.scale, mixture.scale);
  if (mixture.degrees_of_freedom.empty()) return variance;
  const std::string& n = mixture.degrees_of_freedom;
  return m.op("Mul", variance, m.op("Div", n, m.op("Sub", n, 2.0)));
}

/// From variances [1, batch].
MixtureMoments moments_of(OnnxGraph& graph, const std::string& mean,
                          const std::string& epistemic,
                          const std::string& aleatoric) {
  Arithmetic m(graph);
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

}  // namespace

std::string inverse_transform(OnnxGraph& graph, const std::string& values,
                              const likelihood::TargetTransform& transform) {
  Arithmetic m(graph);
  const double offset = transform.offset();
  const double top = transform.apply(transform.end());
  // The curve is computed for all: beyond its end it might overflow.
  const std::string curve = m.op(
      "Mul", m.op("Sub", m.op("Exp", m.op("Min", values, top)), 1.0), offset);
  const std::string above = m.op(
      "Add", m.op("Mul", m.op("Sub", values, top), offset + transform.end()),
      transform.end());
  return m.where(m.op("Less", values, 0.0), m.op("Mul", values, offset),
                 m.where(m.op("Less", values, top), curve, above));
}

MixtureMoments transformed_moments(
    OnnxGraph& graph, const MixtureValues& mixture,
    const likelihood::TargetTransform& transform) {
  Arithmetic m(graph);
  ComponentMoments of(graph, transform, mixture.location,
                      m.op("Sqrt", component_variance(graph, mixture)));
  const std::string means = of.mean();
  const std::string mean = m.mean(means, 0, mixture.weight);  // [1, batch]
  const std::string distance = m.op("Sub", means, mean);
  return moments_of(graph, mean,
                    m.mean(m.op("Mul", distance, distance), 0, mixture.weight),
                    m.mean(of.variance(), 0, mixture.weight));
}

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
  std::string variance = component_variance(graph, mixture);
  if (parts) {
    variance =
        m.op("Add", variance, m.op("Mul", mixture.offset, mixture.offset));
  }
  // A scale without rows is the same for all of them.
  const std::string aleatoric =
      m.op("Add", m.mean(variance, 0, mixture.weight), m.op("Mul", mean, 0.0));
  return moments_of(graph, mean, epistemic, aleatoric);
}

std::string mixture_quantiles(OnnxGraph& graph, const MixtureValues& mixture,
                              const MixtureMoments& moments,
                              const std::vector<double>& probabilities) {
  return QuantileSearch(graph, mixture, moments, probabilities)(probabilities);
}

}  // namespace radir::workflows
