#include "train/pbp_network.h"

#include <cmath>
#include <variant>

#include "radir/core/error.h"

namespace radir::train {
namespace {

using math::GammaPair;
using math::MeanVariance;

/// Variances at or below it count as not positive.
constexpr double kLeastVariance = 1e-100;
/// A weight of larger variance without its prior's factor is left alone.
constexpr double kLargestCavity = 1e6;

[[noreturn]] void report_unsupported(const network::LayerSpec& layer) {
  detail::throw_error<UnsupportedError>(
      "pbp: supports dense layers with a ReLU behind them or not, but the "
      "network has ",
      to_string(layer));
}

}  // namespace

PbpNetwork::PbpNetwork(const network::NetworkSpec& spec) {
  std::int64_t inputs = spec.input.size();
  for (const network::LayerSpec& layer : spec.layers) {
    if (const auto* dense = std::get_if<network::Dense>(&layer)) {
      Layer next;
      next.inputs = inputs;
      next.outputs = dense->outputs;
      next.bias = dense->bias;
      const auto size = static_cast<std::size_t>(next.fan_in() * next.outputs);
      next.mean.resize(size);
      next.variance.resize(size);
      inputs = dense->outputs;
      layers_.push_back(std::move(next));
    } else if (std::holds_alternative<network::Relu>(layer) &&
               !layers_.empty()) {
      layers_.back().relu = true;
    } else if (!std::holds_alternative<network::Flatten>(layer)) {
      report_unsupported(layer);
    }
  }
  passes_.resize(layers_.size());
}

void PbpNetwork::forward(const Layer& layer, Pass& pass,
                         std::vector<MeanVariance<double>>& outputs) const {
  const auto fan_in = static_cast<double>(layer.fan_in());
  outputs.clear();
  pass.relu.clear();
  const double* mean = layer.mean.data();
  const double* variance = layer.variance.data();
  for (std::int64_t i = 0; i < layer.outputs; ++i) {
    MeanVariance<double> sum = {0, 0};
    for (const MeanVariance<double>& z : pass.input) {
      sum.mean += *mean * z.mean;
      sum.variance += *variance * (z.mean * z.mean + z.variance) +
                      *mean * *mean * z.variance;
      ++mean;
      ++variance;
    }
    sum.mean /= std::sqrt(fan_in);
    sum.variance /= fan_in;
    if (layer.relu) {
      pass.relu.push_back(math::relu_moments(sum.mean, sum.variance));
      sum = pass.relu.back().value;
    }
    outputs.push_back(sum);
  }
}

MeanVariance<double> PbpNetwork::forward(const double* inputs) {
  output_.clear();
  for (std::int64_t j = 0; j < layers_.front().inputs; ++j) {
    output_.push_back({inputs[j], 0});
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    passes_[l].input = output_;
    if (layers_[l].bias) passes_[l].input.push_back({1, 0});
    forward(layers_[l], passes_[l], output_);
  }
  return output_.front();
}

void PbpNetwork::update(const MeanVariance<double>& gradient) {
  passes_.back().gradient.assign(output_.size(), {0, 0});
  passes_.back().gradient.front() = gradient;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    update(layers_[l], passes_[l], l > 0 ? &passes_[l - 1].gradient : nullptr);
  }
}

void PbpNetwork::update(Layer& layer, const Pass& pass,
                        std::vector<MeanVariance<double>>* by_input) {
  if (by_input != nullptr) by_input->assign(pass.input.size(), {0, 0});
  const auto fan_in = static_cast<double>(layer.fan_in());
  const double root = std::sqrt(fan_in);
  std::size_t weight = 0;
  for (std::size_t i = 0; i < pass.gradient.size(); ++i) {
    MeanVariance<double> by_sum = pass.gradient[i];
    if (layer.relu) {
      const auto& relu = pass.relu[i];
      by_sum = {by_sum.mean * relu.of_mean.mean +
                    by_sum.variance * relu.of_variance.mean,
                by_sum.mean * relu.of_mean.variance +
                    by_sum.variance * relu.of_variance.variance};
    }
    const double by_mean = by_sum.mean / root;
    const double by_variance = by_sum.variance / fan_in;
    for (std::size_t j = 0; j < pass.input.size(); ++j, ++weight) {
      double& m = layer.mean[weight];
      double& v = layer.variance[weight];
      const MeanVariance<double>& z = pass.input[j];
      if (by_input != nullptr) {
        (*by_input)[j].mean += by_mean * m + 2 * by_variance * v * z.mean;
        (*by_input)[j].variance += by_variance * (v + m * m);
      }
      update_normal({by_mean * z.mean + 2 * by_variance * m * z.variance,
                     by_variance * (z.mean * z.mean + z.variance)},
                    m, v);
    }
  }
  if (by_input != nullptr && layer.bias) by_input->pop_back();
}

bool update_normal(const MeanVariance<double>& gradient, double& mean,
                   double& variance) {
  const double new_mean = mean + variance * gradient.mean;
  const double new_variance =
      variance - variance * variance *
                     (gradient.mean * gradient.mean - 2 * gradient.variance);
  if (!(new_variance > kLeastVariance) || !std::isfinite(new_mean) ||
      !std::isfinite(new_variance)) {
    return false;
  }
  mean = new_mean;
  variance = new_variance;
  return true;
}

double log_normaliser(double difference, double variance,
                      const GammaPair<double>& q, int k) {
  const double total = variance + q.rate / (q.shape + k - 1);
  return -(std::log(total) + difference * difference / total) / 2;
}

MeanVariance<double> log_normaliser_gradient(double difference, double variance,
                                             const GammaPair<double>& q) {
  const double total = variance + q.rate / (q.shape - 1);
  const double scaled = difference / total;
  return {scaled, (scaled * scaled - 1 / total) / 2};
}

GammaPair<double> updated(double difference, double variance,
                          const GammaPair<double>& q) {
  const auto z = [&](int k) {
    return log_normaliser(difference, variance, q, k);
  };
  const GammaPair<double> next = math::match_gamma(q, z(0), z(1), z(2));
  const bool valid = std::isfinite(next.shape) && next.shape > 1 &&
                     std::isfinite(next.rate) && next.rate > 0;
  return valid ? next : q;
}

void refresh(double& mean, double& variance, GammaPair<double>& lambda,
             PriorFactor& factor) {
  const double precision = 1 / variance - factor.precision;
  const MeanVariance<double> cavity = {
      (mean / variance - factor.shift) / precision, 1 / precision};
  const GammaPair<double> others = {lambda.shape - factor.shape,
                                    lambda.rate - factor.rate};
  if (!(precision > 0 && cavity.variance < kLargestCavity && others.rate > 0 &&
        others.shape > 1)) {
    return;
  }
  double new_mean = cavity.mean;
  double new_variance = cavity.variance;
  // The likelihood of the observation 0.
  if (!update_normal(
          log_normaliser_gradient(-cavity.mean, cavity.variance, others),
          new_mean, new_variance)) {
    return;
  }
  const GammaPair<double> next = updated(-cavity.mean, cavity.variance, others);
  factor = {1 / new_variance - precision,
            new_mean / new_variance - cavity.mean * precision,
            next.shape - others.shape, next.rate - others.rate};
  mean = new_mean;
  variance = new_variance;
  lambda = next;
}

}  // namespace radir::train
