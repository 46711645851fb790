#include "radir/likelihood/class_prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

double entropy_of(const double* probabilities, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (probabilities[i] > 0)
      sum -= probabilities[i] * std::log(probabilities[i]);
  }
  return sum;
}

bool all_finite(const float* logits, std::int64_t draws, std::int64_t classes,
                std::int64_t stride) {
  for (std::int64_t d = 0; d < draws; ++d) {
    for (std::int64_t c = 0; c < classes; ++c) {
      if (!std::isfinite(logits[d * stride + c])) return false;
    }
  }
  return true;
}

}  // namespace

bool ClassPrediction::is_defined() const { return !std::isnan(entropy); }

std::int64_t ClassPrediction::most_likely() const {
  return std::max_element(probabilities.begin(), probabilities.end()) -
         probabilities.begin();
}

ClassPrediction predict_class(const float* logits, std::int64_t draws,
                              std::int64_t classes, std::int64_t stride) {
  ClassPrediction result;
  if (!all_finite(logits, draws, classes, stride)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    result.probabilities.assign(static_cast<std::size_t>(classes), nan);
    result.entropy = result.mutual_information = nan;
    return result;
  }
  result.probabilities.assign(static_cast<std::size_t>(classes), 0);
  std::vector<double> of_draw(static_cast<std::size_t>(classes));
  double entropy_of_draws = 0;
  for (std::int64_t d = 0; d < draws; ++d) {
    const float* row = logits + d * stride;
    const double largest =
        static_cast<double>(*std::max_element(row, row + classes));
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      sum += of_draw[static_cast<std::size_t>(c)] =
          std::exp(static_cast<double>(row[c]) - largest);
    }
    for (std::size_t c = 0; c < of_draw.size(); ++c) {
      of_draw[c] /= sum;
      result.probabilities[c] += of_draw[c] / static_cast<double>(draws);
    }
    entropy_of_draws +=
        entropy_of(of_draw.data(), classes) / static_cast<double>(draws);
  }
  result.entropy = entropy_of(result.probabilities.data(), classes);
  // Not negative but for rounding (Jensen's inequality).
  result.mutual_information = std::max(0.0, result.entropy - entropy_of_draws);
  return result;
}

ClassPrediction mixture_of(const std::vector<ClassPrediction>& predictions,
                           const std::vector<double>& weights) {
  RADIR_CHECK(!predictions.empty(), ArgumentError,
              "mixture_of: needs at least one prediction");
  RADIR_CHECK(weights.empty() || weights.size() == predictions.size(),
              ArgumentError, "mixture_of: there are ", predictions.size(),
              " predictions, but ", weights.size(), " weights");
  const double count = static_cast<double>(predictions.size());
  ClassPrediction result;
  result.probabilities.assign(predictions.front().probabilities.size(), 0);
  double entropy_of_draws = 0;
  for (std::size_t k = 0; k < predictions.size(); ++k) {
    const ClassPrediction& p = predictions[k];
    if (!p.is_defined()) return p;
    const auto share = [&](double value) {
      return weights.empty() ? value / count : value * weights[k];
    };
    for (std::size_t c = 0; c < result.probabilities.size(); ++c) {
      result.probabilities[c] += share(p.probabilities[c]);
    }
    entropy_of_draws += share(p.entropy - p.mutual_information);
  }
  result.entropy =
      entropy_of(result.probabilities.data(),
                 static_cast<std::int64_t>(result.probabilities.size()));
  result.mutual_information = std::max(0.0, result.entropy - entropy_of_draws);
  return result;
}

}  // namespace radir::likelihood
