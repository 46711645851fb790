#pragma once

#include <vector>

#include "radir/bench/bench_calibration.h"
#include "radir/report/table.h"

namespace radir::bench {

/// The scores inside the data: one line per row.
report::Table calibration_table(const std::vector<BenchCalibrationRow>& rows);
/// One line per row and region: the error of the mean beside the standard
/// deviation claimed for it.
report::Table calibration_region_table(
    const std::vector<BenchCalibrationRow>& rows);

}  // namespace radir::bench
