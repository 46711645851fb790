#include "radir/train/compiled_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/adam.h"
#include "radir/kernels/network.h"
#include "radir/likelihood/likelihood.h"
#include "train/batch_loss.h"
#include "train/posterior_set.h"
#include "train/step_constants.h"

namespace radir::train {
namespace {

/// Posteriors count their streams from 0, starting values from 2^31.
constexpr std::uint32_t kPenaltyStream = (1u << 31) - 1;

}  // namespace

template <typename T>
class CompiledStep<T>::Impl {
 public:
  Impl(const Model& model, std::int64_t max_batch, Execution execution,
       GradientExchange<T> exchange, ShardedSum* sharded)
      : model_(model),
        execution_(execution),
        exchange_(std::move(exchange)),
        sharded_(sharded),
        posteriors_(model, PosteriorSet<T>::Purpose::Training,
                    model.likelihood_parameter_count() + 1),
        network_(model.spec().network.input, model.spec().network.layers,
                 network_options(max_batch, execution.pool, posteriors_,
                                 sharded == nullptr ? 1 : sharded->shards())),
        blocks_(parameter_blocks(model)),
        gradient_(static_cast<std::size_t>(model.parameter_count())),
        batch_loss_(model, max_batch,
                    sharded == nullptr ? 1 : sharded->shards()),
        own_(static_cast<std::size_t>(model.likelihood_parameter_count())),
        own_gradient_(own_.size()) {
    RADIR_CHECK(sharded == nullptr || (std::is_same_v<T, float>),
                UnsupportedError, "compiled step: shards are added up in ",
                "float, not in double");
    if (sharded == nullptr) return;
    shards_.ends.reserve(static_cast<std::size_t>(sharded->shards()));
  }

  StepLoss gradient(const TrainingState<T>& state, const Batch<T>& batch,
                    const StepSettings& settings) {
    check(state, batch, settings);
    for_each_block([&](Block& block) {
      std::fill_n(gradient_.begin() + block.begin, block.count, T(0));
    });
    if (sharded_ == nullptr) take(batch);

    const T* parameters = state.parameters.data();
    read_own(parameters);
    const auto examples = static_cast<double>(settings.data_count);
    const auto batch_size = static_cast<double>(
        settings.shared_batch > 0 ? settings.shared_batch : batch.count);
    const double scale = 1 / (batch_size * settings.samples);
    loss_ = {};
    for (int sample = 0; sample < settings.samples; ++sample) {
      // Samples of one step take consecutive numbers of the noise.
      const auto noise = static_cast<std::uint64_t>(state.step) *
                             static_cast<std::uint64_t>(settings.samples) +
                         static_cast<std::uint64_t>(sample);
      posteriors_.sample(parameters, state.seed, noise, execution_.pool);
      const double sample_loss = sharded_ == nullptr
                                     ? data_gradient(scale)
                                     : sharded_gradient(batch, scale);
      loss_.nll += sample_loss;
      posteriors_.backward(parameters, gradient_.data(), sample_loss,
                           execution_.pool);
    }
    // This worker's share of the KL: 1 where it has the complete batch.
    const double share = static_cast<double>(batch.count) / batch_size;
    const double kl_scale = share * (settings.kl_weight / examples);
    posteriors_.kl_backward(parameters, kl_scale, gradient_.data());
    add_own_gradient([&](double* gradient) {
      model_.likelihood().kl_backward(own_.data(), kl_scale, gradient);
    });
    const double penalty = add_penalty(state, settings.penalty, kl_scale);
    loss_.kl = settings.kl_value
                   ? share * ((posteriors_.kl(parameters) +
                               model_.likelihood().kl(own_.data()) + penalty) /
                              examples)
                   : std::numeric_limits<double>::quiet_NaN();
    return loss_;
  }

  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) {
    gradient(state, batch, settings);
    if (exchange_) {
      exchange_(gradient_.data(), static_cast<std::int64_t>(gradient_.size()),
                loss_);
    }
    update(state, settings);
    return loss_;
  }

  void update(TrainingState<T>& state, const StepSettings& settings) {
    check_size(state);
    const double squared_norm = squared_gradient_norm();
    const double kl = settings.kl_value ? loss_.kl : 0;
    if (!std::isfinite(loss_.nll + kl + squared_norm)) {
      report_not_finite(state);
    }
    const double gradient_scale =
        settings.max_gradient_norm > 0
            ? kernels::clipping_scale(squared_norm, settings.max_gradient_norm)
            : 1;
    const OptimizerPass<T> pass(
        settings.optimizer, state.step + 1, state.optimizer,
        {gradient_.size(), state.parameters.data(), gradient_.data(),
         rate_multiplier(settings.scale_rate)},
        gradient_scale);
    read_own(state.parameters.data());
    for_each_block([&](Block& block) { pass(block.begin, block.count); });
    take_own_step(settings, gradient_scale, state.parameters.data());
    posteriors_.after_step(settings.optimizer.learning_rate *
                               settings.kl_weight /
                               static_cast<double>(settings.data_count),
                           state.parameters.data());
    ++state.step;
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
        execution_.pool, static_cast<std::int64_t>(blocks_.size()),
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

  static kernels::NetworkOptions network_options(
      std::int64_t max_batch, ThreadPool* pool,
      const PosteriorSet<T>& posteriors, std::int64_t shards) {
    kernels::NetworkOptions options;
    options.activation_noise = posteriors.activation_noise();
    options.dropout = posteriors.dropout();
    options.max_batch = max_batch;
    options.pool = pool;
    options.max_shards = shards;
    return options;
  }

  void check_size(const TrainingState<T>& state) const {
    RADIR_CHECK(state.parameters.size() == gradient_.size(), ArgumentError,
                "compiled step: the state has ", state.parameters.size(),
                " parameters, the model ", gradient_.size());
  }

  void check(const TrainingState<T>& state, const Batch<T>& batch,
             const StepSettings& settings) const {
    check_size(state);
    RADIR_CHECK(state.device == execution_.device, ArgumentError,
                "compiled step: the state is on the device ",
                to_string(state.device), ", the step on ",
                to_string(execution_.device));
    RADIR_CHECK(
        settings.shared_batch == 0 || settings.shared_batch >= batch.count,
        ArgumentError, "compiled step: the shared batch has ",
        settings.shared_batch, " examples, but this worker alone ",
        batch.count);
    RADIR_CHECK(settings.data_count > 0, ArgumentError,
                "compiled step: data_count, the number of training examples, ",
                "must be positive, but is ", settings.data_count);
    RADIR_CHECK(settings.scale_rate >= 0, ArgumentError,
                "compiled step: scale_rate must be at least 0, but is ",
                settings.scale_rate);
    RADIR_CHECK(settings.samples > 0, ArgumentError,
                "compiled step: samples must be positive, but is ",
                settings.samples);
    const bool classes = model_.likelihood().has_labels();
    RADIR_CHECK(batch.inputs != nullptr, ArgumentError,
                "compiled step: the batch has no inputs");
    RADIR_CHECK(classes ? batch.labels != nullptr : batch.targets != nullptr,
                ArgumentError, "compiled step: a ",
                likelihood::to_string(model_.spec().likelihood.kind),
                " likelihood needs ", classes ? "labels" : "targets",
                " in the batch");
  }

  void take(const Batch<T>& batch) {
    network_.set_input(batch.inputs, batch.count, batch.indices);
    batch_loss_.take(batch);
  }

  /// Leaves the gradient of the weights in the posteriors; its loss.
  double data_gradient(double scale) {
    const T* outputs = network_.forward(posteriors_.weights());
    double loss = 0;
    add_own_gradient([&](double* gradient) {
      loss = batch_loss_.all(network_, outputs, scale, own_, gradient);
    });
    network_.backward(posteriors_.weights(), posteriors_.weight_gradients());
    return scale * loss;
  }

  /// The same, added up over shards: of the weights, of the likelihood's own
  /// parameters, and the loss.
  double sharded_gradient(const Batch<T>& batch, double scale) {
    const T* sum = posteriors_.gradients();
    if constexpr (std::is_same_v<T, float>) {
      sharded_->add_up(
          sum_count(),
          [&](std::int64_t first, std::int64_t number, float* part) {
            write_subtree(batch, first, number, scale, part);
          },
          posteriors_.gradients());
    }
    sum += posteriors_.gradient_count();
    T* gradient = gradient_.data() + model_.likelihood_offset();
    for (std::size_t i = 0; i < own_.size(); ++i) *gradient++ += *sum++;
    return static_cast<double>(*sum);
  }
  std::int64_t sum_count() const {
    return posteriors_.gradient_count() +
           static_cast<std::int64_t>(own_.size()) + 1;
  }

  /// Shards end where vectors do, so that a subtree of them is one pass.
  std::int64_t shard_begin(const Batch<T>& batch, std::int64_t shard) const {
    const std::int64_t vectors =
        (batch.count + kernels::kShardRows - 1) / kernels::kShardRows;
    return std::min(batch.count,
                    shard * vectors / sharded_->shards() * kernels::kShardRows);
  }

  /// The sum over shards [first, first + number): zeros where they are empty.
  void write_subtree(const Batch<T>& batch, std::int64_t first,
                     std::int64_t number, double scale, T* sum) {
    const std::int64_t begin = shard_begin(batch, first);
    const std::int64_t end = shard_begin(batch, first + number);
    if (begin == end) {
      std::fill_n(sum, sum_count(), T(0));
      return;
    }
    shards_.first = begin;
    shards_.ends.clear();
    for (std::int64_t i = 1; i <= number; ++i) {
      shards_.ends.push_back(shard_begin(batch, first + i) - begin);
    }
    take(batch.part(begin, end - begin, model_.input_size(),
                    model_.target_size()));
    network_.set_shards(shards_);
    // Layers without noise in the activations have no variances.
    std::fill(sum + posteriors_.draw().size(),
              sum + posteriors_.gradient_count(), T(0));
    const T* outputs = network_.forward(posteriors_.weights());
    batch_loss_.in_shards(network_, outputs, shards_.ends, scale, own_,
                          sum + posteriors_.gradient_count());
    network_.backward(posteriors_.weights(),
                      posteriors_.weight_gradients_in(sum).data());
  }

  /// Adds what `write` adds to zeros, by the likelihood's own parameters.
  template <typename Write>
  void add_own_gradient(const Write& write) {
    std::fill(own_gradient_.begin(), own_gradient_.end(), 0.0);
    write(own_gradient_.data());
    T* gradient = gradient_.data() + model_.likelihood_offset();
    for (double value : own_gradient_) *gradient++ += T(value);
  }

  /// Its value; adds `scale` times its gradient.
  double add_penalty(const TrainingState<T>& state, const Penalty* penalty,
                     double scale) {
    if (penalty == nullptr) return 0;
    const std::vector<std::int64_t>& places = penalty->parameters();
    std::vector<double> values, by_value;
    for (std::int64_t place : places) {
      values.push_back(static_cast<double>(
          state.parameters[static_cast<std::size_t>(place)]));
    }
    const double value = penalty->evaluate(
        values,
        {state.seed, kPenaltyStream, static_cast<std::uint64_t>(state.step)},
        by_value);
    for (std::size_t i = 0; i < places.size(); ++i) {
      gradient_[static_cast<std::size_t>(places[i])] += T(scale * by_value[i]);
    }
    return value;
  }

  void read_own(const T* parameters) {
    std::copy_n(parameters + model_.likelihood_offset(), own_.size(),
                own_.begin());
  }

  /// Replaces what the optimiser made of the likelihood's own parameters, where
  /// the likelihood has a step for them. Their values before are in own_. The
  /// limit of the gradient's norm shortens this step too: without it, few draws
  /// of heavy-tailed weights would decide the noise.
  void take_own_step(const StepSettings& settings, double gradient_scale,
                     T* parameters) {
    const std::int64_t offset = model_.likelihood_offset();
    std::copy_n(gradient_.begin() + offset, own_.size(), own_gradient_.begin());
    likelihood::OwnStep step;
    step.examples = static_cast<double>(settings.data_count);
    step.numbers =
        static_cast<double>(settings.data_count * model_.target_size());
    step.kl_weight = settings.kl_weight;
    step.rate = gradient_scale *
                std::min(1.0, kOwnStepRate * settings.optimizer.learning_rate);
    if (model_.likelihood().own_step(own_gradient_.data(), step, own_.data())) {
      std::transform(own_.begin(), own_.end(), parameters + offset,
                     [](double value) { return T(value); });
    }
  }

  /// Null where all are 1.
  const T* rate_multiplier(double scale_rate) {
    if (scale_rate == 1) return nullptr;
    if (scale_rate != scale_rate_) {
      scale_rate_ = scale_rate;
      rate_multiplier_.assign(gradient_.size(), T(1));
      for (const ParameterInfo& info : model_.parameters()) {
        if (!info.is_scale) continue;
        std::fill_n(rate_multiplier_.begin() + info.offset, info.size(),
                    static_cast<T>(scale_rate));
      }
    }
    return rate_multiplier_.data();
  }

  [[noreturn]] void report_not_finite(const TrainingState<T>& state) const {
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
        " (seed ", state.seed, ", nll ", loss_.nll, ", kl ", loss_.kl,
        "); the parameters are those of the last good step. Try a smaller ",
        "learning rate or a gradient norm limit");
  }

  Model model_;
  Execution execution_;
  GradientExchange<T> exchange_;
  ShardedSum* sharded_;
  PosteriorSet<T> posteriors_;
  kernels::Network<T> network_;
  std::vector<Block> blocks_;
  std::vector<T> gradient_;  // of the last call, with its loss
  StepLoss loss_;
  double scale_rate_ = 1;  // that rate_multiplier_ is for
  std::vector<T> rate_multiplier_;
  BatchLoss<T> batch_loss_;
  std::vector<double> own_;  // parameters of the likelihood's own
  std::vector<double> own_gradient_;
  kernels::BatchShards shards_;
};

template <typename T>
CompiledStep<T>::CompiledStep(const Model& model, std::int64_t max_batch,
                              Execution execution, GradientExchange<T> exchange,
                              ShardedSum* sharded)
    : impl_(std::make_unique<Impl>(model, max_batch, execution,
                                   std::move(exchange), sharded)) {}
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

template <typename T>
void CompiledStep<T>::update(TrainingState<T>& state,
                             const StepSettings& settings) {
  impl_->update(state, settings);
}

template class CompiledStep<float>;
template class CompiledStep<double>;

}  // namespace radir::train
