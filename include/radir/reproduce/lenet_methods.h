#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"

// The methods of the article's second table on equal terms: the same networks,
// images, epochs, shrinking, fine-tuning and counting.

namespace radir::reproduce {

/// A line of the comparison: a method, with a target where it has one.
struct LenetLine {
  std::string name;    ///< "flops-150k"
  std::string method;  ///< of workflows::compress_methods()
  std::optional<std::int64_t> max_flops = {};
  /// What was published for it.
  std::vector<PublishedNetwork> published = {};
};

/// All lines, rdp first.
const std::vector<LenetLine>& lenet_lines(bool dense);

/// The lines that options ask for, "all" being every one. Throws
/// UnsupportedError for an unknown one, ArgumentError for one that is asked for
/// twice.
std::vector<LenetLine> lenet_lines_of(const LenetOptions& options);

/// The settings of a line. All lines have the same fine-tuning: the mean
/// weights of what is left, without noise.
workflows::CompressSettings line_settings(const LenetOptions& options,
                                          const LenetLine& line);

/// One line with one seed.
struct LenetMethodRun {
  std::string line;
  LenetRun run;
};

/// Compresses the network by every line of the options, once per seed, in
/// parallel. With a run, its parts are "l0-seed-0", whose results are kept
/// there.
std::vector<LenetMethodRun> run_lenet_methods(
    const LenetOptions& options, const data::ImageSplit& images,
    ThreadPool& pool, const workflows::CompressProgress& progress = nullptr,
    const workflows::ResumableRun* run = nullptr);

/// What the seeds say about one line; errors are fractions.
struct LenetMethodSummary {
  std::string line;
  std::int64_t seeds = 0;
  std::string architecture;  ///< of the median error
  UciMean pruned_error;      ///< without fine-tuning
  UciMean error;             ///< with it
  UciMean flops;
  UciMean parameters;
  double seconds = 0;  ///< per seed
  /// Error less that of rdp with the same seeds; none without rdp.
  bool compared = false;
  UciMean less_rdp;
};

/// In the order of lenet_lines().
std::vector<LenetMethodSummary> lenet_summaries(
    bool dense, const std::vector<LenetMethodRun>& runs);

/// Rows of each line, and of what was published for it.
report::Table lenet_method_table(bool dense,
                                 const std::vector<LenetMethodRun>& runs);

/// The table, a chart of errors against FLOPs and the scores of each method.
report::Page lenet_method_page(bool dense,
                               const std::vector<LenetMethodRun>& runs);

}  // namespace radir::reproduce
