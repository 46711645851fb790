#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/io/onnx_graph.h"
#include "radir/kernels/likelihood.h"
#include "radir/likelihood/options.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/target_transform.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"
#include "radir/workflows/export.h"
#include "workflows/prediction_graph.h"

namespace radir::workflows {
namespace {

using io::OnnxElement;
using io::OnnxGraph;
using Ints = std::vector<std::int64_t>;
using Networks = std::vector<network::PlainNetwork<float>>;

/// Finite parameters can give noise or weights that are not. Throws
/// NumericalError.
template <typename T>
void check_finite(const std::vector<T>& values, const char* what) {
  const bool finite = std::all_of(values.begin(), values.end(),
                                  [](T value) { return std::isfinite(value); });
  RADIR_CHECK(finite, NumericalError, "export: the model gives ", what,
              " that are not finite, so its predictions cannot be written; ",
              "train it again");
}

/// The layers of all draws at once: values are [draw or 1, batch, unit].
class DrawsGraph {
 public:
  DrawsGraph(OnnxGraph& graph, const Networks& draws)
      : graph_(graph),
        draws_(draws),
        count_(static_cast<std::int64_t>(draws.size())) {}

  /// From float [batch, inputs].
  std::string operator()(const std::string& inputs) {
    const network::NetworkSpec& spec = draws_.front().spec;
    shapes_ = network::layer_shapes(spec.input, spec.layers);
    value_ = graph_.node("Unsqueeze", {inputs, graph_.constant(Ints{0}, {1})});
    for (const network::LayerSpec& layer : spec.layers) {
      std::visit([&](const auto& one) { add(one); }, layer);
      ++layer_;
    }
    // ReLU may drop the NaN of a row without a prediction: 0 times the inputs
    // brings it back.
    const std::string sum =
        graph_.node("ReduceSum", {inputs, graph_.constant(Ints{1}, {1})},
                    {{"keepdims", std::int64_t{1}}});
    const std::string none =
        graph_.node("Mul", {sum, graph_.constant(std::vector<float>{0}, {})});
    return graph_.node("Add", {value_, none});
  }

 private:
  void add(const network::Dense& layer) {
    const std::int64_t inputs = shapes_[layer_].size();
    value_ = graph_.node("MatMul", {value_, weights(inputs, layer.outputs)});
    if (layer.bias) {
      std::vector<float> all;
      for (const auto& draw : draws_) {
        const std::vector<float>& bias = draw.layers[dense_].bias;
        all.insert(all.end(), bias.begin(), bias.end());
      }
      value_ = graph_.node(
          "Add", {value_, graph_.constant(all, {count_, 1, layer.outputs})});
    }
    ++dense_;
  }
  void add(const network::Relu&) { value_ = graph_.node("Relu", {value_}); }
  void add(const network::Select& layer) {
    const auto count = static_cast<std::int64_t>(layer.indices.size());
    value_ =
        graph_.node("Gather", {value_, graph_.constant(layer.indices, {count})},
                    {{"axis", std::int64_t{2}}});
  }
  template <typename Layer>
  void add(const Layer& layer) {
    detail::throw_error<UnsupportedError>(
        "export: a layer of type ", to_string(network::LayerSpec(layer)),
        " has no form in a file of predictions");
  }

  /// [draw, input, output]
  std::string weights(std::int64_t inputs, std::int64_t outputs) {
    std::vector<float> all;
    all.reserve(static_cast<std::size_t>(count_ * inputs * outputs));
    for (const auto& draw : draws_) {
      const std::vector<float>& weight = draw.layers[dense_].weight;
      for (std::int64_t i = 0; i < inputs; ++i) {
        for (std::int64_t o = 0; o < outputs; ++o) {
          all.push_back(weight[static_cast<std::size_t>(o * inputs + i)]);
        }
      }
    }
    return graph_.constant(all, {count_, inputs, outputs});
  }

  OnnxGraph& graph_;
  const Networks& draws_;
  std::int64_t count_;
  std::vector<network::Shape> shapes_;
  std::string value_;
  std::size_t layer_ = 0;
  std::size_t dense_ = 0;
};

/// Output `index` of all draws as doubles [draw, batch].
std::string output_of(OnnxGraph& graph, const std::string& outputs,
                      std::int64_t index) {
  const std::string one =
      graph.node("Gather", {outputs, graph.constant(Ints{index}, {})},
                 {{"axis", std::int64_t{2}}});
  return graph.cast(one, OnnxElement::Double);
}

/// The file of one model.
class PredictionFile {
 public:
  PredictionFile(const TableModel& model, const TablePredictionOptions& options)
      : model_(model), network_(model.spec), options_(options) {
    summary_.input_note =
        "one tensor [batch, 1] per column, under its name: numbers as double "
        "(NaN: missing), dates as days since 1970-01-01, text as string "
        "(empty: missing).";
    samples_ = network_.has_noise() ? options.samples : 1;
    const train::Predictor<float> predictor(network_, model.networks, samples_,
                                            options.seed);
    for (std::int64_t s = 0; s < predictor.samples(); ++s) {
      draws_.push_back(predictor.plain_network(s));
      for (const auto& layer : draws_.back().layers) {
        check_finite(layer.weight, "drawn weights");
        check_finite(layer.bias, "drawn biases");
      }
    }
  }

  void write(const std::string& path) {
    const std::string inputs = encode_columns(graph_, model_.encoder);
    const std::string outputs = DrawsGraph(graph_, draws_)(inputs);
    std::map<std::string, std::string> metadata = {
        {"preprocessing", model_.encoder.to_json()},
        {"samples", fmt::format("{}", draws_.size())}};
    if (model_.encoder.is_classification()) {
      add_classes(outputs);
    } else {
      add_numbers(outputs);
      metadata["quantiles"] =
          fmt::format("{}", fmt::join(options_.quantiles, ","));
    }
    graph_.write(path,
                 "Predictions of radir: raw columns in, error bars out. " +
                     summary_.input_note + " " + summary_.output_note,
                 metadata);
  }

  ExportSummary summary() const {
    ExportSummary summary = summary_;
    summary.input = fmt::format("{} columns", model_.encoder.inputs().size());
    summary.networks = static_cast<std::int64_t>(model_.networks.size());
    for (const auto& draw : draws_) {
      for (const auto& layer : draw.layers) {
        summary.parameters +=
            static_cast<std::int64_t>(layer.weight.size() + layer.bias.size());
      }
    }
    return summary;
  }

 private:
  /// Unless a column has the name: values share one list of names.
  void add_output(const std::string& value, const std::string& name,
                  OnnxElement type, std::int64_t columns,
                  const std::string& note) {
    const auto& inputs = model_.encoder.inputs();
    const bool taken = std::any_of(
        inputs.begin(), inputs.end(),
        [&](const data::ColumnCode& code) { return code.name == name; });
    graph_.add_output(value, taken ? "output." + name : name, type, columns,
                      note);
    summary_.outputs += columns;
    summary_.output_note += (summary_.output_note.empty() ? "" : "; ") +
                            std::string(taken ? "output." : "") + name + ": " +
                            note;
  }

  /// In original units, or on their transformed scale.
  std::string target_of(const std::string& standardised) {
    const data::ColumnCode& target = model_.encoder.target();
    return graph_.node("Add",
                       {scaled(standardised), graph_.constant(target.mean)});
  }
  std::string scaled(const std::string& standardised) {
    return graph_.node(
        "Mul", {standardised, graph_.constant(model_.encoder.target().scale)});
  }
  /// The standard deviation of a log variance within its bounds.
  std::string scale_of(const std::string& log_variance, double least) {
    const std::string bounded =
        graph_.node("Clip", {log_variance, graph_.constant(least),
                             graph_.constant(kernels::kMaxLogVariance)});
    return scaled(graph_.node(
        "Exp", {graph_.node("Mul", {bounded, graph_.constant(0.5)})}));
  }

  MixtureValues mixture_of(const std::string& outputs) {
    switch (model_.spec.likelihood.kind) {
      case likelihood::Kind::Gaussian:
      case likelihood::Kind::TwoNormals:
        return same_noise(outputs);
      case likelihood::Kind::PredictedNoise:
        return {
            target_of(output_of(graph_, outputs, 0)),
            scale_of(output_of(graph_, outputs, 1), kernels::kMinLogVariance),
            "", draw_weights(1), ""};
      case likelihood::Kind::Mixture:
        return noise_parts(outputs);
      case likelihood::Kind::Categorical:
        break;
    }
    detail::throw_error<UnsupportedError>(
        "export: predictions of the ",
        likelihood::to_string(model_.spec.likelihood.kind),
        " likelihood have no ONNX form");
  }

  /// How much each draw counts, with a mean of 1: [draw, 1, ...]; empty where
  /// all are equal.
  std::string draw_weights(std::int64_t axes) {
    if (model_.weights.empty()) return "";
    const auto networks = static_cast<double>(model_.weights.size());
    std::vector<double> weights;
    for (const double weight : model_.weights) {
      weights.insert(weights.end(), static_cast<std::size_t>(samples_),
                     weight * networks);
    }
    Ints shape = {static_cast<std::int64_t>(draws_.size())};
    shape.resize(static_cast<std::size_t>(1 + axes), 1);
    return graph_.constant(weights, shape);
  }

  /// Noise around each draw that does not depend on the row: Student's t, or
  /// normal distributions of several widths, part after part.
  MixtureValues same_noise(const std::string& outputs) {
    const float output = 0;
    std::vector<std::vector<likelihood::MixtureComponent>> noise;
    for (const std::vector<float>& parameters : model_.networks) {
      const auto own = train::likelihood_parameters(network_, parameters);
      network_.likelihood().add_components({&output, 1, 1, 1}, own.data(),
                                           noise.emplace_back());
    }
    const std::size_t parts = noise.front().size();
    const auto count = static_cast<std::int64_t>(parts) *
                       static_cast<std::int64_t>(samples_) *
                       static_cast<std::int64_t>(noise.size());
    const auto of_draws = [&](const auto& number_of, const char* what) {
      std::vector<double> numbers;
      for (std::size_t part = 0; part < parts; ++part) {
        for (std::size_t k = 0; k < noise.size(); ++k) {
          numbers.insert(numbers.end(), static_cast<std::size_t>(samples_),
                         number_of(noise[k][part], k));
        }
      }
      check_finite(numbers, what);
      return graph_.constant(numbers, {count, 1});
    };
    MixtureValues result;
    const std::string location = target_of(output_of(graph_, outputs, 0));
    result.location =
        parts == 1
            ? location
            : graph_.node("Concat", std::vector<std::string>(parts, location),
                          {{"axis", std::int64_t{0}}});
    const double unit = model_.encoder.target().scale;
    result.scale =
        of_draws([&](const auto& c, std::size_t) { return unit * c.scale; },
                 "widths of the noise");
    if (std::isfinite(noise.front().front().degrees_of_freedom)) {
      result.degrees_of_freedom = of_draws(
          [](const auto& c, std::size_t) { return c.degrees_of_freedom; },
          "degrees of freedom of the noise");
    }
    if (parts > 1 || !model_.weights.empty()) {
      result.weight = of_draws(
          [&](const auto& c, std::size_t network) {
            return c.weight * (model_.weights.empty()
                                   ? 1
                                   : model_.weights[network] *
                                         static_cast<double>(noise.size()));
          },
          "shares of the noise");
    }
    return result;
  }

  /// Means, log variances and logits of the parts of each draw.
  MixtureValues noise_parts(const std::string& outputs) {
    const likelihood::Options& options = model_.spec.likelihood;
    const auto draws = static_cast<std::int64_t>(draws_.size());
    const std::string numbers = graph_.cast(outputs, OnnxElement::Double);
    const auto third = [&](std::int64_t which) {  // [draw, batch, part]
      Ints indices;
      for (std::int64_t k = 0; k < options.parts; ++k) {
        indices.push_back(which * options.parts + k);
      }
      return graph_.node("Gather",
                         {numbers, graph_.constant(indices, {options.parts})},
                         {{"axis", std::int64_t{2}}});
    };
    const auto flat = [&](const std::string& value) {
      return graph_.node(
          "Reshape",
          {graph_.node("Transpose", {value}, {{"perm", Ints{0, 2, 1}}}),
           graph_.constant(Ints{draws * options.parts, -1}, {2})});
    };
    const std::string means = third(0);
    const std::string shares =
        graph_.node("Softmax", {third(2)}, {{"axis", std::int64_t{2}}});
    const std::string mean = graph_.node(
        "ReduceSum",
        {graph_.node("Mul", {shares, means}), graph_.constant(Ints{2}, {1})},
        {{"keepdims", std::int64_t{1}}});
    const double least = likelihood::min_log_variance(options);
    const std::string weights = draw_weights(2);
    return {
        flat(target_of(means)), flat(scale_of(third(1), least)), "",
        flat(weights.empty() ? shares : graph_.node("Mul", {shares, weights})),
        flat(scaled(graph_.node("Sub", {means, mean})))};
  }

  void add_numbers(const std::string& outputs) {
    const likelihood::TargetTransform& transform =
        model_.encoder.target().transform;
    const MixtureValues mixture = mixture_of(outputs);
    const MixtureMoments located = mixture_moments(graph_, mixture);
    const MixtureMoments moments =
        transform.is_none() ? located
                            : transformed_moments(graph_, mixture, transform);
    const auto add = [&](const char* name, const std::string& value,
                         const std::string& note) {
      add_output(value, name, OnnxElement::Double, 1, note);
    };
    add("mean", moments.mean, "mean of the prediction");
    add("sd", moments.sd, "its standard deviation");
    add("epistemic_sd", moments.epistemic_sd,
        "the part from uncertain weights");
    add("aleatoric_sd", moments.aleatoric_sd,
        "the part from noise in the target");
    if (options_.quantiles.empty()) return;
    std::vector<double> probabilities;
    for (const double p : options_.quantiles) {
      probabilities.push_back(model_.correction(p));
    }
    const std::string quantiles =
        mixture_quantiles(graph_, mixture, located, probabilities);
    add_output(
        transform.is_none() ? quantiles
                            : inverse_transform(graph_, quantiles, transform),
        "quantiles", OnnxElement::Double,
        static_cast<std::int64_t>(probabilities.size()),
        fmt::format("quantiles {}{}", fmt::join(options_.quantiles, ", "),
                    model_.correction.is_none() ? "" : ", corrected"));
  }

  /// Of probabilities on an axis: -sum p log p, the axis kept.
  std::string entropy_of(const std::string& probabilities, std::int64_t axis) {
    constexpr double kLeast = 1e-300;  // 0 log 0 is 0
    const std::string logs = graph_.node(
        "Log", {graph_.node("Max", {probabilities, graph_.constant(kLeast)})});
    const std::string sum =
        graph_.node("ReduceSum",
                    {graph_.node("Mul", {probabilities, logs}),
                     graph_.constant(Ints{axis}, {1})},
                    {{"keepdims", std::int64_t{1}}});
    return graph_.node("Neg", {sum});
  }

  void add_classes(const std::string& outputs) {
    const auto count = static_cast<std::int64_t>(model_.classes().size());
    const std::string of_draws =
        graph_.node("Softmax", {graph_.cast(outputs, OnnxElement::Double)},
                    {{"axis", std::int64_t{2}}});
    const std::string weights = draw_weights(2);
    const auto mean = [&](const std::string& value) {
      const std::string weighted =
          weights.empty() ? value : graph_.node("Mul", {value, weights});
      return graph_.node("ReduceMean", {weighted},
                         {{"axes", Ints{0}}, {"keepdims", std::int64_t{0}}});
    };
    const std::string probabilities = mean(of_draws);  // [batch, class]
    const std::string entropy = entropy_of(probabilities, 1);
    const std::string difference =
        graph_.node("Sub", {entropy, mean(entropy_of(of_draws, 2))});
    const std::string information =
        graph_.node("Max", {difference, graph_.constant(0.0)});
    const std::string likely =
        graph_.node("ArgMax", {probabilities},
                    {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}});
    add_output(
        graph_.node("Gather",
                    {graph_.constant(model_.classes(), {count}), likely}),
        "class", OnnxElement::String, 1, "the most probable class");
    add_output(probabilities, "probabilities", OnnxElement::Double, count,
               fmt::format("probabilities of the classes {}",
                           fmt::join(model_.classes(), ", ")));
    add_output(entropy, "entropy", OnnxElement::Double, 1, "in nats");
    add_output(information, "mutual_information", OnnxElement::Double, 1,
               "the epistemic part of the entropy, in nats");
  }

  const TableModel& model_;
  train::Model network_;
  TablePredictionOptions options_;
  std::int64_t samples_ = 1;  // of each network
  Networks draws_;
  OnnxGraph graph_;
  ExportSummary summary_;
};

}  // namespace

ExportSummary export_predictions(const TableModel& model,
                                 const std::string& file,
                                 const TablePredictionOptions& options) {
  for (const double probability : options.quantiles) {
    RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                "quantiles must be above 0 and below 1, but got ", probability);
  }
  PredictionFile predictions(model, options);
  predictions.write(file);
  return predictions.summary();
}

}  // namespace radir::workflows
