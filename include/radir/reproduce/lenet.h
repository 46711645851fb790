#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/network/cost.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"

namespace radir::reproduce {

/// A row of the article's Table 2, or of the table of dense networks.
struct PublishedNetwork {
  std::string method;
  std::vector<std::int64_t> units;  ///< 4, 7, 110, 66
  double error = 0;                 ///< on the test images, as a fraction
};

/// LeNet-5 (four numbers of units) or LeNet-300-100 (three) on MNIST.
const std::vector<PublishedNetwork>& published_lenet(bool dense);

/// Cost of a published network by the formula of network::cost.
network::Cost published_cost(const PublishedNetwork& network);

struct LenetOptions {
  bool dense = false;  ///< LeNet-300-100 instead of LeNet-5
  std::string data_dir;
  std::int64_t seeds = 3;
  /// Settings of every run but the seed.
  workflows::CompressSettings settings;
  /// Lines of lenet_methods.h to compare, or "all"; none: the benchmark.
  std::vector<std::string> methods;
};

/// The options behind the published figures.
LenetOptions default_lenet_options(bool dense);

/// The options but `dense` as a JSON object.
std::string to_json(const LenetOptions& options);
/// From to_json(options). Throws IoError when the text is invalid.
LenetOptions lenet_options_from_json(const std::string& text, bool dense);

struct LenetRun {
  std::uint64_t seed = 0;
  workflows::NetworkFigures unpruned;
  workflows::NetworkFigures pruned;
  workflows::NetworkFigures fine_tuned;
  std::vector<workflows::LayerScores> scores;  ///< of the layers with weights
  double seconds = 0;
};

/// Compresses the network once per seed, in parallel on the threads of the
/// pool. `progress` is called, one call at a time, with the share of the work
/// done. With a run, seeds are parts of it ("seed-0") whose results are kept
/// there, and the exceptions are those of ResumableRun too.
std::vector<LenetRun> run_lenet(
    const LenetOptions& options, const data::ImageSplit& images,
    ThreadPool& pool, const workflows::CompressProgress& progress = nullptr,
    const workflows::ResumableRun* run = nullptr);

/// The run of the median test error after fine-tuning.
const LenetRun& median_run(const std::vector<LenetRun>& runs);

/// Published rows and ours.
report::Table lenet_table(const LenetOptions& options,
                          const std::vector<LenetRun>& runs);

/// The article's figure of compression: histograms of the units' log-modes in
/// each layer of one run, those of removed units apart.
report::Figure score_figure(const LenetRun& run);

/// The table and the figure of the run of the median error.
report::Page lenet_page(const LenetOptions& options,
                        const std::vector<LenetRun>& runs);

}  // namespace radir::reproduce
