#include "workflows/baselines.h"
#include "radir/data/column_code.h"

#include <algorithm>
#include <cmath>

namespace radir::workflows {
namespace {

constexpr double kPenalty = 1;
/// Rows times inputs squared of the Gram matrix: about a second.
constexpr double kMostWork = 1e9;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Replaces a symmetric positive definite matrix by its Cholesky factor, in the
/// lower triangle.
void factorise(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      const double factor = matrix[j * size + k];
      for (std::size_t i = j; i < size; ++i) {
        matrix[i * size + j] -= matrix[i * size + k] * factor;
      }
    }
    const double root = std::sqrt(matrix[j * size + j]);
    for (std::size_t i = j; i < size; ++i) matrix[i * size + j] /= root;
  }
}

/// Solves L z = b in place.
void solve_lower(const std::vector<double>& factor, std::vector<double>& b) {
  const std::size_t size = b.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= factor[i * size + k] * b[k];
    b[i] /= factor[i * size + i];
  }
}

/// Solves L^T z = b in place.
void solve_upper(const std::vector<double>& factor, std::vector<double>& b) {
  const std::size_t size = b.size();
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) {
      b[i] -= factor[k * size + i] * b[k];
    }
    b[i] /= factor[i * size + i];
  }
}

/// All but the pieces of numbers.
std::vector<std::size_t> linear_inputs(const data::TableEncoder& encoder) {
  std::vector<std::size_t> used;
  std::size_t first = 0;
  for (const data::ColumnCode& code : encoder.inputs()) {
    for (std::size_t i = 0; i < at(code.width()); ++i) {
      if (i == 0 || i > code.pieces.size()) used.push_back(first + i);
    }
    first += at(code.width());
  }
  return used;
}

/// Targets on their own scale, standardised.
class OwnTargets {
 public:
  OwnTargets(const data::ColumnCode& target, const data::EncodedRows& rows)
      : mean(target.mean), scale(target.scale), encoded_(rows.targets) {
    if (target.transform.is_none()) return;
    // In units of the largest, of which nothing overflows.
    std::vector<double> values;
    double largest = 0;
    for (const float value : rows.targets) {
      values.push_back(data::target_value(target, static_cast<double>(value)));
      largest = std::max(largest, std::abs(values.back()));
    }
    mean = 0;
    scale = largest > 0 ? largest : 1;
    for (const double value : values) {
      decoded_.push_back(static_cast<float>(value / scale));
    }
  }

  const std::vector<float>& values() const {
    return decoded_.empty() ? encoded_ : decoded_;
  }

  double mean;
  double scale;

 private:
  const std::vector<float>& encoded_;
  std::vector<float> decoded_;  // where the encoded ones are transformed
};

}  // namespace

ConstantModel::ConstantModel(const data::TableEncoder& encoder,
                             const data::EncodedRows& rows) {
  const data::ColumnCode& target = encoder.target();
  const auto count = static_cast<double>(rows.count);
  if (encoder.is_classification()) {
    // One more of each class than there are: none is impossible.
    const auto classes = static_cast<double>(target.width());
    frequencies_.assign(at(target.width()), 1 / (count + classes));
    for (const std::int64_t label : rows.labels) {
      frequencies_[at(label)] += 1 / (count + classes);
    }
    return;
  }
  const OwnTargets own(target, rows);
  double mean = 0, squares = 0;
  for (const float value : own.values()) {
    mean += static_cast<double>(value) / count;
  }
  for (const float value : own.values()) {
    const double away = static_cast<double>(value) - mean;
    squares += away * away / count;
  }
  mean_ = own.mean + own.scale * mean;
  // A fold of equal targets has no spread.
  deviation_ = own.scale * std::max(std::sqrt(squares), 1e-6);
}

likelihood::PredictiveMixture ConstantModel::number() const {
  return likelihood::PredictiveMixture({{mean_, deviation_}});
}

likelihood::ClassPrediction ConstantModel::classes() const {
  likelihood::ClassPrediction result;
  result.probabilities = frequencies_;
  for (const double p : frequencies_) result.entropy -= p * std::log(p);
  return result;
}

std::optional<LinearModel> LinearModel::fit(const data::TableEncoder& encoder,
                                            const data::EncodedRows& rows) {
  LinearModel model;
  model.used_ = linear_inputs(encoder);
  const std::size_t inputs = model.used_.size();
  if (inputs > at(kMostInputs)) return std::nullopt;
  const double cost =
      static_cast<double>(rows.count) * static_cast<double>(inputs * inputs);
  const std::int64_t stride = 1 + static_cast<std::int64_t>(cost / kMostWork);
  const OwnTargets own(encoder.target(), rows);
  model.target_mean_ = own.mean;
  model.target_scale_ = own.scale;
  model.centre_.assign(inputs, 0);
  double count = 0;
  const auto row = [&](std::int64_t r) {
    return rows.inputs.data() + r * encoder.input_size();
  };
  for (std::int64_t r = 0; r < rows.count; r += stride) {
    for (std::size_t i = 0; i < inputs; ++i) {
      model.centre_[i] += static_cast<double>(row(r)[model.used_[i]]);
    }
    model.level_ += static_cast<double>(own.values()[at(r)]);
    ++count;
  }
  for (double& value : model.centre_) value /= count;
  model.level_ /= count;

  std::vector<double> gram(inputs * inputs);
  std::vector<double> moments(inputs);
  double squares = 0;
  for (std::int64_t r = 0; r < rows.count; r += stride) {
    const auto x = model.centred(row(r));
    const double y = static_cast<double>(own.values()[at(r)]) - model.level_;
    squares += y * y;
    for (std::size_t i = 0; i < inputs; ++i) {
      moments[i] += x[i] * y;
      for (std::size_t j = 0; j <= i; ++j) gram[i * inputs + j] += x[i] * x[j];
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) gram[i * inputs + i] += kPenalty;
  factorise(gram, inputs);
  model.factor_ = std::move(gram);
  // w = A^-1 m, and |y - X w|^2 + |w|^2 = |y|^2 - m^T w.
  model.weights_ = moments;
  solve_lower(model.factor_, model.weights_);
  solve_upper(model.factor_, model.weights_);
  for (std::size_t i = 0; i < inputs; ++i) {
    squares -= moments[i] * model.weights_[i];
  }
  const double freedom =
      std::max(count - 1 - static_cast<double>(inputs), count / 2);
  model.noise_ = std::sqrt(std::max(squares / freedom, 1e-12));
  return model;
}

std::vector<double> LinearModel::centred(const float* inputs) const {
  std::vector<double> x(centre_.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(inputs[used_[i]]) - centre_[i];
  }
  return x;
}

std::optional<likelihood::PredictiveMixture> LinearModel::predict(
    const float* inputs) const {
  std::vector<double> x = centred(inputs);
  double location = level_;
  for (std::size_t i = 0; i < x.size(); ++i) location += x[i] * weights_[i];
  solve_lower(factor_, x);
  double leverage = 0;
  for (const double value : x) leverage += value * value;
  const likelihood::MixtureComponent component = {
      target_mean_ + target_scale_ * location,
      target_scale_ * noise_ * std::sqrt(1 + leverage)};
  if (!std::isfinite(component.location) || !std::isfinite(component.scale)) {
    return std::nullopt;
  }
  return likelihood::PredictiveMixture({component});
}

TableSettings linear_class_settings(std::uint64_t seed) {
  TableSettings settings;
  settings.method = "map";
  settings.hidden = {};
  settings.family_options = "prior_scale=1";
  settings.steps = 4000;
  settings.seed = seed;
  return settings;
}

}  // namespace radir::workflows
