#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posterior/gate_laws.h"
#include "radir/core/error.h"
#include "radir/kernels/gaussian.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/kernels/rdp.h"
#include "radir/math/hard_concrete.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/gates.h"

// Private to the posteriors.

namespace radir::posterior {

/// One gate per row, per column or for all of a weight, of one law.
template <typename T, typename Law>
class GateSet {
 public:
  GateSet(const Law& law, std::int64_t count, std::size_t first_block)
      : law_(law),
        first_(first_block),
        noise_(static_cast<std::size_t>(count)),
        values_(noise_.size()),
        slopes_(noise_.size()) {}

  std::size_t size() const { return noise_.size(); }
  /// Of the last draw.
  double value(std::size_t gate) const { return values_[gate]; }
  const Law& law() const { return law_; }

  void initialize(const Arrays<T>& parameters) const {
    const typename Law::Parameters start = law_.start();
    for (std::size_t i = 0; i < size(); ++i) write(parameters, i, start);
  }

  void draw(const Arrays<const T>& parameters,
            const kernels::RandomStream& stream) {
    const auto count = static_cast<std::int64_t>(size());
    if constexpr (Law::kNormal) {
      kernels::fill_normal(stream, 0, count, noise_.data());
    } else {
      kernels::fill_uniform(stream, 0, count, noise_.data());
    }
    for (std::size_t i = 0; i < size(); ++i) {
      const auto gate = law_.draw(read(parameters, i), noise_[i]);
      values_[i] = gate.value;
      slopes_[i] = gate.slopes;
    }
  }

  /// Adds the gradient through the last draw, given that of each gate.
  void backward(const std::vector<double>& by_gate,
                const Arrays<T>& gradients) const {
    for (std::size_t i = 0; i < size(); ++i) {
      add(gradients, i, by_gate[i], slopes_[i]);
    }
  }

  double cost(const Arrays<const T>& parameters) const {
    double sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      sum += law_.cost(read(parameters, i));
    }
    return sum;
  }
  void cost_backward(const Arrays<const T>& parameters, double scale,
                     const Arrays<T>& gradients) const {
    for (std::size_t i = 0; i < size(); ++i) {
      add(gradients, i, scale, law_.cost_slopes(read(parameters, i)));
    }
  }

  /// what(parameters of a gate) of each.
  template <typename What>
  auto each(const Arrays<const T>& parameters, const What& what) const {
    std::vector<decltype(what(read(parameters, 0)))> result;
    for (std::size_t i = 0; i < size(); ++i) {
      result.push_back(what(read(parameters, i)));
    }
    return result;
  }

  void bound(const Arrays<T>& parameters) const {
    for (std::size_t i = 0; i < size(); ++i) {
      typename Law::Parameters p = read(parameters, i);
      law_.bound(p);
      write(parameters, i, p);
    }
  }

 private:
  template <typename P>
  typename Law::Parameters read(const Arrays<P>& parameters,
                                std::size_t gate) const {
    typename Law::Parameters p;
    for (std::size_t k = 0; k < p.size(); ++k) {
      p[k] = static_cast<double>(parameters[first_ + k][gate]);
    }
    return p;
  }
  void write(const Arrays<T>& parameters, std::size_t gate,
             const typename Law::Parameters& p) const {
    for (std::size_t k = 0; k < p.size(); ++k) {
      parameters[first_ + k][gate] = static_cast<T>(p[k]);
    }
  }
  void add(const Arrays<T>& gradients, std::size_t gate, double factor,
           const typename Law::Parameters& slopes) const {
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      gradients[first_ + k][gate] += static_cast<T>(factor * slopes[k]);
    }
  }

  Law law_;
  std::size_t first_;  // block of the first parameter
  std::vector<double> noise_;
  std::vector<double> values_;  // of the last draw
  std::vector<typename Law::Parameters> slopes_;
};

/// Weights times gates of one law (see posterior/gates.h). The weights behind
/// them have no noise, or are normal under N(0, 1); of normal weights a
/// training step draws the noise in the activations.
template <typename T, typename Law>
class GatedPosterior : public FamilyPosterior<T> {
 public:
  /// With `common`, one more gate of all units. With `initial_noise`, relative
  /// to the weights' spread, they are normal.
  GatedPosterior(const network::WeightShape& shape, Options options,
                 const GatedWeights& weights, const Law& units,
                 std::optional<double> initial_noise = std::nullopt,
                 const std::optional<Law>& common = std::nullopt)
      : FamilyPosterior<T>(shape, std::move(options)),
        rows_(weights.grouping == Grouping::Row),
        initial_gain_(weights.initial_gain),
        initial_noise_(initial_noise),
        loc_(this->add_block("loc", Extent::Weight)) {
    if (initial_noise) {
      log_scale_ = this->add_block("log_scale", Extent::Weight, true, true);
      deviation_.resize(static_cast<std::size_t>(shape.size()));
    }
    add_gates("", rows_ ? Extent::Rows : Extent::Columns, units);
    if (common) add_gates("common_", Extent::One, *common);
    by_unit_.resize(sets_.front().size());
    factors_.resize(by_unit_.size());
  }

  std::string describe() const override {
    return std::string(this->options().family().name()) + ", gates of " +
           (rows_ ? "rows" : "columns");
  }

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override {
    this->draw_start(stream, initial_gain_, parameters[loc_]);
    if (log_scale_) {
      const double noise = *initial_noise_ * this->spread_of(initial_gain_);
      std::fill_n(parameters[*log_scale_], this->shape().size(),
                  T(std::log(noise)));
    }
    for (const Gates& gates : sets_) gates.initialize(parameters);
  }

  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool* pool) override {
    draw_gates(parameters, stream);
    if (log_scale_) {
      kernels::gaussian_sample(this->shape().size(), parameters[loc_],
                               parameters[*log_scale_], stream,
                               deviation_.data(), weight, pool);
    } else {
      std::copy_n(parameters[loc_], this->shape().size(), weight);
    }
    for_each_weight(
        [&](std::int64_t i, std::size_t unit) { weight[i] *= factors_[unit]; });
  }

  void backward(const Arrays<const T>& parameters, const T*,
                const T* weight_gradient, const Arrays<T>& gradients, double,
                ThreadPool*) override {
    start_units();
    for_each_weight([&](std::int64_t i, std::size_t unit) {
      const T gradient = weight_gradient[i];
      T ungated = parameters[loc_][i];
      if (log_scale_) {
        const T deviation = deviation_[static_cast<std::size_t>(i)];
        ungated += deviation;
        gradients[*log_scale_][i] += gradient * factors_[unit] * deviation;
      }
      gradients[loc_][i] += gradient * factors_[unit];
      by_unit_[unit] += static_cast<double>(gradient * ungated);
    });
    gates_backward(gradients);
  }

  double kl(const Arrays<const T>& parameters) override {
    double sum = 0;
    for (const Gates& gates : sets_) sum += gates.cost(parameters);
    if (log_scale_) {
      sum += kernels::gaussian_kl(this->shape().size(), parameters[loc_],
                                  parameters[*log_scale_], 0.0);
    }
    return sum;
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    for (const Gates& gates : sets_) {
      gates.cost_backward(parameters, scale, gradients);
    }
    if (!log_scale_) return;
    double by_prior = 0;  // whose scale is fixed
    const kernels::GaussianKlGradient<T> gradient{
        scale, gradients[loc_], gradients[*log_scale_], &by_prior};
    kernels::gaussian_kl(this->shape().size(), parameters[loc_],
                         parameters[*log_scale_], 0.0, &gradient);
  }

  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override {
    const auto gates = unit_moments(parameters);
    for_each_weight([&](std::int64_t i, std::size_t unit) {
      const auto loc = static_cast<double>(parameters[loc_][i]);
      const double expected = gates[unit].mean * loc;
      if (mean != nullptr) mean[i] = static_cast<T>(expected);
      if (variance == nullptr) return;
      const double square = loc * loc + weight_variance(parameters, i);
      // Not negative by rounding, where both parts are almost equal.
      variance[i] = static_cast<T>(
          std::max(0.0, gates[unit].square * square - expected * expected));
    });
  }

  void point(const Arrays<const T>& parameters, kernels::PointWeight,
             T* weight) override {
    const auto point = [](const Gates& gates) {
      return [&gates](const auto& p) { return gates.law().point(p); };
    };
    std::vector<double> factors =
        sets_.front().each(parameters, point(sets_.front()));
    for (std::size_t s = 1; s < sets_.size(); ++s) {
      const double common = sets_[s].each(parameters, point(sets_[s])).front();
      for (double& factor : factors) factor *= common;
    }
    for_each_weight([&](std::int64_t i, std::size_t unit) {
      weight[i] = parameters[loc_][i] * static_cast<T>(factors[unit]);
    });
  }

  UnitScores unit_scores(const Arrays<const T>& parameters) override {
    const Gates& units = sets_.front();
    UnitScores scores;
    (rows_ ? scores.rows : scores.columns) = units.each(
        parameters, [&](const auto& p) { return units.law().score(p); });
    scores.are_gates = true;
    return scores;
  }

  Noise noise() const override {
    return log_scale_ ? Noise::Activations : Noise::Weights;
  }

  void step_moments(const Arrays<const T>& parameters,
                    const kernels::RandomStream& stream, T* mean,
                    T* variance) override {
    draw_gates(parameters, stream);
    for_each_weight([&](std::int64_t i, std::size_t unit) {
      const T factor = factors_[unit];
      mean[i] = factor * parameters[loc_][i];
      variance[i] =
          factor * factor * static_cast<T>(weight_variance(parameters, i));
    });
  }

  void moments_backward(const Arrays<const T>& parameters,
                        const T* mean_gradient, const T* variance_gradient,
                        const Arrays<T>& gradients) override {
    if (!log_scale_) {
      return FamilyPosterior<T>::moments_backward(parameters, mean_gradient,
                                                  variance_gradient, gradients);
    }
    start_units();
    for_each_weight([&](std::int64_t i, std::size_t unit) {
      const T factor = factors_[unit];
      const T variance = variance_gradient[i] *
                         static_cast<T>(2 * weight_variance(parameters, i)) *
                         factor;
      gradients[loc_][i] += factor * mean_gradient[i];
      gradients[*log_scale_][i] += factor * variance;
      by_unit_[unit] += static_cast<double>(
          parameters[loc_][i] * mean_gradient[i] + variance);
    });
    gates_backward(gradients);
  }

  bool has_after_step() const override { return Law::kBounded; }
  void after_step(double, const Arrays<T>& parameters) override {
    if constexpr (Law::kBounded) {
      for (const Gates& gates : sets_) gates.bound(parameters);
    }
  }

 private:
  using Gates = GateSet<T, Law>;

  void add_gates(const std::string& prefix, Extent extent, const Law& law) {
    std::optional<std::size_t> first;
    for (const char* name : Law::kNames) {
      const std::size_t block =
          this->add_block(prefix + name, extent, true, true);
      if (!first) first = block;
    }
    sets_.emplace_back(law, this->parameter_blocks()[*first].size, *first);
  }

  /// treat(index of the weight, its row or column).
  template <typename Treat>
  void for_each_weight(const Treat& treat) const {
    const network::WeightShape& shape = this->shape();
    std::int64_t i = 0;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      const std::int64_t first = row / shape.out * shape.in;
      for (std::int64_t column = first; column < first + shape.in; ++column) {
        const auto unit = static_cast<std::size_t>(rows_ ? row : column);
        for (std::int64_t k = 0; k < shape.kernel; ++k) treat(i++, unit);
      }
    }
  }

  double weight_variance(const Arrays<const T>& parameters,
                         std::int64_t i) const {
    return log_scale_
               ? static_cast<double>(std::exp(2 * parameters[*log_scale_][i]))
               : 0;
  }

  std::vector<math::GateMoments> unit_moments(
      const Arrays<const T>& parameters) const {
    const auto moments = [](const Gates& gates) {
      return [&gates](const auto& p) { return gates.law().moments(p); };
    };
    auto result = sets_.front().each(parameters, moments(sets_.front()));
    for (std::size_t s = 1; s < sets_.size(); ++s) {
      const auto common = sets_[s].each(parameters, moments(sets_[s])).front();
      for (math::GateMoments& unit : result) {
        unit.mean *= common.mean;
        unit.square *= common.square;
      }
    }
    return result;
  }

  /// From the streams after the first, which draws weights or activations.
  void draw_gates(const Arrays<const T>& parameters,
                  const kernels::RandomStream& stream) {
    kernels::RandomStream own = stream;
    for (Gates& gates : sets_) {
      ++own.stream;
      gates.draw(parameters, own);
    }
    const double common = sets_.size() > 1 ? sets_[1].value(0) : 1;
    for (std::size_t unit = 0; unit < factors_.size(); ++unit) {
      factors_[unit] = static_cast<T>(sets_.front().value(unit) * common);
    }
  }

  void start_units() { std::fill(by_unit_.begin(), by_unit_.end(), 0.0); }

  /// Given in by_unit_ the gradients by the factors of the units.
  void gates_backward(const Arrays<T>& gradients) {
    if (sets_.size() > 1) {
      double by_common = 0;
      for (std::size_t unit = 0; unit < by_unit_.size(); ++unit) {
        by_common += by_unit_[unit] * sets_.front().value(unit);
        by_unit_[unit] *= sets_[1].value(0);
      }
      sets_[1].backward({by_common}, gradients);
    }
    sets_.front().backward(by_unit_, gradients);
  }

  bool rows_;
  double initial_gain_;
  std::optional<double> initial_noise_;
  std::size_t loc_;
  std::optional<std::size_t> log_scale_;
  std::vector<Gates> sets_;      // of the units, and of all together
  std::vector<T> deviation_;     // of normal weights in the last draw
  std::vector<T> factors_;       // of the units in the last draw
  std::vector<double> by_unit_;  // gradients by them
};

}  // namespace radir::posterior
