#pragma once

// Everything; with libtorch where radir::radir was built with it. Programs that
// need less include less: radir/math.h alone needs no other library.

#include "radir/core/cpu.h"
#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/core/version.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/kernels/random.h"
#include "radir/math.h"
#include "radir/posterior/dropout.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/matrix_gaussian.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/train/evaluation.h"
#include "radir/train/method.h"
#include "radir/train/predictor.h"
#include "radir/train/trainer.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_settings.h"

#ifdef RADIR_WITH_TORCH  // defined for users of radir::radir
#include "radir/torch/distributions/distributions.h"
#include "radir/torch/nn/nn.h"
#endif

// The shortest way from a table to predictions:
//
//   const auto table = radir::read_table("houses.csv");
//   const auto model = radir::fit_table(table, "price");
//   const auto prediction = model.predict(table);

namespace radir {

using workflows::fit_table;
using workflows::load_table_model;
using workflows::TableModel;
using workflows::TablePrediction;
using workflows::TablePredictionOptions;
using workflows::TableSettings;

/// A table from a file of text (plain or gzip), a folder in the UCI layout or
/// "builtin:robot-arm". Throws IoError when it cannot be read.
inline data::Table read_table(const std::string& source,
                              const data::TableOptions& options = {}) {
  return data::read_source(source, options);
}

}  // namespace radir
