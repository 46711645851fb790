#include <algorithm>
#include <cmath>

#include "likelihood/kinds.h"
#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"

namespace radir::likelihood {
namespace {

class Categorical final : public TypedLikelihood<Categorical> {
 public:
  bool has_labels() const override { return true; }
  std::int64_t target_size(std::int64_t outputs) const override {
    RADIR_CHECK(outputs >= 2, ArgumentError,
                "likelihood: a classifier needs at least two outputs, but has ",
                outputs);
    return 1;
  }
  std::int64_t output_size(std::int64_t targets) const override {
    return targets;
  }
  std::string describe_outputs(const std::string&) const override {
    return "logits: their softmax gives the probabilities of the classes";
  }

  template <typename T>
  double loss_of(const kernels::LikelihoodData<T>& data,
                 const Targets<T>& targets, const double*, double*) const {
    return kernels::categorical_loss(data, targets.labels);
  }

  template <typename T>
  void log_likelihoods_of(const Draws<T>& draws, const Targets<T>& target,
                          const double*, double* result) const {
    for (std::int64_t d = 0; d < draws.count; ++d) {
      const T* outputs = draws.outputs + d * draws.stride;
      const double largest = static_cast<double>(
          *std::max_element(outputs, outputs + draws.num_outputs));
      double sum = 0;
      for (std::int64_t c = 0; c < draws.num_outputs; ++c) {
        sum += std::exp(static_cast<double>(outputs[c]) - largest);
      }
      result[d] = static_cast<double>(outputs[*target.labels]) - largest -
                  std::log(sum);
    }
  }

  ClassPrediction predict_class(const Draws<float>& draws) const override {
    return likelihood::predict_class(draws.outputs, draws.count,
                                     draws.num_outputs, draws.stride);
  }
};

}  // namespace

std::unique_ptr<const Likelihood> make_categorical(const Options&) {
  return std::make_unique<Categorical>();
}

}  // namespace radir::likelihood
