#pragma once

#include <cstdint>
#include <vector>

#include "radir/math/moment_matching.h"
#include "radir/network/spec.h"

// Private to the training.

namespace radir::train {

/// A multilayer perceptron whose weights are independent normals, through which
/// means and variances are passed instead of numbers (J. M. Hernandez-Lobato
/// and R. P. Adams, "Probabilistic backpropagation", 2015). All in double.
///
/// A unit with n inputs, the bias being one of value 1, is
///   a = sum_j w_j z_j / sqrt(n),   w_j ~ N(m_j, v_j).
class PbpNetwork {
 public:
  /// One dense layer, with a ReLU behind it or not. Arrays are
  /// [outputs][fan_in()], the bias last.
  struct Layer {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool bias = true;
    bool relu = false;
    std::vector<double> mean;
    std::vector<double> variance;

    std::int64_t fan_in() const { return inputs + (bias ? 1 : 0); }
  };

  /// Throws UnsupportedError unless the layers are dense, some with a ReLU
  /// behind them.
  explicit PbpNetwork(const network::NetworkSpec& spec);

  std::vector<Layer>& layers() { return layers_; }
  const std::vector<Layer>& layers() const { return layers_; }

  /// Mean and variance of the first output.
  math::MeanVariance<double> forward(const double* inputs);
  /// Updates all weights by the derivatives G = d log Z/dm and H = d log Z/dv,
  ///   m += v G,   v -= v^2 (G^2 - 2 H),
  /// given those of log Z by mean and variance of the output, after forward().
  /// A weight whose variance would not stay positive keeps both.
  void update(const math::MeanVariance<double>& gradient);

 private:
  struct Pass {
    std::vector<math::MeanVariance<double>> input;  // the bias's 1 last
    std::vector<math::ReluMoments<double>> relu;
    std::vector<math::MeanVariance<double>> gradient;  // by the outputs
  };

  void forward(const Layer& layer, Pass& pass,
               std::vector<math::MeanVariance<double>>& outputs) const;
  static void update(Layer& layer, const Pass& pass,
                     std::vector<math::MeanVariance<double>>* by_input);

  std::vector<Layer> layers_;
  std::vector<Pass> passes_;
  std::vector<math::MeanVariance<double>> output_;
};

/// Replaces N(mean, variance) by the update of `gradient`, see above; returns
/// whether it did.
bool update_normal(const math::MeanVariance<double>& gradient, double& mean,
                   double& variance);

/// log Z of a normal likelihood of expected value `difference` from the mean,
/// whose precision is Gamma(q.shape + k, q.rate), approximated by the normal
/// of the same variance: -[log V + difference^2/V]/2,
/// V = variance + rate/(shape + k - 1).
double log_normaliser(double difference, double variance,
                      const math::GammaPair<double>& q, int k);

/// The derivatives of log_normaliser with k = 0 by the mean (the difference is
/// the target less it) and the variance.
math::MeanVariance<double> log_normaliser_gradient(
    double difference, double variance, const math::GammaPair<double>& q);

/// The update of q by the same likelihood; q itself where it would not be a
/// distribution of finite variance.
math::GammaPair<double> updated(double difference, double variance,
                                const math::GammaPair<double>& q);

/// The factor of the prior of a weight N(0, 1/lambda) in an approximate
/// posterior, as natural parameters: what it adds to 1/v and m/v of the weight,
/// and to shape and rate of lambda.
struct PriorFactor {
  double precision = 0;
  double shift = 0;
  double shape = 0;
  double rate = 0;
};

/// Refits a weight and lambda to this factor, given all others (expectation
/// propagation). Leaves everything where what is left without the factor is no
/// distribution.
void refresh(double& mean, double& variance, math::GammaPair<double>& lambda,
             PriorFactor& factor);

}  // namespace radir::train
