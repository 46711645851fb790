#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/hmc_options.h"
#include "radir/train/model.h"

namespace radir::workflows {

/// The posterior and prior of the weights of the last layer, where the others
/// are radial-directional.
enum class OutputLayer {
  Same,      ///< of the family of the hidden layers
  Gaussian,  ///< independent normals, as the article has it
};

/// Whether a method of table_methods() samples: its fits are chains.
inline bool is_sampler(const std::string& method) {
  return method == "hmc" || method == "sghmc";
}

/// How much each network or chain of a mixture counts.
enum class MixtureWeights {
  Equal,
  Stacked,  ///< by held-out rows, see stacking.h
};

/// The scale on which a numeric target is predicted.
enum class TargetScale {
  Own,
  Logarithm,  ///< likelihood::TargetTransform; not with a mixture of noises
};

/// All settings of a fit to a table.
struct TableSettings {
  std::vector<std::int64_t> hidden = {50};
  /// Pieces of each numeric column (data::NumberPiece); 0: none.
  std::int64_t pieces = 0;
  /// How the posterior is found: a name of table_methods(), or "auto", which
  /// the table decides.
  std::string method = "auto";
  /// The family of the weights' posteriors (posterior::find_family), empty for
  /// the method's own, and its options that differ from their defaults:
  /// "prior_scale=0.5,noise=weights".
  std::string family;
  std::string family_options;
  // Of the radial-directional family:
  /// None, for both: chosen by resolved(). A fit takes rows of uniform
  /// directions, each with its concentration, whose error bars hold; or, under
  /// a given grouping of rows and columns or a given direction_gap, the
  /// location-agnostic prior of the article.
  std::optional<posterior::Grouping> grouping;
  std::optional<posterior::DirectionPrior> direction_prior;
  /// See posterior::RadialDirectionalOptions::direction_gap: how far the prior
  /// lets a direction stray.
  double direction_gap = 3e-3;
  /// One concentration per group of weights instead of one per layer.
  bool concentration_per_group = false;
  OutputLayer output_layer = OutputLayer::Gaussian;
  /// Noise of a numeric target; not read for a categorical one. None: one
  /// level, see also choose_settings().
  std::optional<likelihood::Kind> noise;

  /// None: its own, or what choose_settings() finds.
  std::optional<TargetScale> target_scale;

  /// Prior of the precision of one noise level, Gamma(noise_shape, noise_rate)
  /// for a standardised target. None: the method's own.
  std::optional<double> noise_shape;
  std::optional<double> noise_rate;
  /// Of the variance of one noise level, after the training.
  double noise_factor = 1;
  /// Parts of a mixture.
  std::int64_t noise_parts = 3;

  /// Passes over the training rows; 0: as many as make `steps` steps, or the
  /// method's own number.
  std::int64_t epochs = 0;
  std::int64_t steps = 20000;
  std::int64_t batch = 100;
  double learning_rate = 0.01;
  /// Share of the training over which the weight of the KL term rises to 1. It
  /// lets the mean be found before the noise can explain it away.
  double kl_warmup = 0.6;
  /// The weight it rises to: 1 is Bayes' rule, less is a colder posterior.
  double kl_weight = 1;

  /// Networks from different seeds that predict as a mixture; 0: the method's
  /// own number.
  std::int64_t restarts = 0;
  /// Of these networks, or of the chains.
  MixtureWeights mixture_weights = MixtureWeights::Equal;
  /// Of the methods "hmc" and "sghmc": chains, and how each samples.
  std::int64_t chains = 4;
  train::HmcOptions hmc;
  std::uint64_t seed = 0;

  bool samples() const { return is_sampler(method); }
  /// Networks or chains, each trained on its own.
  std::int64_t fits() const {
    return samples() ? chains : std::max<std::int64_t>(1, restarts);
  }
};

/// Lists every field: their JSON, command-line options and checks come from it.
void describe(SettingsVisitor& visit, TableSettings& settings);

/// Throws ArgumentError that names the first invalid setting, UnsupportedError
/// for a method or family that there is not or that do not go together.
void check(const TableSettings& settings);

/// The posterior of the weights of a layer; the last one has no ReLU behind it.
/// Throws UnsupportedError for an unknown family, ArgumentError for an option
/// that the family does not have or that makes no sense.
posterior::Options weight_options(const TableSettings& settings,
                                  bool last_layer);

/// Passes over `rows` training rows that the settings ask for; of a chain, its
/// iterations.
std::int64_t epochs_of(const TableSettings& settings, std::int64_t rows);

/// The settings as a JSON object, as they are.
std::string to_json(const TableSettings& settings);
/// The settings as a JSON object, every one resolved.
std::string to_json(const TableSettings& settings, std::int64_t rows);
/// From to_json(settings). Throws IoError when the text or the settings are
/// invalid.
TableSettings settings_from_json(const std::string& text);
/// The JSON object to_json(settings), or one with more entries, with the
/// settings that it leaves out because version 0.1 had no choice there. Throws
/// IoError when the text is not an object.
std::string with_settings_left_out(const std::string& text);

}  // namespace radir::workflows
