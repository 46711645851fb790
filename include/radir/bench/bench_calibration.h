#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "radir/bench/calibration_scores.h"
#include "radir/bench/simulated_tables.h"
#include "radir/core/settings.h"
#include "radir/core/thread_pool.h"
#include "radir/workflows/table_settings.h"

namespace radir::bench {

/// A way to fit a table that is compared with others.
struct CalibrationMethod {
  std::string name;         ///< "mean-field"
  std::string description;  ///< a noun phrase
  /// The settings of this method, given those that all methods share.
  std::function<workflows::TableSettings(workflows::TableSettings)> settings;
};

/// The defaults of a table and variants of them, mean-field, exact sampling.
const std::vector<CalibrationMethod>& calibration_methods();

/// Throws ArgumentError that suggests the nearest name.
const CalibrationMethod& find_calibration_method(const std::string& name);

/// What is compared. Every field that is empty has a default, and a smaller one
/// in the quick form.
struct BenchCalibrationOptions {
  /// Names of simulated_processes(). Default: all (quick: linear, sine-gap).
  std::vector<std::string> processes;
  /// Training rows. Default: 100, 500, 2000 (quick: 100).
  std::vector<std::int64_t> rows;
  /// Networks, by the units of their hidden layers. Default: {50} and {50, 50}
  /// (quick: {20}).
  std::vector<std::vector<std::int64_t>> hidden;
  /// Default: rdp and mean-field.
  std::vector<std::string> methods;
  std::optional<std::int64_t> seeds;      ///< data sets; default 20 (quick: 4)
  std::optional<std::int64_t> test_rows;  ///< per region; 1000 (quick: 500)
  std::optional<std::int64_t> steps;      ///< of a training; 20000 (2000)
  bool quick = false;
  std::uint64_t seed = 0;
};

/// Shows the numbers; the lists of names and of networks have no place there.
void describe(SettingsVisitor& visit, BenchCalibrationOptions& options);

/// The options with every default filled in.
BenchCalibrationOptions with_defaults(BenchCalibrationOptions options);

/// A score: its mean over the data sets and the standard error of that mean, 0
/// for a single data set.
struct CalibrationMean {
  std::string name;  ///< "coverage_90", as in metrics()
  double mean = 0;
  double standard_error = 0;
};

/// The scores of the test rows of one region.
struct CalibrationRegion {
  Region region = Region::Inside;
  std::vector<CalibrationMean> means;

  /// Throws ArgumentError when there is no such score.
  const CalibrationMean& operator[](const std::string& name) const;
};

/// One method on one process.
struct BenchCalibrationRow {
  std::string process;
  std::int64_t rows = 0;
  std::vector<std::int64_t> hidden;
  std::string method;
  std::int64_t seeds = 0;   ///< data sets behind the means
  std::int64_t failed = 0;  ///< data sets whose training failed; not counted
  double seconds = 0;       ///< per fit, on one thread
  /// One entry per region of the process; empty when all trainings failed.
  std::vector<CalibrationRegion> regions;
};

/// "50x50" for two hidden layers of 50 units.
std::string hidden_text(const std::vector<std::int64_t>& hidden);
/// The reverse. Throws ArgumentError when the text has another form.
std::vector<std::int64_t> parse_hidden(const std::string& text);

/// After each row that is finished; one call at a time, from any thread.
using BenchCalibrationProgress =
    std::function<void(const BenchCalibrationRow& row, double share_done)>;

/// Fits every method to every simulated table and scores its predictions of
/// new rows against the truth. All methods see the same data. Fits run in
/// parallel, one per thread; the scores depend on the seed alone.
///
/// Throws ArgumentError for an unknown name or a number outside its range.
std::vector<BenchCalibrationRow> bench_calibration(
    const BenchCalibrationOptions& options, ThreadPool* pool = nullptr,
    const BenchCalibrationProgress& progress = nullptr);

}  // namespace radir::bench
