#pragma once

#include <functional>
#include <string>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// Called after every epoch with the share of the work done and a line of text.
using CompressProgress = std::function<void(double share, const std::string&)>;

/// Trains, removes units during training, shrinks and fine-tunes. With `run` it
/// can be stopped and resumed. Throws ArgumentError when settings are invalid,
/// images do not fit the network, or no network meets a budget (naming the
/// nearest).
CompressResult compress(const data::ImageSplit& images,
                        const CompressSettings& settings,
                        const CompressProgress& progress = nullptr,
                        ThreadPool* pool = nullptr,
                        const ResumableRun* run = nullptr);

}  // namespace radir::workflows
