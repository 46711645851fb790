#include "radir/workflows/presets.h"

#include "radir/core/error.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"

namespace radir::workflows {
namespace {

constexpr const char* kArticle = "article";

void check_name(const std::string& name) {
  RADIR_CHECK(is_preset(name), UnsupportedError, "there is no preset \"", name,
              "\"; the only one is ", kArticle);
}

}  // namespace

bool is_preset(const std::string& name) { return name == kArticle; }

void apply_preset(const std::string& name, TableSettings& settings) {
  check_name(name);
  // The article: a hidden layer of 50 under double groups and a
  // location-agnostic prior, a Gaussian output layer, Gamma(6, 6).
  settings.method = "rdp";
  settings.hidden = {50};
  settings.grouping = posterior::Grouping::Double;
  settings.direction_prior = posterior::DirectionPrior::LocationAgnostic;
  settings.concentration_per_group = false;
  settings.output_layer = OutputLayer::Gaussian;
  settings.noise = likelihood::Kind::Gaussian;
  settings.target_scale = TargetScale::Own;
  settings.noise_shape = 6;
  settings.noise_rate = 6;
  settings.kl_weight = 1;
  settings.restarts = 1;
  // Its code. The gap is 0.5 there, but the concentrations hardly leave their
  // start, near this one.
  settings.direction_gap = 3e-3;
  settings.kl_warmup = 0.1;
  settings.batch = 32;
  settings.learning_rate = 1e-3;
}

void apply_preset(const std::string& name, CompressSettings& settings) {
  check_name(name);
  // The article: half-Cauchy radii, one removal at the end, the epoch with the
  // lowest training loss of the last ten, nothing after it.
  settings.pressure = 0;
  settings.fine_tune_epochs = 0;
  settings.mean_epochs = 0;
  settings.shift = 0;
  settings.warp = 0;
  settings.selection_window = 10;
  // Its code: the weight of the KL term rises over 50 of 200 epochs.
  settings.local_scale = 0.01;
  settings.global_scale = 1e-3;
  settings.direction_gap = 0.1;
  settings.epochs = 200;
  settings.prune_every = 200;
  settings.kl_warmup = 0.25;
  settings.batch = 100;
  settings.learning_rate = 1e-3;
  settings.radius_rate = 1;
}

}  // namespace radir::workflows
