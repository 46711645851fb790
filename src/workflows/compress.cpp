#include "radir/workflows/compress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/kernels/network.h"
#include "radir/likelihood/class_scores.h"
#include "radir/network/cost.h"
#include "radir/network/plain_network.h"
#include "radir/network/wiring.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "radir/prune/curve.h"
#include "radir/prune/selection.h"
#include "radir/prune/threshold.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/train/schedule.h"
#include "radir/train/step.h"
#include "radir/train/trainer.h"
#include "radir/workflows/image_evaluation.h"

namespace radir::workflows {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using Plain = network::PlainNetwork<float>;

/// Images behind the training errors that guard a removal.
constexpr std::int64_t kGuardImages = 10000;
/// What one removal may cost in training error.
constexpr double kAllowedLoss = 0.001;
/// The number of training images for which CompressSettings::pressure is the
/// degrees of freedom themselves: what the images say grows with their number,
/// and so must what is to balance it.
constexpr double kPressureImages = 60000;
/// One training image in this many is kept aside where a budget is to be met.
constexpr std::int64_t kValidationImagePart = 12;
/// Images behind a comparison of masked and shrunk networks.
constexpr std::int64_t kComparedImages = 100;
constexpr int kTimedRuns = 5;
constexpr std::int64_t kTimedImages = 500;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

data::ImageRows part(const data::ImageRows& images, std::int64_t first,
                     std::int64_t count) {
  data::ImageRows result{count, images.shape, {}, {}};
  const auto pixels = images.pixels.begin() + first * images.shape.size();
  result.pixels.assign(pixels, pixels + count * images.shape.size());
  result.labels.assign(images.labels.begin() + first,
                       images.labels.begin() + first + count);
  return result;
}

double metric(const likelihood::ClassScores& scores, const std::string& name) {
  for (const auto& [key, value] : scores.metrics()) {
    if (key == name) return value;
  }
  RADIR_ASSERT(false && "a metric has a name");
  return 0;
}

double error_of(const Plain& network, const data::ImageRows& images,
                ThreadPool* pool) {
  return metric(evaluate(network, images, pool), "error");
}

/// Of several networks in turn, so that they share what the machine does
/// besides.
std::vector<double> microseconds_per_image(
    const std::vector<const Plain*>& networks, const data::ImageRows& images) {
  const std::int64_t count = std::min(kTimedImages, images.count);
  std::vector<std::vector<double>> times(networks.size());
  for (int round = 0; round < kTimedRuns; ++round) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const auto start = Clock::now();
      kernels::run_network(*networks[i], images.pixels.data(), count);
      times[i].push_back(1e6 * seconds_since(start) /
                         static_cast<double>(count));
    }
  }
  std::vector<double> medians;
  for (auto& runs : times) {
    std::sort(runs.begin(), runs.end());
    medians.push_back(runs[runs.size() / 2]);
  }
  return medians;
}

double largest_relative_difference(const std::vector<float>& a,
                                   const std::vector<float>& b) {
  float difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(a[i]));
  }
  return size > 0 ? static_cast<double>(difference / size) : 0;
}

/// FLOPs that go with one unit: its row in the layer that makes it and its
/// columns in the one that reads it.
struct UnitCosts {
  std::vector<double> outputs;  // of each layer with weights
  std::vector<double> inputs;
  double least = std::numeric_limits<double>::infinity();
};

UnitCosts unit_costs(const network::NetworkSpec& network,
                     const network::Wiring& wiring) {
  const network::Cost cost = network::cost(network);
  const auto per = [&](std::size_t l, std::int64_t units) {
    return static_cast<double>(cost.layers[l].flops) /
           static_cast<double>(units);
  };
  UnitCosts costs;
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const double column = per(l, wiring.inputs(l));
    costs.outputs.push_back(per(l, wiring.outputs(l)));
    costs.inputs.push_back(column);
    if (l == 0) {
      if (wiring.removable(0)) costs.least = column;
      continue;
    }
    const auto features = static_cast<double>(wiring.features_per_maker(l));
    costs.outputs[l - 1] += column * features;
    // A feature of a flattened image goes without the filter that makes it.
    if (features == 1) costs.inputs[l] = costs.outputs[l - 1];
    costs.least = std::min(costs.least, costs.inputs[l]);
  }
  return costs;
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
        spec_(model_spec(settings, images.train.count)) {
    const std::int64_t aside = settings.budget.is_given()
                                   ? images.train.count / kValidationImagePart
                                   : 0;
    train_count_ = images.train.count - aside;
    validation_ = part(images.train, train_count_, aside);
    guard_ = part(images.train, 0, std::min(kGuardImages, train_count_));
    total_epochs_ =
        settings.epochs + settings.fine_tune_epochs + settings.mean_epochs;
  }

  CompressResult operator()() {
    const auto start = Clock::now();
    train_and_remove();
    meet_budget();
    keep_best();
    result_.pruned = figures(spec_, parameters_);
    Plain final = means();
    if (settings_.fine_tune_epochs > 0) {
      fine_tune();
      final = means();
      result_.fine_tuned = figures(spec_, parameters_);
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
    train::DataView<float> data{images_.train.pixels.data(), nullptr,
                                images_.train.labels.data(), train_count_};
    if (settings_.warp > 0) {
      data.augmentation = data::random_warp(images_.train.shape, settings_.warp,
                                            settings_.shift);
    } else if (settings_.shift > 0) {
      data.augmentation =
          data::random_shift(images_.train.shape, settings_.shift);
    }
    const auto on_epoch = [&](const train::EpochReport& report) {
      ++epoch_;
      if (!progress_) return true;
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s: epoch %lld of %lld, %s, nll %.4f, kl %.4f",
                    name.c_str(), static_cast<long long>(epoch_),
                    static_cast<long long>(total_epochs_),
                    architecture(spec.network).c_str(), report.nll, report.kl);
      progress_(
          static_cast<double>(epoch_) / static_cast<double>(total_epochs_),
          text);
      return true;
    };
    const std::string stage = "stage-" + std::to_string(stage_);
    auto fitted =
        run_ != nullptr
            ? run_->part(stage).fit(configuration(), model, data, options,
                                    on_epoch, pool_, std::move(from.from))
            : train::fit<float>(
                  model, data, options,
                  [&](const train::EpochReport& report, const auto&) {
                    return on_epoch(report);
                  },
                  pool_, std::move(from));
    parameters = std::move(fitted.parameters);
    return std::move(fitted.history);
  }

  std::string configuration() const {
    Json json = Json::parse(to_json(settings_));
    json["data"] = images_.fingerprint;
    return json.dump();
  }

  static std::string architecture(const network::NetworkSpec& network) {
    const network::Wiring wiring(network);
    return prune::architecture(wiring, prune::all_units(wiring));
  }

  void train_and_remove() {
    for (std::int64_t done = 0; done < settings_.epochs;) {
      train::TrainerOptions options;
      options.epochs = std::min(settings_.prune_every, settings_.epochs - done);
      options.optimizer.learning_rate = settings_.learning_rate;
      options.scale_rate = settings_.radius_rate;
      const double progress =
          (static_cast<double>(done) + static_cast<double>(options.epochs)) /
          static_cast<double>(settings_.epochs);
      options.kl = train::KlSchedule::constant(
          settings_.kl_warmup > 0
              ? std::min(1.0, progress / settings_.kl_warmup)
              : 1.0);
      const auto history = train("pruning", spec_, parameters_, options);
      done += options.epochs;
      remove(done, history.back());
    }
    if (!unpruned_plain_) remember_unpruned();
  }

  void remember_unpruned() {
    unpruned_plain_ = means();
    result_.unpruned = figures(spec_, parameters_);
  }

  /// Removes the units that are separate from the others, as far as the
  /// training error allows.
  void remove(std::int64_t epoch, const train::EpochReport& report) {
    const train::Model model(spec_);
    const network::Wiring wiring(spec_.network);
    const prune::Scores scores = prune::unit_scores(model, parameters_);
    const std::vector<prune::Split> splits =
        prune::split(scores, settings_.threshold);
    if (std::none_of(splits.begin(), splits.end(),
                     [](const prune::Split& s) { return s.found; })) {
      return;
    }
    const Plain plain = train::point_network(model, parameters_);
    Removal removal;
    removal.epoch = epoch;
    removal.nll = report.nll;
    removal.kl = report.kl;
    removal.train_error_before = error_of(plain, guard_, pool_);
    prune::Selection selection;
    Plain shrunk;
    for (double share = 1;; share /= 2) {
      removal.thresholds = thresholds(scores, splits, share);
      selection = prune::select(wiring, scores, removal.thresholds);
      shrunk = prune::shrink(plain, selection);
      removal.train_error = error_of(shrunk, guard_, pool_);
      if (removal.train_error <= removal.train_error_before + kAllowedLoss) {
        break;
      }
      if (share < 1.0 / 64) return;
    }
    if (!unpruned_plain_) remember_unpruned();
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
  static std::vector<double> thresholds(const prune::Scores& scores,
                                        const std::vector<prune::Split>& splits,
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
    const std::int64_t count = std::min(kComparedImages, images_.test.count);
    const float* pixels = images_.test.pixels.data();
    result_.masked_difference =
        std::max(result_.masked_difference,
                 largest_relative_difference(
                     kernels::run_network(masked, pixels, count),
                     kernels::run_network(shrunk, pixels, count)));
  }

  /// Goes down the curve of sizes until the budgets are met.
  void meet_budget() {
    if (!settings_.budget.is_given()) return;
    const train::Model model(spec_);
    const prune::Scores scores = prune::unit_scores(model, parameters_);
    const Plain plain = train::point_network(model, parameters_);
    result_.curve = prune::size_curve(spec_.network, scores);
    for (prune::CurvePoint& point : result_.curve) {
      point.error =
          error_of(prune::shrink(plain, point.selection), validation_, pool_);
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

  void fine_tune() {
    train::TrainerOptions options;
    options.epochs = settings_.fine_tune_epochs;
    options.optimizer.learning_rate = settings_.learning_rate;
    options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
    options.learning_rate.final_factor = 0.01;
    train("fine-tuning", fine_tuning_spec(), parameters_, options);
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
    Plain start = means();
    network::balance(start);
    train::ModelSpec spec = spec_;
    spec.weights = {posterior::PointOptions{}};
    const train::Model model(spec);
    std::vector<float> parameters(
        static_cast<std::size_t>(model.parameter_count()));
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
    train::TrainerOptions options;
    options.epochs = settings_.mean_epochs;
    options.optimizer.learning_rate = settings_.mean_learning_rate;
    options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
    options.learning_rate.final_factor = 0.01;
    options.kl = train::KlSchedule::constant(0);
    train("tuning the means", spec, parameters, options);
    return train::point_network(model, parameters);
  }

  NetworkFigures figures(const Plain& plain) const {
    NetworkFigures result;
    result.architecture = architecture(plain.spec);
    result.cost = network::cost(plain.spec);
    result.train_error =
        error_of(plain, part(images_.train, 0, train_count_), pool_);
    const likelihood::ClassScores test = evaluate(plain, images_.test, pool_);
    result.test_error = metric(test, "error");
    result.test_nll = metric(test, "nll");
    return result;
  }

  NetworkFigures figures(const train::ModelSpec& spec,
                         const std::vector<float>& parameters) const {
    const train::Model model(spec);
    NetworkFigures result = figures(train::point_network(model, parameters));
    const likelihood::ClassScores bayes =
        evaluate(model, parameters, images_.test, settings_.samples,
                 settings_.seed, pool_);
    result.bayes_test_error = metric(bayes, "error");
    result.bayes_test_nll = metric(bayes, "nll");
    result.bayes_test_ece = metric(bayes, "ece");
    return result;
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

void check(const CompressSettings& settings) {
  const auto positive = [](double value, const char* name) {
    RADIR_CHECK(value > 0 && std::isfinite(value), ArgumentError,
                "compress: ", name, " must be positive, but is ", value);
  };
  const auto at_least = [](std::int64_t value, std::int64_t least,
                           const char* name) {
    RADIR_CHECK(value >= least, ArgumentError, "compress: ", name,
                " must be at least ", least, ", but is ", value);
  };
  positive(settings.local_scale, "the local scale");
  positive(settings.global_scale, "the global scale");
  positive(settings.pressure, "the pressure");
  RADIR_CHECK(settings.cost_power >= 0 && settings.cost_power <= 2,
              ArgumentError, "compress: the power of the cost must be from 0 ",
              "to 2, but is ", settings.cost_power);
  positive(settings.learning_rate, "the learning rate");
  positive(settings.mean_learning_rate, "the learning rate of the means");
  positive(settings.radius_rate, "the radius rate");
  RADIR_CHECK(settings.kl_warmup >= 0 && settings.kl_warmup <= 1, ArgumentError,
              "compress: the share of the KL warm-up must be ",
              "from 0 to 1, but is ", settings.kl_warmup);
  RADIR_CHECK(!settings.threshold || std::isfinite(*settings.threshold),
              ArgumentError, "compress: the threshold must be finite, but is ",
              *settings.threshold);
  at_least(settings.epochs, 1, "the number of epochs");
  at_least(settings.prune_every, 1, "the number of epochs between removals");
  at_least(settings.fine_tune_epochs, 0, "the number of fine-tuning epochs");
  at_least(settings.mean_epochs, 0, "the number of epochs for the means");
  at_least(settings.batch, 1, "the batch");
  at_least(settings.shift, 0, "the shift");
  RADIR_CHECK(settings.warp >= 0 && settings.warp < 1, ArgumentError,
              "compress: the strength of the warp must be from 0 to below 1, ",
              "but is ", settings.warp);
  at_least(settings.samples, 1, "the number of samples");
  if (!settings.keep.empty()) {
    const network::Wiring wiring(settings.network);
    prune::select_best(wiring, prune::Scores(wiring.size()), settings.keep);
  }
}

std::string to_json(const CompressSettings& settings) {
  const auto optional = [](const auto& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  const Json json = {
      {"network", settings.network_name},
      {"local_scale", settings.local_scale},
      {"global_scale", settings.global_scale},
      {"direction_gap", settings.direction_gap},
      {"pressure", settings.pressure},
      {"cost_power", settings.cost_power},
      {"epochs", settings.epochs},
      {"prune_every", settings.prune_every},
      {"fine_tune_epochs", settings.fine_tune_epochs},
      {"mean_epochs", settings.mean_epochs},
      {"batch", settings.batch},
      {"shift", settings.shift},
      {"warp", settings.warp},
      {"learning_rate", settings.learning_rate},
      {"mean_learning_rate", settings.mean_learning_rate},
      {"radius_rate", settings.radius_rate},
      {"kl_warmup", settings.kl_warmup},
      {"threshold", optional(settings.threshold)},
      {"max_flops", optional(settings.budget.max_flops)},
      {"max_parameters", optional(settings.budget.max_parameters)},
      {"max_error", optional(settings.budget.max_error)},
      {"keep", settings.keep},
      {"samples", settings.samples},
      {"seed", settings.seed}};
  return json.dump();
}

CompressSettings compress_settings_from_json(const std::string& text) {
  const Json document = files::parse_json<Json>("settings", text, {});
  files::JsonObject json(document, "settings");
  CompressSettings settings;
  settings.network_name = json.text("network");
  settings.local_scale = json.number("local_scale");
  settings.global_scale = json.number("global_scale");
  settings.direction_gap = json.number("direction_gap");
  settings.pressure = json.number("pressure");
  settings.cost_power = json.number("cost_power");
  settings.epochs = json.integer("epochs");
  settings.prune_every = json.integer("prune_every");
  settings.fine_tune_epochs = json.integer("fine_tune_epochs");
  settings.mean_epochs = json.integer("mean_epochs");
  settings.batch = json.integer("batch");
  settings.shift = json.integer("shift");
  settings.warp = json.number("warp");
  settings.learning_rate = json.number("learning_rate");
  settings.mean_learning_rate = json.number("mean_learning_rate");
  settings.radius_rate = json.number("radius_rate");
  settings.kl_warmup = json.number("kl_warmup");
  settings.threshold = json.optional_number("threshold");
  settings.budget.max_flops = json.optional_integer("max_flops");
  settings.budget.max_parameters = json.optional_integer("max_parameters");
  settings.budget.max_error = json.optional_number("max_error");
  settings.keep = json.integers("keep");
  settings.samples = json.integer("samples");
  settings.seed = json.seed("seed");
  json.finish();
  return settings;
}

train::ModelSpec model_spec(const CompressSettings& settings,
                            std::int64_t images) {
  train::ModelSpec spec;
  spec.network = settings.network;
  spec.likelihood.kind = train::Likelihood::Kind::Categorical;
  spec.weights.clear();
  const network::Wiring wiring(settings.network);
  const UnitCosts costs = unit_costs(settings.network, wiring);
  const double pressure =
      settings.pressure * static_cast<double>(images) / kPressureImages;
  const auto price = [&](double flops) {
    return pressure * std::pow(flops / costs.least, settings.cost_power);
  };
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    posterior::RadialDirectionalOptions options;
    options.local_scale = settings.local_scale;
    options.global_scale = settings.global_scale;
    options.direction_gap = settings.direction_gap;
    if (wiring.inputs(l) == 1) options.grouping = posterior::Grouping::Row;
    // The outputs of the last layer stay, whatever they cost.
    const bool last = l + 1 == wiring.size();
    options.degrees_of_freedom = last ? 1 : price(costs.outputs[l]);
    options.column_degrees_of_freedom = price(costs.inputs[l]);
    if (last) options.initial_gain = 1;
    spec.weights.emplace_back(options);
  }
  return spec;
}

const NetworkFigures& CompressResult::final_figures() const {
  if (mean_tuned) return *mean_tuned;
  if (fine_tuned) return *fine_tuned;
  return pruned;
}

CompressResult compress(const data::ImageSplit& images,
                        const CompressSettings& settings,
                        const CompressProgress& progress, ThreadPool* pool,
                        const ResumableRun* run) {
  check(settings);
  data::check_fits(settings.network, images);
  return Compression(images, settings, progress, pool, run)();
}

std::string to_json(const std::vector<Removal>& removals) {
  Json list = Json::array();
  for (const Removal& removal : removals) {
    Json thresholds = Json::array();
    for (double threshold : removal.thresholds) {
      thresholds.push_back(std::isfinite(threshold) ? Json(threshold)
                                                    : Json(nullptr));
    }
    list.push_back({{"epoch", removal.epoch},
                    {"architecture", removal.architecture},
                    {"flops", removal.flops},
                    {"parameters", removal.parameters},
                    {"nll", removal.nll},
                    {"kl", removal.kl},
                    {"train_error_before", removal.train_error_before},
                    {"train_error", removal.train_error},
                    {"thresholds", std::move(thresholds)}});
  }
  return list.dump();
}

std::string to_json(const std::vector<prune::CurvePoint>& curve) {
  Json list = Json::array();
  for (const prune::CurvePoint& point : curve) {
    list.push_back({{"share", point.share},
                    {"architecture", point.architecture},
                    {"flops", point.cost.flops},
                    {"parameters", point.cost.parameters},
                    {"error", point.error ? Json(*point.error) : Json()}});
  }
  return list.dump();
}

std::string to_json(const NetworkFigures& figures) {
  Json layers = Json::array();
  for (const network::LayerCost& layer : figures.cost.layers) {
    layers.push_back({{"name", layer.name},
                      {"layer", layer.layer},
                      {"flops", layer.flops},
                      {"parameters", layer.parameters}});
  }
  const Json json = {{"architecture", figures.architecture},
                     {"flops", figures.cost.flops},
                     {"parameters", figures.cost.parameters},
                     {"article_flops", figures.cost.article_flops},
                     {"article_parameters", figures.cost.article_parameters},
                     {"train_error", figures.train_error},
                     {"test_error", figures.test_error},
                     {"test_nll", figures.test_nll},
                     {"bayes_test_error", figures.bayes_test_error},
                     {"bayes_test_nll", figures.bayes_test_nll},
                     {"bayes_test_ece", figures.bayes_test_ece},
                     {"microseconds_per_image", figures.microseconds_per_image},
                     {"layers", std::move(layers)}};
  return json.dump();
}

}  // namespace radir::workflows
