#include "radir/workflows/compress.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "radir/network/cost.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/network/wiring.h"
#include "radir/posterior/options.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "radir/prune/curve.h"
#include "radir/prune/selection.h"
#include "radir/prune/shrink.h"
#include "radir/prune/threshold.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/train/schedule.h"
#include "radir/train/step.h"
#include "radir/train/trainer.h"
#include "radir/workflows/compress_methods.h"
#include "radir/workflows/image_evaluation.h"
#include "workflows/compress_figures.h"

namespace radir::workflows {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using Plain = network::PlainNetwork<float>;

/// Images behind the training errors that guard a removal.
constexpr std::int64_t kGuardImages = 10000;
/// What one removal may cost in training error.
constexpr double kAllowedLoss = 0.001;
/// One training image in this many is kept aside where a budget is to be met.
constexpr std::int64_t kValidationImagePart = 12;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Training, removal and figures of one run.
class Compression {
 public:
  Compression(const data::ImageSplit& images, const CompressSettings& settings,
              const CompressProgress& progress, ThreadPool* pool,
              const ResumableRun* run)
      : images_(images),
        settings_(settings),
        progress_(progress),
        pool_(pool),
        run_(run),
        method_(compress_method(settings.method)),
        spec_(model_spec(settings, images.train.count)) {
    const std::int64_t aside = settings.budget.is_given()
                                   ? images.train.count / kValidationImagePart
                                   : 0;
    train_count_ = images.train.count - aside;
    validation_ = data::part(images.train, train_count_, aside);
    guard_ = data::part(images.train, 0, std::min(kGuardImages, train_count_));
    total_epochs_ =
        settings.epochs + settings.fine_tune_epochs + settings.mean_epochs;
  }

  CompressResult operator()() {
    const auto start = Clock::now();
    train_and_remove();
    meet_budget();
    keep_best();
    result_.pruned = figures();
    Plain final = means();
    if (settings_.fine_tune_epochs > 0) {
      fine_tune();
      final = means();
      result_.fine_tuned = figures();
    }
    result_.spec = spec_;
    result_.parameters = parameters_;
    if (settings_.mean_epochs > 0) {
      final = mean_tuned();
      result_.mean_tuned = figures(final);
    }
    result_.plain = std::move(final);
    time_networks();
    result_.seconds = seconds_since(start);
    return std::move(result_);
  }

 private:
  Plain means() const {
    return train::point_network(train::Model(spec_), parameters_);
  }

  /// One stretch of training from the present parameters, or from the start
  /// where there are none.
  std::vector<train::EpochReport> train(const std::string& name,
                                        const train::ModelSpec& spec,
                                        std::vector<float>& parameters,
                                        train::TrainerOptions options) {
    const train::Model model(spec);
    options.batch_size = settings_.batch;
    options.seed = settings_.seed + 0x9E3779B97F4A7C15u * stage_++;
    train::Resumption<float> from;
    if (!parameters.empty()) {
      train::TrainerProgress<float> progress;
      progress.parameters = parameters;
      progress.state =
          train::state_from(parameters, options.seed, options.optimizer);
      from.from = std::move(progress);
    }
    const auto on_epoch = [&](const train::EpochReport& report) {
      report_epoch(name, spec.network, report);
      return true;
    };
    const std::string stage = "stage-" + std::to_string(stage_);
    auto fitted = run_ != nullptr
                      ? run_->part(stage).fit(
                            configuration(), model, training_data(), options,
                            on_epoch, pool_, std::move(from.from))
                      : train::fit<float>(
                            model, training_data(), options,
                            [&](const train::EpochReport& report, const auto&) {
                              return on_epoch(report);
                            },
                            pool_, std::move(from));
    parameters = std::move(fitted.parameters);
    return std::move(fitted.history);
  }

  train::DataView<float> training_data() const {
    train::DataView<float> data{images_.train.pixels.data(), nullptr,
                                images_.train.labels.data(), train_count_};
    const network::Shape& shape = images_.train.shape;
    if (settings_.warp > 0) {
      data.augmentation =
          data::random_warp(shape, settings_.warp, settings_.shift);
    } else if (settings_.shift > 0) {
      data.augmentation = data::random_shift(shape, settings_.shift);
    }
    return data;
  }

  void report_epoch(const std::string& stage,
                    const network::NetworkSpec& network,
                    const train::EpochReport& report) {
    ++epoch_;
    if (!progress_) return;
    char text[160];
    std::snprintf(text, sizeof text,
                  "%s: epoch %lld of %lld, %s, nll %.4f, kl %.4f",
                  stage.c_str(), static_cast<long long>(epoch_),
                  static_cast<long long>(total_epochs_),
                  architecture_of(network).c_str(), report.nll, report.kl);
    progress_(static_cast<double>(epoch_) / static_cast<double>(total_epochs_),
              text);
  }

  std::string configuration() const {
    Json json = Json::parse(to_json(settings_));
    json["data"] = images_.fingerprint;
    return json.dump();
  }

  void train_and_remove() {
    for (std::int64_t done = 0; done < settings_.epochs;) {
      train::TrainerOptions options;
      options.epochs = std::min(settings_.prune_every, settings_.epochs - done);
      options.optimizer.learning_rate = settings_.learning_rate;
      options.scale_rate = is_rdp() ? settings_.radius_rate : method_.gate_rate;
      options.penalty =
          method_penalty(settings_, train::Model(spec_), train_count_);
      options.kl = kl_of_stretch(done, options.epochs);
      if (settings_.selection_window > 0) {
        options.kept_parameters = train::KeptParameters::LowestTrainingLoss;
        options.selection_window = settings_.selection_window;
      }
      const auto history = train("pruning", spec_, parameters_, options);
      done += options.epochs;
      remove(done, history.back());
    }
    if (!unpruned_plain_) remember_unpruned();
    const train::Model model(spec_);
    const prune::Scores kept = prune::unit_scores(model, parameters_);
    result_.scores.resize(kept.size());
    for (std::size_t l = 0; l < kept.size(); ++l) {
      result_.scores[l].kept = kept[l];
    }
  }

  /// Scores of what a selection leaves out.
  void remember_removed(const prune::Scores& scores,
                        const prune::Selection& selection) {
    result_.scores.resize(scores.size());
    for (std::size_t l = 0; l < scores.size(); ++l) {
      const auto& stay = selection.inputs[l];
      for (std::size_t i = 0; i < scores[l].size(); ++i) {
        if (!std::binary_search(stay.begin(), stay.end(),
                                static_cast<std::int64_t>(i))) {
          result_.scores[l].removed.push_back(scores[l][i]);
        }
      }
    }
  }

  /// The weight of the KL term rises from one stretch to the next, or in the
  /// only one. The other methods than rdp start without their price: gates
  /// would close before any unit has learnt something.
  train::KlSchedule kl_of_stretch(std::int64_t done,
                                  std::int64_t epochs) const {
    using train::KlSchedule;
    const double full = settings_.strength.value_or(1);
    if (settings_.kl_warmup == 0) return KlSchedule::constant(full);
    // Version 0.1 has no rise inside the only stretch of rdp.
    const bool rises = !is_rdp() || settings_.selection_window > 0;
    if (epochs == settings_.epochs && rises) {
      return KlSchedule::warmup(settings_.kl_warmup, 0, full);
    }
    const double progress =
        static_cast<double>(done + (is_rdp() ? epochs : 0)) /
        static_cast<double>(settings_.epochs);
    return KlSchedule::constant(full *
                                std::min(1.0, progress / settings_.kl_warmup));
  }

  void remember_unpruned() {
    unpruned_plain_ = means();
    result_.unpruned = figures();
  }

  /// Removes the units that are separate from the others, as far as the
  /// training error allows.
  void remove(std::int64_t epoch, const train::EpochReport& report) {
    const train::Model model(spec_);
    const network::Wiring wiring(spec_.network);
    const prune::Scores scores = prune::unit_scores(model, parameters_);
    const std::vector<prune::ScoreSplit> splits = prune::split(
        scores, settings_.threshold ? settings_.threshold : method_.threshold);
    if (std::none_of(splits.begin(), splits.end(),
                     [](const prune::ScoreSplit& s) { return s.found; })) {
      return;
    }
    const Plain plain = train::point_network(model, parameters_);
    Removal removal;
    removal.epoch = epoch;
    removal.nll = report.nll;
    removal.kl = report.kl;
    removal.train_error_before = classification_error(plain, guard_, pool_);
    prune::Selection selection;
    Plain shrunk;
    for (double share = 1;; share /= 2) {
      removal.thresholds = thresholds(scores, splits, share);
      selection = prune::select(wiring, scores, removal.thresholds);
      shrunk = prune::shrink(plain, selection);
      removal.train_error = classification_error(shrunk, guard_, pool_);
      if (removal.train_error <= removal.train_error_before + kAllowedLoss) {
        break;
      }
      if (share < 1.0 / 64) return;
    }
    if (!unpruned_plain_) remember_unpruned();
    remember_removed(scores, selection);
    compare_with_masked(plain, selection, shrunk);
    removal.architecture = prune::architecture(wiring, selection);
    const network::Cost cost = network::cost(shrunk.spec);
    removal.flops = cost.flops;
    removal.parameters = cost.parameters;
    result_.removals.push_back(std::move(removal));
    apply(model, selection);
  }

  void apply(const train::Model& model, const prune::Selection& selection) {
    prune::ShrunkModel<float> shrunk =
        prune::shrink(model, parameters_, selection);
    spec_ = std::move(shrunk.spec);
    parameters_ = std::move(shrunk.parameters);
  }

  /// Per layer, so that the given share of what is below the split goes.
  static std::vector<double> thresholds(
      const prune::Scores& scores, const std::vector<prune::ScoreSplit>& splits,
      double share) {
    std::vector<double> result;
    for (std::size_t l = 0; l < scores.size(); ++l) {
      result.push_back(splits[l].threshold);
      if (!splits[l].found || share == 1) continue;
      std::vector<double> sorted = scores[l];
      std::sort(sorted.begin(), sorted.end());
      const auto below = static_cast<double>(sorted.size() - splits[l].above);
      result.back() = sorted[static_cast<std::size_t>(share * below)];
    }
    return result;
  }

  void compare_with_masked(const Plain& plain,
                           const prune::Selection& selection,
                           const Plain& shrunk) {
    const Plain masked = prune::mask(plain, selection);
    result_.masked_difference =
        std::max(result_.masked_difference,
                 output_difference(masked, shrunk, images_.test));
  }

  /// Goes down the curve of sizes until the budgets are met.
  void meet_budget() {
    if (!settings_.budget.is_given()) return;
    // A price of FLOPs makes the gates of all layers comparable.
    if (method_.has_flops_target) {
      const train::Model gated(spec_);
      apply(gated, prune::within_flops(spec_.network,
                                       prune::unit_scores(gated, parameters_),
                                       *settings_.budget.max_flops));
    }
    const train::Model model(spec_);
    const prune::Scores scores = prune::unit_scores(model, parameters_);
    const Plain plain = train::point_network(model, parameters_);
    result_.curve = prune::size_curve(spec_.network, scores);
    for (prune::CurvePoint& point : result_.curve) {
      point.error = classification_error(prune::shrink(plain, point.selection),
                                         validation_, pool_);
    }
    apply(model,
          prune::within_budget(result_.curve, settings_.budget).selection);
  }

  void keep_best() {
    if (settings_.keep.empty()) return;
    const train::Model model(spec_);
    const prune::Selection selection = prune::select_best(
        network::Wiring(spec_.network), prune::unit_scores(model, parameters_),
        settings_.keep);
    const Plain plain = train::point_network(model, parameters_);
    compare_with_masked(plain, selection, prune::shrink(plain, selection));
    apply(model, selection);
  }

  /// Training to the end, with a learning rate that falls to 1 %.
  static train::TrainerOptions last_stretch(std::int64_t epochs,
                                            double learning_rate) {
    train::TrainerOptions options;
    options.epochs = epochs;
    options.optimizer.learning_rate = learning_rate;
    options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
    options.learning_rate.final_factor = 0.01;
    return options;
  }

  bool is_rdp() const { return method_.options == nullptr; }

  void fine_tune() {
    if (!is_rdp()) {
      return tune_means("fine-tuning", settings_.fine_tune_epochs,
                        settings_.learning_rate, spec_, parameters_);
    }
    train("fine-tuning", fine_tuning_spec(), parameters_,
          last_stretch(settings_.fine_tune_epochs, settings_.learning_rate));
  }

  /// The survivors under the article's prior: half-Cauchy radii.
  train::ModelSpec fine_tuning_spec() {
    for (posterior::Options& weight : spec_.weights) {
      auto& options = weight.get<posterior::RadialDirectionalOptions>();
      options.degrees_of_freedom = 1;
      options.column_degrees_of_freedom.reset();
    }
    return spec_;
  }

  /// The network of the means after training on without noise or prior.
  Plain mean_tuned() {
    train::ModelSpec spec;
    std::vector<float> parameters;
    tune_means("tuning the means", settings_.mean_epochs,
               settings_.mean_learning_rate, spec, parameters);
    return train::point_network(train::Model(spec), parameters);
  }

  /// Writes the model of the means and its parameters, after training on
  /// without noise or prior.
  void tune_means(const char* name, std::int64_t epochs, double learning_rate,
                  train::ModelSpec& result, std::vector<float>& parameters) {
    Plain start = means();
    network::balance(start);
    train::ModelSpec spec = spec_;
    spec.weights = {posterior::PointOptions{}};
    const train::Model model(spec);
    parameters.assign(static_cast<std::size_t>(model.parameter_count()), 0);
    for (std::size_t l = 0; l < start.layers.size(); ++l) {
      const train::WeightedLayer& layer = model.layers()[l];
      const auto copy = [&](const std::vector<float>& from,
                            std::size_t parameter) {
        std::copy(from.begin(), from.end(),
                  parameters.begin() + model.parameters()[parameter].offset);
      };
      copy(start.layers[l].weight, layer.first_weight_parameter);
      if (layer.bias_size > 0) {
        copy(start.layers[l].bias, layer.first_bias_parameter);
      }
    }
    train::TrainerOptions options = last_stretch(epochs, learning_rate);
    options.kl = train::KlSchedule::constant(0);
    train(name, spec, parameters, options);
    result = std::move(spec);
  }

  NetworkFigures figures(const Plain& plain) const {
    return figures_of(plain, trained_images(), images_.test, pool_);
  }

  NetworkFigures figures() const {
    return figures_of(train::Model(spec_), parameters_, trained_images(),
                      images_.test, {settings_.samples, settings_.seed}, pool_);
  }

  data::ImageRows trained_images() const {
    return data::part(images_.train, 0, train_count_);
  }

  /// Networks after the last removal have one shape and so one time.
  void time_networks() {
    const auto times = microseconds_per_image(
        {&*unpruned_plain_, &result_.plain}, images_.test);
    result_.unpruned.microseconds_per_image = times[0];
    result_.pruned.microseconds_per_image = times[1];
    for (auto* figures : {&result_.fine_tuned, &result_.mean_tuned}) {
      if (*figures) (*figures)->microseconds_per_image = times[1];
    }
  }

  const data::ImageSplit& images_;
  const CompressSettings& settings_;
  const CompressProgress& progress_;
  ThreadPool* pool_;
  const ResumableRun* run_;
  const CompressMethod& method_;
  std::int64_t train_count_ = 0;
  data::ImageRows validation_;
  data::ImageRows guard_;  // images behind the training errors of removals

  train::ModelSpec spec_;
  std::vector<float> parameters_;
  std::optional<Plain> unpruned_plain_;
  CompressResult result_;
  std::uint64_t stage_ = 0;
  std::int64_t epoch_ = 0;
  std::int64_t total_epochs_ = 0;
};

}  // namespace

CompressResult compress(const data::ImageSplit& images,
                        const CompressSettings& settings,
                        const CompressProgress& progress, ThreadPool* pool,
                        const ResumableRun* run) {
  check(settings);
  data::check_fits(settings.network, images);
  return Compression(images, settings, progress, pool, run)();
}

}  // namespace radir::workflows
