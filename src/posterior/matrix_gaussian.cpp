#include "radir/posterior/matrix_gaussian.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "posterior/pseudo_conditions.h"
#include "radir/core/text_stream.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/math/matrix_normal.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"

namespace radir::posterior {
namespace {

/// The streams of a draw, after that of the weights.
constexpr std::uint32_t kInputNoise = 1;
constexpr std::uint32_t kOutputNoise = 2;

/// Where the noise of the pseudo-data starts: log odds of the share of its
/// largest variance.
constexpr double kStartingOdds = 3;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

kernels::RandomStream beside(kernels::RandomStream stream,
                             std::uint32_t number) {
  stream.stream += number;
  return stream;
}

/// Pseudo-inputs or pseudo-outputs with the noise of one draw, and the gradient
/// by them.
template <typename T>
struct NoisyArray {
  explicit NoisyArray(std::int64_t size)
      : noise(static_cast<std::size_t>(size)),
        values(noise.size()),
        gradient(noise.size()) {}

  /// values = clean * (1 + deviation * normals).
  void draw(const T* clean, double deviation,
            const kernels::RandomStream& stream) {
    kernels::fill_normal(stream, 0, static_cast<std::int64_t>(noise.size()),
                         noise.data());
    for (std::size_t i = 0; i < noise.size(); ++i) {
      noise[i] *= static_cast<T>(deviation);
      values[i] = clean[i] * (1 + noise[i]);
    }
    std::fill(gradient.begin(), gradient.end(), T(0));
  }

  /// Adds the gradient by `clean`; returns that by the logarithm of the
  /// deviation.
  double backward(const T* clean, T* clean_gradient) const {
    double by_log_deviation = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      clean_gradient[i] += gradient[i] * (1 + noise[i]);
      by_log_deviation += static_cast<double>(gradient[i] * clean[i]) *
                          static_cast<double>(noise[i]);
    }
    return by_log_deviation;
  }

  std::vector<T> noise;
  std::vector<T> values;
  std::vector<T> gradient;
};

template <typename T>
class MatrixGaussianPosterior final : public FamilyPosterior<T> {
 public:
  MatrixGaussianPosterior(const network::WeightShape& shape,
                          const MatrixGaussianOptions& options)
      : FamilyPosterior<T>(shape, options),
        own_(options),
        prior_variance_(options.prior_gain /
                        static_cast<double>(shape.row_length())),
        loc_(this->add_block("loc", Extent::Weight)),
        row_scale_(this->add_block("row_log_scale", Extent::Rows)),
        column_scale_(this->add_block("column_log_scale", Extent::Columns)),
        conditions_(shape, options.pseudo_data),
        deviation_(static_cast<std::size_t>(shape.size())),
        inputs_(pseudo() * shape.columns() * shape.kernel),
        outputs_(pseudo() * shape.rows()),
        draw_gradient_(pseudo() > 0 ? deviation_.size() : 0) {
    if (pseudo() == 0) return;
    pseudo_inputs_ = this->add_unit_block("pseudo_inputs", Extent::Columns,
                                          pseudo(), shape.kernel);
    pseudo_outputs_ =
        this->add_unit_block("pseudo_outputs", Extent::Rows, pseudo(), 1);
    input_noise_ = this->add_block("input_noise_log_odds", Extent::One);
    output_noise_ = this->add_block("output_noise_log_odds", Extent::One);
  }

  std::string describe() const override {
    std::ostringstream text = text_stream();
    text << "matrix gaussian, " << own_.pseudo_data << " pseudo-data, prior "
         << (own_.learn_prior ? "learnt from gain " : "gain ")
         << own_.prior_gain;
    return text.str();
  }

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override {
    const network::WeightShape& shape = this->shape();
    this->draw_start(stream, own_.initial_gain, parameters[loc_]);
    std::fill_n(parameters[row_scale_], shape.rows(), T(0));
    const double spread = this->spread_of(own_.initial_gain);
    std::fill_n(parameters[column_scale_], shape.columns(),
                T(std::log(own_.initial_noise * (spread > 0 ? spread : 1))));
    if (pseudo() == 0) return;
    // Standard normal inputs, and the outputs that the mean gives them.
    kernels::fill_normal(beside(stream, kInputNoise), 0,
                         static_cast<std::int64_t>(inputs_.values.size()),
                         parameters[pseudo_inputs_]);
    write_outputs(parameters[pseudo_inputs_], parameters[loc_], shape,
                  parameters[pseudo_outputs_]);
    *parameters[input_noise_] = *parameters[output_noise_] = T(kStartingOdds);
  }

  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool*) override {
    kernels::fill_normal(stream, 0, this->shape().size(), deviation_.data());
    for_each_weight([&](std::int64_t i, std::int64_t row, std::int64_t column) {
      T& deviation = deviation_[static_cast<std::size_t>(i)];
      deviation *= std::exp(parameters[row_scale_][row] +
                            parameters[column_scale_][column]);
      weight[i] = parameters[loc_][i] + deviation;
    });
    if (pseudo() == 0) return;
    inputs_.draw(parameters[pseudo_inputs_],
                 std::sqrt(noise_variance(parameters, input_noise_)),
                 beside(stream, kInputNoise));
    outputs_.draw(parameters[pseudo_outputs_],
                  std::sqrt(noise_variance(parameters, output_noise_)),
                  beside(stream, kOutputNoise));
    conditions_.apply(parameters[column_scale_], inputs_.values.data(),
                      outputs_.values.data(), weight);
  }

  void backward(const Arrays<const T>& parameters, const T*,
                const T* weight_gradient, const Arrays<T>& gradients, double,
                ThreadPool*) override {
    const T* by_draw = weight_gradient;
    if (pseudo() > 0) {
      backward_condition(parameters, weight_gradient, gradients);
      by_draw = draw_gradient_.data();
    }
    for_each_weight([&](std::int64_t i, std::int64_t row, std::int64_t column) {
      gradients[loc_][i] += by_draw[i];
      const T by_log = by_draw[i] * deviation_[static_cast<std::size_t>(i)];
      gradients[row_scale_][row] += by_log;
      gradients[column_scale_][column] += by_log;
    });
  }

  double kl(const Arrays<const T>& parameters) override {
    const Sums sums = this->sums(parameters);
    double value = sums.kl();
    if (pseudo() == 0) return value;
    for (std::size_t noise : {input_noise_, output_noise_}) {
      value +=
          noise_count(noise) *
          (math::relative_noise_entropy(own_.pseudo_noise) -
           math::relative_noise_entropy(noise_variance(parameters, noise)));
    }
    return value;
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    const network::WeightShape& shape = this->shape();
    const Sums sums = this->sums(parameters);
    const double by_square = scale * sums.precision() / prior_variance_ / 2;
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      gradients[loc_][i] += static_cast<T>(2 * by_square) * parameters[loc_][i];
    }
    const auto add_scales = [&](std::size_t block, std::int64_t units,
                                const std::vector<double>& other_squares,
                                std::int64_t length) {
      const std::int64_t per_group = units / shape.groups;
      for (std::int64_t i = 0; i < units; ++i) {
        const double square =
            std::exp(2 * static_cast<double>(parameters[block][i])) *
            other_squares[static_cast<std::size_t>(i / per_group)] *
            static_cast<double>(shape.kernel);
        gradients[block][i] += static_cast<T>(
            2 * by_square * square - scale * static_cast<double>(length));
      }
    };
    add_scales(row_scale_, shape.rows(), sums.column_squares,
               shape.row_length());
    add_scales(column_scale_, shape.columns(), sums.row_squares,
               shape.column_length());
    if (pseudo() == 0) return;
    for (std::size_t noise : {input_noise_, output_noise_}) {
      const double share = logistic(static_cast<double>(*parameters[noise]));
      *gradients[noise] -= static_cast<T>(
          scale * noise_count(noise) * (1 - share) *
          math::relative_noise_entropy_slope(own_.pseudo_noise * share));
    }
  }

  /// With the noise of the pseudo-data to first order in its deviation.
  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override {
    std::vector<T> own_mean;
    if (mean == nullptr) {
      own_mean.resize(static_cast<std::size_t>(this->shape().size()));
      mean = own_mean.data();
    }
    std::copy_n(parameters[loc_], this->shape().size(), mean);
    if (pseudo() > 0) {
      conditions_.apply(parameters[column_scale_], parameters[pseudo_inputs_],
                        parameters[pseudo_outputs_], mean);
    }
    if (variance == nullptr) return;
    if (pseudo() > 0) {
      conditions_.variances(parameters[row_scale_], mean,
                            {noise_variance(parameters, input_noise_),
                             noise_variance(parameters, output_noise_)},
                            variance);
      return;
    }
    for_each_weight([&](std::int64_t i, std::int64_t row, std::int64_t column) {
      variance[i] = std::exp(2 * (parameters[row_scale_][row] +
                                  parameters[column_scale_][column]));
    });
  }

  /// The pseudo-outputs of a part become those that its mean gives: its own
  /// mean is then the part of this one's, whatever its other columns did.
  void finish_restriction(const KeptUnits& kept,
                          const Arrays<const T>& parameters,
                          const FamilyPosterior<T>& target,
                          const Arrays<T>& target_parameters) const override {
    if (pseudo() == 0) return;
    const network::WeightShape& shape = this->shape();
    std::vector<T> mean(parameters[loc_], parameters[loc_] + shape.size());
    PseudoConditions<T>(shape, pseudo())
        .apply(parameters[column_scale_], parameters[pseudo_inputs_],
               parameters[pseudo_outputs_], mean.data());
    T* to = target_parameters[loc_];
    for (std::int64_t row : kept.rows) {
      for (std::int64_t column : kept.columns) {
        to = std::copy_n(mean.data() + (row * shape.in + column) * shape.kernel,
                         shape.kernel, to);
      }
    }
    write_outputs(target_parameters[pseudo_inputs_], target_parameters[loc_],
                  target.shape(), target_parameters[pseudo_outputs_]);
  }

 private:
  /// Sums over the weights, before the condition, of a group or of all.
  struct Sums {
    double count = 0;
    double squares = 0;     // E[w^2] relative to the prior's variance
    double log_scales = 0;  // relative to the prior's deviation
    bool learn_prior = true;
    std::vector<double> row_squares;     // of the scales, per group
    std::vector<double> column_squares;  // the same

    math::ProductPrecision<double> posterior() const {
      return math::product_precision(count, squares);
    }
    double precision() const {
      return learn_prior ? math::mean_precision(posterior()) : 1;
    }
    double kl() const {
      return learn_prior ? math::kl_matrix_normal(count, squares, log_scales,
                                                  posterior())
                         : math::kl_matrix_normal(count, squares, log_scales);
    }
  };

  std::int64_t pseudo() const { return own_.pseudo_data; }
  double noise_count(std::size_t block) const {
    return static_cast<double>(block == input_noise_ ? inputs_.values.size()
                                                     : outputs_.values.size());
  }
  double noise_variance(const Arrays<const T>& parameters,
                        std::size_t block) const {
    return own_.pseudo_noise *
           logistic(static_cast<double>(*parameters[block]));
  }

  /// visit(index of the weight, row, column).
  template <typename Visit>
  void for_each_weight(const Visit& visit) const {
    const network::WeightShape& shape = this->shape();
    std::int64_t i = 0;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      const std::int64_t first = row / shape.out * shape.in;
      for (std::int64_t column = first; column < first + shape.in; ++column) {
        for (std::int64_t k = 0; k < shape.kernel; ++k) visit(i++, row, column);
      }
    }
  }

  Sums sums(const Arrays<const T>& parameters) const {
    const network::WeightShape& shape = this->shape();
    Sums sums;
    sums.learn_prior = own_.learn_prior;
    sums.count = static_cast<double>(shape.size());
    const auto add = [&](std::size_t block, std::int64_t units,
                         std::int64_t length, std::vector<double>& squares) {
      squares.assign(static_cast<std::size_t>(shape.groups), 0);
      for (std::int64_t i = 0; i < units; ++i) {
        const auto log_scale = static_cast<double>(parameters[block][i]);
        squares[static_cast<std::size_t>(i * shape.groups / units)] +=
            std::exp(2 * log_scale);
        sums.log_scales += log_scale * static_cast<double>(length);
      }
    };
    add(row_scale_, shape.rows(), shape.row_length(), sums.row_squares);
    add(column_scale_, shape.columns(), shape.column_length(),
        sums.column_squares);
    for (std::size_t g = 0; g < sums.row_squares.size(); ++g) {
      sums.squares += sums.row_squares[g] * sums.column_squares[g] *
                      static_cast<double>(shape.kernel);
    }
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      const auto value = static_cast<double>(parameters[loc_][i]);
      sums.squares += value * value;
    }
    sums.squares /= prior_variance_;
    sums.log_scales -= sums.count * std::log(prior_variance_) / 2;
    return sums;
  }

  /// The pseudo-outputs [copies][rows] that weights of a shape give to
  /// pseudo-inputs [copies][columns][kernel].
  void write_outputs(const T* inputs, const T* weight,
                     const network::WeightShape& shape, T* outputs) const {
    const std::int64_t length = shape.row_length();
    for (std::int64_t p = 0; p < pseudo(); ++p) {
      for (std::int64_t row = 0; row < shape.rows(); ++row) {
        const T* const input =
            inputs + (p * shape.groups + row / shape.out) * length;
        double sum = 0;
        for (std::int64_t j = 0; j < length; ++j) {
          sum += static_cast<double>(input[j]) *
                 static_cast<double>(weight[row * length + j]);
        }
        outputs[p * shape.rows() + row] = static_cast<T>(sum);
      }
    }
  }

  void backward_condition(const Arrays<const T>& parameters,
                          const T* weight_gradient,
                          const Arrays<T>& gradients) {
    std::fill(draw_gradient_.begin(), draw_gradient_.end(), T(0));
    conditions_.backward(parameters[column_scale_], weight_gradient,
                         {draw_gradient_.data(), gradients[column_scale_],
                          inputs_.gradient.data(), outputs_.gradient.data()});
    add_noise_gradient(parameters, inputs_, pseudo_inputs_, input_noise_,
                       gradients);
    add_noise_gradient(parameters, outputs_, pseudo_outputs_, output_noise_,
                       gradients);
  }

  void add_noise_gradient(const Arrays<const T>& parameters,
                          const NoisyArray<T>& array, std::size_t values,
                          std::size_t noise, const Arrays<T>& gradients) const {
    const double by_log_deviation =
        array.backward(parameters[values], gradients[values]);
    const double share = logistic(static_cast<double>(*parameters[noise]));
    *gradients[noise] += static_cast<T>(by_log_deviation * (1 - share) / 2);
  }

  MatrixGaussianOptions own_;
  double prior_variance_;
  std::size_t loc_;
  std::size_t row_scale_;
  std::size_t column_scale_;
  // Where there are pseudo-data:
  std::size_t pseudo_inputs_ = 0;
  std::size_t pseudo_outputs_ = 0;
  std::size_t input_noise_ = 0;
  std::size_t output_noise_ = 0;
  PseudoConditions<T> conditions_;
  // Of the last draw:
  std::vector<T> deviation_;
  NoisyArray<T> inputs_;
  NoisyArray<T> outputs_;
  std::vector<T> draw_gradient_;
};

}  // namespace

void describe(SettingsVisitor& visit, MatrixGaussianOptions& options) {
  visit.integer({"pseudo_data", "Pairs of pseudo-inputs and pseudo-outputs",
                 between(0, 1000)},
                options.pseudo_data);
  visit.number({"pseudo_noise",
                "Largest variance of the pseudo-data relative to their squares",
                inside(0, 1)},
               options.pseudo_noise);
  visit.number(
      {"prior_gain", "Prior variance of the weights times the inputs of a unit",
       above(0)},
      options.prior_gain);
  visit.flag({"learn_prior", "Learn a factor of the prior's variance", {}},
             options.learn_prior);
  visit.number({"initial_gain",
                "Variance of the starting weights times the inputs of a unit",
                at_least(0)},
               options.initial_gain);
  visit.number({"initial_noise",
                "Standard deviation of the weights at the start relative to "
                "their spread",
                above(0)},
               options.initial_noise);
}

const Family& family_of(const MatrixGaussianOptions&) {
  static const FamilyOf<MatrixGaussianOptions, MatrixGaussianPosterior> family(
      "matrix-gaussian",
      "Normal weights whose variances are products of one per row and one per "
      "column, conditioned on pseudo-data.");
  return family;
}

}  // namespace radir::posterior
