#include "radir/train/evaluation.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/math/predictive.h"
#include "radir/math/radial_kl.h"
#include "radir/train/predictor.h"

namespace radir::train {
namespace {

constexpr double kLogTwoPi = 1.8378770664093454836;

/// log p(target of example `row` | outputs of one sample).
template <typename T>
class ExampleLogLikelihood {
 public:
  ExampleLogLikelihood(const Model& model, const Precision& precision,
                       const DataView<T>& data)
      : kind_(model.spec().likelihood.kind),
        outputs_(model.output_size()),
        targets_(model.target_size()),
        precision_(precision),
        data_(data) {}

  double operator()(const T* output, std::int64_t row) const {
    switch (kind_) {
      case Likelihood::Kind::Categorical:
        return categorical(output, data_.labels[row]);
      case Likelihood::Kind::PredictedNoise:
        return predicted_noise(output, data_.targets + row * targets_);
      case Likelihood::Kind::Gaussian:
        break;
    }
    return student(output, data_.targets + row * targets_);
  }

 private:
  double categorical(const T* output, std::int64_t label) const {
    const double largest =
        static_cast<double>(*std::max_element(output, output + outputs_));
    double sum = 0;
    for (std::int64_t c = 0; c < outputs_; ++c) {
      sum += std::exp(static_cast<double>(output[c]) - largest);
    }
    return static_cast<double>(output[label]) - largest - std::log(sum);
  }

  double predicted_noise(const T* output, const T* target) const {
    double sum = 0;
    for (std::int64_t t = 0; t < targets_; ++t) {
      const double residual =
          static_cast<double>(target[t]) - static_cast<double>(output[t]);
      const double log_variance = static_cast<double>(output[targets_ + t]);
      sum -= 0.5 * (kLogTwoPi + log_variance +
                    residual * residual * std::exp(-log_variance));
    }
    return sum;
  }

  double student(const T* output, const T* target) const {
    double sum = 0;
    for (std::int64_t t = 0; t < targets_; ++t) {
      sum += math::student_log_likelihood(static_cast<double>(target[t]),
                                          static_cast<double>(output[t]),
                                          precision_.shape, precision_.rate);
    }
    return sum;
  }

  Likelihood::Kind kind_;
  std::int64_t outputs_;
  std::int64_t targets_;
  Precision precision_;
  const DataView<T>& data_;
};

}  // namespace

template <typename T>
Precision precision_of(const Model& model, const std::vector<T>& parameters) {
  if (model.spec().likelihood.kind != Likelihood::Kind::Gaussian) return {};
  const auto at = static_cast<std::size_t>(
      model.parameters()[model.precision_parameter()].offset);
  return {std::exp(static_cast<double>(parameters.at(at))),
          std::exp(static_cast<double>(parameters.at(at + 1)))};
}

template <typename T>
double precision_kl(const Model& model, const std::vector<T>& parameters) {
  const Likelihood& prior = model.spec().likelihood;
  if (prior.kind != Likelihood::Kind::Gaussian) return 0;
  const Precision q = precision_of(model, parameters);
  return math::kl_gamma(q.shape, q.rate, prior.prior_shape, prior.prior_rate);
}

template <typename T>
std::vector<double> log_likelihoods(const Model& model,
                                    const Precision& precision,
                                    const T* outputs, std::int64_t samples,
                                    const DataView<T>& data) {
  const ExampleLogLikelihood<T> log_likelihood(model, precision, data);
  std::vector<double> result(static_cast<std::size_t>(data.count));
  std::vector<double> of_samples(static_cast<std::size_t>(samples));
  for (std::int64_t row = 0; row < data.count; ++row) {
    for (std::int64_t s = 0; s < samples; ++s) {
      const T* output = outputs + (s * data.count + row) * model.output_size();
      of_samples[static_cast<std::size_t>(s)] = log_likelihood(output, row);
    }
    result[static_cast<std::size_t>(row)] =
        math::log_mean_exp(of_samples.data(), samples);
  }
  return result;
}

template <typename T>
double predictive_nll(const Model& model, const std::vector<T>& parameters,
                      const DataView<T>& data, std::int64_t samples,
                      std::uint64_t seed, Execution execution) {
  RADIR_CHECK(data.count > 0, ArgumentError,
              "predictive_nll: there are no examples");
  Predictor<T> predictor(model, parameters, samples, seed, execution);
  const Precision precision = precision_of(model, parameters);
  // Chunks, so that the outputs of all samples stay small.
  constexpr std::int64_t kChunk = 4096;
  std::vector<T> outputs;
  double sum = 0;
  for (std::int64_t begin = 0; begin < data.count; begin += kChunk) {
    DataView<T> chunk = data;
    chunk.count = std::min(kChunk, data.count - begin);
    chunk.inputs += begin * model.input_size();
    if (chunk.targets != nullptr) chunk.targets += begin * model.target_size();
    if (chunk.labels != nullptr) chunk.labels += begin;
    outputs.resize(
        static_cast<std::size_t>(samples * chunk.count * model.output_size()));
    predictor.run(chunk.inputs, chunk.count, outputs.data());
    for (double value :
         log_likelihoods(model, precision, outputs.data(), samples, chunk)) {
      sum -= value;
    }
  }
  return sum / static_cast<double>(data.count);
}

#define RADIR_INSTANTIATE(T)                                               \
  template Precision precision_of<T>(const Model&, const std::vector<T>&); \
  template double precision_kl<T>(const Model&, const std::vector<T>&);    \
  template std::vector<double> log_likelihoods<T>(                         \
      const Model&, const Precision&, const T*, std::int64_t,              \
      const DataView<T>&);                                                 \
  template double predictive_nll<T>(const Model&, const std::vector<T>&,   \
                                    const DataView<T>&, std::int64_t,      \
                                    std::uint64_t, Execution);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::train
