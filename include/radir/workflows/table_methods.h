#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// A way to fit a table, as people name it.
struct TableMethod {
  std::string name;     ///< "vi"
  std::string summary;  ///< "mean-field normal weights"
  std::string trainer;  ///< the train::Method that finds the posterior
  std::string family;   ///< of the weights; empty where the settings choose it
  /// Options of the family, before those of the settings.
  std::string options = {};
  /// Networks, where the settings ask for one; above 1, one of them is a
  /// network of the method `member`.
  std::int64_t networks = 1;
  std::string member = {};
  /// Gamma prior of the precision of one noise level. The default is weak: a
  /// noise of a tenth of the target's spread, worth two observations. The
  /// article's Gamma(6, 6) forbids small noise.
  double noise_shape = 1;
  double noise_rate = 0.01;
  /// Passes over the rows where the settings give no epochs; 0: by their steps.
  std::int64_t passes = 0;

  // What tuning compares:
  std::vector<std::string> tuned_options = {};  ///< of the family
  std::vector<std::int64_t> tuned_passes = {};  ///< in place of all others
  /// A smaller weight of the KL term, in place of longer training.
  bool tunes_kl = false;
  /// Whether it sets TableSettings::noise_factor too.
  bool tunes_noise = false;
};

/// All methods, without "auto".
const std::vector<TableMethod>& table_methods();

/// The method that the settings name. Throws UnsupportedError for an unknown
/// name, ArgumentError when they ask for a family that the method does not
/// have, and for "auto", which only a table decides.
const TableMethod& method_of(const TableSettings& settings);

/// The family that the settings and their method ask for.
std::string family_of(const TableSettings& settings);

/// The settings of one of the networks that these ask for.
TableSettings single_network(TableSettings settings);

/// The same settings for a table of so many rows, encoded inputs and outputs,
/// with no choice left open: grouping, direction prior and number of networks.
/// The method "auto" becomes
/// - a fit, where a setting that only a fit reads is not its default;
/// - "hmc", where a setting that only chains read is not its default;
/// - "hmc", its chains as long as a fixed amount of work allows, two or three
///   minutes of one core;
/// - "rdp", where that would be too short.
/// The choice depends on the numbers given alone, not on the machine.
TableSettings resolved(TableSettings settings, std::int64_t rows,
                       std::int64_t inputs, std::int64_t outputs);

}  // namespace radir::workflows
