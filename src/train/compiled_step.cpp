#include "radir/train/compiled_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/kernels/network.h"
#include "radir/math/radial_kl.h"
#include "radir/train/evaluation.h"
#include "train/posterior_set.h"

namespace radir::train {

template <typename T>
TrainingState<T> initial_state(const Model& model, std::uint64_t seed,
                               std::int64_t data_count) {
  RADIR_CHECK(data_count > 0, ArgumentError, "initial_state: the number of ",
              "training examples must be positive, but is ", data_count);
  const auto count = static_cast<std::size_t>(model.parameter_count());
  TrainingState<T> state;
  state.parameters.assign(count, T(0));
  state.first_moment.assign(count, T(0));
  state.second_moment.assign(count, T(0));
  state.seed = seed;
  PosteriorSet<T>(model).initialize(seed, state.parameters.data());

  const Likelihood& likelihood = model.spec().likelihood;
  if (likelihood.kind == Likelihood::Kind::Gaussian) {
    // The best shape is known whatever the residuals; the rate starts at a mean
    // precision of 1, that of standardised targets before anything is learnt.
    const double log_shape =
        std::log(likelihood.prior_shape +
                 static_cast<double>(data_count * model.target_size()) / 2);
    const std::size_t index = model.precision_parameter();
    for (std::size_t i : {index, index + 1}) {
      state.parameters[static_cast<std::size_t>(model.parameters()[i].offset)] =
          T(log_shape);
    }
  }
  return state;
}

template <typename T>
class CompiledStep<T>::Impl {
 public:
  Impl(const Model& model, std::int64_t max_batch, ThreadPool* pool)
      : model_(model),
        pool_(pool),
        posteriors_(model),
        network_(model.spec().network.input, model.spec().network.layers,
                 network_options(max_batch, pool)),
        blocks_(parameter_blocks(model)),
        gradient_(static_cast<std::size_t>(model.parameter_count())),
        targets_(static_cast<std::size_t>(max_batch * model.target_size())),
        labels_(static_cast<std::size_t>(max_batch)) {}

  StepLoss gradient(const TrainingState<T>& state, const Batch<T>& batch,
                    const StepSettings& settings) {
    check(state, batch, settings);
    for_each_block([&](Block& block) {
      std::fill_n(gradient_.begin() + block.begin, block.count, T(0));
    });
    network_.set_input(batch.inputs, batch.count, batch.indices);
    gather_targets(batch);

    const T* parameters = state.parameters.data();
    const double examples = static_cast<double>(settings.data_count);
    const double scale =
        1 / (static_cast<double>(batch.count) * settings.samples);
    StepLoss loss;
    for (int sample = 0; sample < settings.samples; ++sample) {
      // Samples of one step take consecutive numbers of the noise.
      const auto noise = static_cast<std::uint64_t>(state.step) *
                             static_cast<std::uint64_t>(settings.samples) +
                         static_cast<std::uint64_t>(sample);
      posteriors_.sample(parameters, state.seed, noise, pool_);
      const T* outputs = network_.forward(posteriors_.weights());
      const double sample_loss =
          scale * likelihood(state, outputs, batch.count, scale);
      loss.nll += sample_loss;
      network_.backward(posteriors_.weights(), posteriors_.weight_gradients());
      posteriors_.backward(parameters, gradient_.data(), sample_loss, pool_);
    }
    const double kl_scale = settings.kl_weight / examples;
    posteriors_.kl_backward(parameters, kl_scale, gradient_.data());
    precision_kl_backward(state, kl_scale);
    loss.kl =
        settings.kl_value
            ? (posteriors_.kl(parameters) + precision_kl(state)) / examples
            : std::numeric_limits<double>::quiet_NaN();
    return loss;
  }

  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) {
    const StepLoss loss = gradient(state, batch, settings);
    const double squared_norm = squared_gradient_norm();
    const double kl = settings.kl_value ? loss.kl : 0;
    if (!std::isfinite(loss.nll + kl + squared_norm)) {
      report_not_finite(state, loss);
    }
    const double gradient_scale =
        settings.max_gradient_norm > 0
            ? kernels::clipping_scale(squared_norm, settings.max_gradient_norm)
            : 1;
    kernels::AdamBuffers<T> buffers;
    buffers.parameter = state.parameters.data();
    buffers.gradient = gradient_.data();
    buffers.first_moment = state.first_moment.data();
    buffers.second_moment = state.second_moment.data();
    buffers.rate_multiplier = rate_multiplier(settings.radius_rate);
    for_each_block([&](Block& block) {
      kernels::adam_step(settings.adam, state.step + 1, block.count,
                         buffers.from(block.begin), gradient_scale);
    });
    ++state.step;
    return loss;
  }

  const std::vector<T>& last_gradient() const { return gradient_; }

 private:
  /// A part of the flat array of parameters that one thread treats.
  struct Block {
    std::int64_t begin;
    std::int64_t count;
    double place;         ///< of its beginning in its tensor, from 0 to 1
    double squared_norm;  ///< of the gradient
  };

  /// The parameters cut into blocks, small tensors together. Those at the same
  /// place of their tensors follow each other: a loop over groups treats such
  /// places together, and a thread finds here what it has in its cache from
  /// there.
  static std::vector<Block> parameter_blocks(const Model& model) {
    constexpr std::int64_t kSize = 1 << 15;
    std::vector<Block> blocks;
    for (const ParameterInfo& info : model.parameters()) {
      const std::int64_t size = info.size();
      if (!blocks.empty() && blocks.back().count + size <= kSize) {
        blocks.back().count = info.offset + size - blocks.back().begin;
        continue;
      }
      for (std::int64_t at = 0; at < size; at += kSize) {
        blocks.push_back({info.offset + at, std::min(kSize, size - at),
                          static_cast<double>(at) / static_cast<double>(size),
                          0});
      }
    }
    std::stable_sort(
        blocks.begin(), blocks.end(),
        [](const Block& a, const Block& b) { return a.place < b.place; });
    return blocks;
  }

  /// The cut depends on the model alone, and so do the bits.
  template <typename Treat>
  void for_each_block(const Treat& treat) {
    run_tasks(
        pool_, static_cast<std::int64_t>(blocks_.size()),
        [&](std::int64_t i) { treat(blocks_[static_cast<std::size_t>(i)]); });
  }

  double squared_gradient_norm() {
    for_each_block([&](Block& block) {
      block.squared_norm =
          kernels::squared_norm(block.count, gradient_.data() + block.begin);
    });
    double sum = 0;
    for (const Block& block : blocks_) sum += block.squared_norm;
    return sum;
  }

  static kernels::NetworkOptions network_options(std::int64_t max_batch,
                                                 ThreadPool* pool) {
    kernels::NetworkOptions options;
    options.max_batch = max_batch;
    options.pool = pool;
    return options;
  }

  void check(const TrainingState<T>& state, const Batch<T>& batch,
             const StepSettings& settings) const {
    RADIR_CHECK(state.parameters.size() == gradient_.size() &&
                    state.first_moment.size() == gradient_.size() &&
                    state.second_moment.size() == gradient_.size(),
                ArgumentError, "compiled step: the state has ",
                state.parameters.size(), " parameters, the model ",
                gradient_.size());
    RADIR_CHECK(settings.data_count > 0, ArgumentError,
                "compiled step: data_count, the number of training examples, ",
                "must be positive, but is ", settings.data_count);
    RADIR_CHECK(settings.radius_rate >= 0, ArgumentError,
                "compiled step: radius_rate must be at least 0, but is ",
                settings.radius_rate);
    RADIR_CHECK(settings.samples > 0, ArgumentError,
                "compiled step: samples must be positive, but is ",
                settings.samples);
    const bool classes =
        model_.spec().likelihood.kind == Likelihood::Kind::Categorical;
    RADIR_CHECK(batch.inputs != nullptr, ArgumentError,
                "compiled step: the batch has no inputs");
    RADIR_CHECK(classes ? batch.labels != nullptr : batch.targets != nullptr,
                ArgumentError, "compiled step: a ",
                to_string(model_.spec().likelihood.kind), " likelihood needs ",
                classes ? "labels" : "targets", " in the batch");
  }

  void gather_targets(const Batch<T>& batch) {
    if (model_.spec().likelihood.kind == Likelihood::Kind::Categorical) {
      gather(batch, batch.labels, 1, labels_.data());
    } else {
      gather(batch, batch.targets, model_.target_size(), targets_.data());
    }
  }

  /// The batch's rows of `width` numbers, one after the other. Rows are short:
  /// a call of memmove for each would take longer than the copying.
  template <typename V>
  static void gather(const Batch<T>& batch, const V* from, std::int64_t width,
                     V* to) {
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const V* row =
          from + (batch.indices == nullptr ? i : batch.indices[i]) * width;
      for (std::int64_t k = 0; k < width; ++k) *to++ = row[k];
    }
  }

  /// Sum of the batch's NLL; leaves the derivative of `scale` times it by the
  /// outputs in the network, and by the precision's posterior in the gradient.
  double likelihood(const TrainingState<T>& state, const T* outputs,
                    std::int64_t count, double scale) {
    kernels::LikelihoodData<T> data;
    data.outputs = outputs;
    data.num_outputs = model_.output_size();
    data.batch = count;
    data.stride = network_.stride();
    data.gradient = network_.output_gradient();
    data.scale = scale;
    switch (model_.spec().likelihood.kind) {
      case Likelihood::Kind::Categorical:
        return kernels::categorical_loss(data, labels_.data());
      case Likelihood::Kind::PredictedNoise:
        return kernels::predicted_noise_loss(data, targets_.data(),
                                             kernels::NoiseOutput::LogVariance);
      case Likelihood::Kind::Gaussian:
        break;
    }
    const Precision precision = precision_of(model_, state.parameters);
    const auto result = kernels::gamma_precision_loss(
        data, targets_.data(), precision.shape, precision.rate);
    add_precision_gradient(scale * precision.shape * result.shape_gradient,
                           scale * precision.rate * result.rate_gradient);
    return result.loss;
  }

  /// Gradient with respect to the logarithms of shape and rate.
  void add_precision_gradient(double log_shape, double log_rate) {
    const auto at = static_cast<std::size_t>(
        model_.parameters()[model_.precision_parameter()].offset);
    gradient_[at] += T(log_shape);
    gradient_[at + 1] += T(log_rate);
  }

  bool has_precision() const {
    return model_.spec().likelihood.kind == Likelihood::Kind::Gaussian;
  }

  double precision_kl(const TrainingState<T>& state) const {
    if (!has_precision()) return 0;
    const Likelihood& prior = model_.spec().likelihood;
    const Precision q = precision_of(model_, state.parameters);
    return math::kl_gamma(q.shape, q.rate, prior.prior_shape, prior.prior_rate);
  }

  void precision_kl_backward(const TrainingState<T>& state, double scale) {
    if (!has_precision()) return;
    const Likelihood& prior = model_.spec().likelihood;
    const Precision q = precision_of(model_, state.parameters);
    const auto gradient = math::kl_gamma_gradient(
        q.shape, q.rate, prior.prior_shape, prior.prior_rate);
    add_precision_gradient(scale * q.shape * gradient.q1,
                           scale * q.rate * gradient.q2);
  }

  /// Null where all are 1.
  const T* rate_multiplier(double radius_rate) {
    if (radius_rate == 1) return nullptr;
    if (radius_rate != radius_rate_) {
      radius_rate_ = radius_rate;
      rate_multiplier_.assign(gradient_.size(), T(1));
      for (const ParameterInfo& info : model_.parameters()) {
        if (!info.radius_location) continue;
        std::fill_n(rate_multiplier_.begin() + info.offset, info.size(),
                    static_cast<T>(radius_rate));
      }
    }
    return rate_multiplier_.data();
  }

  [[noreturn]] void report_not_finite(const TrainingState<T>& state,
                                      const StepLoss& loss) const {
    std::string where = "the loss";
    for (const ParameterInfo& info : model_.parameters()) {
      bool finite = true;
      for (std::int64_t i = 0; i < info.size(); ++i) {
        const auto at = static_cast<std::size_t>(info.offset + i);
        finite = finite && std::isfinite(gradient_[at]);
      }
      if (finite) continue;
      where = "the gradient of " + info.name;
      break;
    }
    detail::throw_error<NumericalError>(
        "training: ", where, " is not finite at step ", state.step + 1,
        " (seed ", state.seed, ", nll ", loss.nll, ", kl ", loss.kl,
        "); the parameters are those of the last good step. Try a smaller ",
        "learning rate or a gradient norm limit");
  }

  Model model_;
  ThreadPool* pool_;
  PosteriorSet<T> posteriors_;
  kernels::Network<T> network_;
  std::vector<Block> blocks_;
  std::vector<T> gradient_;
  double radius_rate_ = 1;  // that rate_multiplier_ is for
  std::vector<T> rate_multiplier_;
  std::vector<T> targets_;
  std::vector<std::int64_t> labels_;
};

template <typename T>
CompiledStep<T>::CompiledStep(const Model& model, std::int64_t max_batch,
                              ThreadPool* pool)
    : impl_(std::make_unique<Impl>(model, max_batch, pool)) {}
template <typename T>
CompiledStep<T>::~CompiledStep() = default;
template <typename T>
CompiledStep<T>::CompiledStep(CompiledStep&&) noexcept = default;
template <typename T>
CompiledStep<T>& CompiledStep<T>::operator=(CompiledStep&&) noexcept = default;

template <typename T>
StepLoss CompiledStep<T>::step(TrainingState<T>& state, const Batch<T>& batch,
                               const StepSettings& settings) {
  return impl_->step(state, batch, settings);
}

template <typename T>
StepLoss CompiledStep<T>::gradient(const TrainingState<T>& state,
                                   const Batch<T>& batch,
                                   const StepSettings& settings) {
  return impl_->gradient(state, batch, settings);
}

template <typename T>
const std::vector<T>& CompiledStep<T>::last_gradient() const {
  return impl_->last_gradient();
}

template TrainingState<float> initial_state<float>(const Model&, std::uint64_t,
                                                   std::int64_t);
template TrainingState<double> initial_state<double>(const Model&,
                                                     std::uint64_t,
                                                     std::int64_t);
template class CompiledStep<float>;
template class CompiledStep<double>;

}  // namespace radir::train
