#include "radir/workflows/table_methods.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/hmc_options.h"

namespace radir::workflows {
namespace {

constexpr const char* kDefaultFamily = "radial-directional";
/// Of a mixture whose size is not given.
constexpr std::int64_t kStackedNetworks = 6;

/// Chains of one length, for tables where they do not take too long.
struct ChainLength {
  std::int64_t chains;
  std::int64_t warmup;
  std::int64_t draws;
  std::int64_t kept;
  std::int64_t leapfrog_steps;
  /// Rows times weights times gradients of all chains; 1e10 takes a second or
  /// two of one core.
  double most_work;
};
/// The first that fits is taken. On a table of 280 rows the first ones lower
/// the error by a tenth against the second ones. More and longer chains than
/// the third gain 0.02 to 0.16 in log-likelihood on small tables with little
/// noise (see docs/sampling.md). With shorter ones than the last, chains in two
/// hidden layers do not arrive (Friedman's function, 30 inputs, 2,000 rows: 78
/// % of new rows in 90 % intervals).
constexpr ChainLength kChainLengths[] = {
    {8, 600, 600, 25, 200, 2e11},
    {8, 200, 200, 25, 200, 4e11},
    {4, 200, 300, 50, 100, 9e11},
    {4, 150, 200, 50, 70, 9e11},
};

double gradients(const TableSettings& settings) {
  const train::HmcOptions& hmc = settings.hmc;
  return static_cast<double>(settings.chains) *
         (static_cast<double>(hmc.start_steps) +
          static_cast<double>(hmc.iterations()) *
              static_cast<double>(hmc.leapfrog_steps));
}

double weights(const TableSettings& settings, std::int64_t inputs,
               std::int64_t outputs) {
  double sum = 0;
  auto before = static_cast<double>(inputs);
  for (std::int64_t units : settings.hidden) {
    sum += before * static_cast<double>(units);
    before = static_cast<double>(units);
  }
  return sum + before * static_cast<double>(outputs);
}

/// Whether a setting that only a fit reads was changed.
bool asks_for_fit(const TableSettings& settings) {
  const TableSettings defaults;
  return settings.epochs != defaults.epochs ||
         settings.steps != defaults.steps || settings.batch != defaults.batch ||
         settings.learning_rate != defaults.learning_rate ||
         settings.kl_warmup != defaults.kl_warmup ||
         settings.kl_weight != defaults.kl_weight ||
         settings.restarts != defaults.restarts ||
         settings.direction_gap != defaults.direction_gap ||
         settings.direction_prior != defaults.direction_prior ||
         settings.concentration_per_group != defaults.concentration_per_group;
}

bool asks_for_chains(const TableSettings& settings) {
  const TableSettings defaults;
  const train::HmcOptions& hmc = settings.hmc;
  return settings.chains != defaults.chains ||
         hmc.warmup != defaults.hmc.warmup || hmc.draws != defaults.hmc.draws ||
         hmc.kept != defaults.hmc.kept ||
         hmc.leapfrog_steps != defaults.hmc.leapfrog_steps ||
         hmc.acceptance != defaults.hmc.acceptance ||
         hmc.start_steps != defaults.hmc.start_steps;
}

/// Takes the longest chains whose work fits; false where none does.
bool fit_chains(TableSettings& settings, double rows_times_weights) {
  for (const ChainLength& length : kChainLengths) {
    settings.chains = length.chains;
    settings.hmc.warmup = length.warmup;
    settings.hmc.draws = length.draws;
    settings.hmc.kept = length.kept;
    settings.hmc.leapfrog_steps = length.leapfrog_steps;
    if (gradients(settings) * rows_times_weights <= length.most_work) {
      return true;
    }
  }
  return false;
}

void choose_method(TableSettings& settings, double rows_times_weights) {
  if (!settings.family.empty()) {
    settings.method = "elbo";
    return;
  }
  settings.method = "rdp";
  if (asks_for_fit(settings)) return;
  TableSettings sampled = settings;
  sampled.method = "hmc";
  if (asks_for_chains(settings) || fit_chains(sampled, rows_times_weights)) {
    settings = sampled;
  }
}

/// Chains under double groups move slowly: a row's length and a column's make
/// up for each other. For fits see docs/tables.md, "The prior of a fit".
void choose_prior(TableSettings& settings) {
  using posterior::DirectionPrior;
  using posterior::Grouping;
  if (family_of(settings) != kDefaultFamily) return;
  if (settings.samples()) {
    settings.grouping = settings.grouping.value_or(Grouping::Column);
    settings.direction_prior =
        settings.direction_prior.value_or(DirectionPrior::Uniform);
    return;
  }
  if (!settings.direction_prior) {
    const bool around = settings.grouping == Grouping::Double ||
                        settings.direction_gap != TableSettings().direction_gap;
    settings.direction_prior =
        around ? DirectionPrior::LocationAgnostic : DirectionPrior::Uniform;
    if (!around) settings.concentration_per_group = true;
  }
  settings.grouping = settings.grouping.value_or(
      settings.direction_prior == DirectionPrior::Uniform ? Grouping::Row
                                                          : Grouping::Double);
}

// The methods with more to them than a line. Each is tuned over four sets of
// options, times lengths of training and noise models, so that all have the
// same number of trials.

TableMethod rdp() {
  TableMethod method = {"rdp", "radial-directional posteriors, fitted", "elbo",
                        kDefaultFamily};
  method.tunes_kl = true;
  // A close fit takes the noise for smaller than it is.
  method.tunes_noise = true;
  return method;
}

TableMethod vi() {
  TableMethod method = {"vi", "mean-field normal posteriors, fitted", "elbo",
                        "gaussian"};
  method.tuned_options = {"prior_scale=1", "prior_scale=0.5",
                          "prior_scale=1,learn_prior=true",
                          "prior_scale=0.5,noise=activations"};
  method.tunes_kl = true;
  method.tunes_noise = true;
  return method;
}

TableMethod map() {
  TableMethod method = {"map", "one set of weights, the most probable", "elbo",
                        "point"};
  method.options = "prior_scale=0.2";
  method.tuned_options = {"prior_scale=1", "prior_scale=0.3",
                          "prior_scale=0.15", "prior_scale=0.08"};
  method.tunes_noise = true;
  return method;
}

TableMethod ensemble() {
  TableMethod method = map();
  method.name = "ensemble";
  method.summary = "five networks of the method map, from different starts";
  method.networks = 5;
  method.member = "map";
  return method;
}

TableMethod dropout() {
  TableMethod method = {"dropout",
                        "inputs of each layer dropped at random (Gal and "
                        "Ghahramani, 2016)",
                        "elbo", "dropout"};
  method.tuned_options = {"rate=0.005", "rate=0.01", "rate=0.05", "rate=0.1"};
  method.tunes_noise = true;
  return method;
}

TableMethod vmg() {
  TableMethod method = {"vmg",
                        "matrix normal posteriors with pseudo-data (Louizos "
                        "and Welling, 2016)",
                        "elbo", "matrix-gaussian"};
  method.tuned_options = {
      "pseudo_data=5,pseudo_noise=0.005", "pseudo_data=5,pseudo_noise=0.05",
      "pseudo_data=10,pseudo_noise=0.005", "pseudo_data=10,pseudo_noise=0.05"};
  return method;
}

TableMethod pbp() {
  TableMethod method = {"pbp",
                        "normal posteriors by probabilistic backpropagation "
                        "(Hernandez-Lobato and Adams, 2015)",
                        "pbp", "gaussian"};
  method.passes = 40;
  // As published; its moments must be finite.
  method.noise_shape = 6;
  method.noise_rate = 6;
  // It has no other settings, and no second noise model.
  method.tuned_passes = {5,  10, 15, 20, 25,  30,  35,  40,
                         50, 60, 70, 80, 100, 120, 160, 200};
  return method;
}

}  // namespace

const std::vector<TableMethod>& table_methods() {
  static const std::vector<TableMethod> methods = {
      rdp(),
      vi(),
      {"hmc", "samples of the exact posterior", "hmc", ""},
      {"sghmc", "samples by gradients of batches, with a bias", "sghmc", ""},
      map(),
      ensemble(),
      dropout(),
      vmg(),
      pbp(),
      {"elbo", "any family, fitted to the evidence lower bound", "elbo", ""},
      {"coordinate-ascent", "any family, its own updates in closed form",
       "coordinate-ascent", ""},
  };
  return methods;
}

const TableMethod& method_of(const TableSettings& settings) {
  std::vector<std::string> names = {"auto"};
  for (const TableMethod& method : table_methods()) {
    names.push_back(method.name);
    if (method.name != settings.method) continue;
    RADIR_CHECK(settings.family.empty() || method.family.empty() ||
                    settings.family == method.family,
                ArgumentError, "the method ", method.name, " has the family ",
                method.family, ", not ", settings.family,
                "; choose the method elbo for another family");
    return method;
  }
  RADIR_CHECK(settings.method != "auto", ArgumentError,
              "the method auto depends on the table; see resolved()");
  ::radir::detail::throw_error<UnsupportedError>(
      "there is no method \"", settings.method, "\"",
      known_names(settings.method, names));
}

std::string family_of(const TableSettings& settings) {
  const std::string& own = method_of(settings).family;
  if (!own.empty()) return own;
  return settings.family.empty() ? kDefaultFamily : settings.family;
}

TableSettings single_network(TableSettings settings) {
  const TableMethod& method = method_of(settings);
  if (!method.member.empty()) settings.method = method.member;
  settings.restarts = 1;
  settings.mixture_weights = MixtureWeights::Equal;
  return settings;
}

/// Chains can afford to learn the shape of the noise with the weights; a prior
/// of its precision asks for one level.
likelihood::Kind usual_noise(const TableSettings& settings) {
  const bool one_level = settings.noise_shape || settings.noise_rate;
  return method_of(settings).trainer == "hmc" && !one_level
             ? likelihood::Kind::TwoNormals
             : likelihood::Kind::Gaussian;
}

TableSettings resolved(TableSettings settings, std::int64_t rows,
                       std::int64_t inputs, std::int64_t outputs) {
  if (settings.method == "auto") {
    choose_method(settings, static_cast<double>(rows) *
                                weights(settings, inputs, outputs));
  }
  if (settings.restarts == 0) {
    settings.restarts = method_of(settings).networks;
    if (settings.mixture_weights == MixtureWeights::Stacked) {
      settings.restarts = std::max(settings.restarts, kStackedNetworks);
    }
  }
  choose_prior(settings);
  if (!settings.noise) settings.noise = usual_noise(settings);
  return settings;
}

}  // namespace radir::workflows
